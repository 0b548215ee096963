// The parts of every kernel file: operand access, error messages, parallel loops
// and the line that registers it.
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "../../include/kernel.h"
#include "storage.h"

namespace saccade {
namespace SACCADE_ISA {

SACCADE_INLINE float* floats(const SaccadeLaunch& launch, int operand) {
  return static_cast<float*>(launch.operands[operand]);
}
// An operand in the launch's storage type.
template <class T>
SACCADE_INLINE T* stored(const SaccadeLaunch& launch, int operand) {
  return static_cast<T*>(launch.operands[operand]);
}
SACCADE_INLINE const int32_t* ints(const SaccadeLaunch& launch, int operand) {
  return static_cast<const int32_t*>(launch.operands[operand]);
}
SACCADE_INLINE float* scratchFloats(const SaccadeLaunch& launch, int64_t count) {
  const SaccadeRuntime* runtime = launch.runtime;
  return static_cast<float*>(runtime->scratch(runtime->host, count * (int64_t)sizeof(float)));
}
template <class T>
SACCADE_INLINE T* scratchArray(const SaccadeLaunch& launch, int64_t count) {
  const SaccadeRuntime* runtime = launch.runtime;
  return static_cast<T*>(runtime->scratch(runtime->host, count * (int64_t)sizeof(T)));
}

// Writes the sentence and gives the return value of a failed launch.
__attribute__((format(printf, 2, 3))) static inline int fail(const SaccadeLaunch& launch,
                                                             const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(launch.error, SACCADE_ERROR_CHARS, format, arguments);
  va_end(arguments);
  return 1;
}

// Fails unless every index lies in [lowest, bound).
static inline int checkIndices(const SaccadeLaunch& launch, const char* name, const int32_t* index,
                               int64_t count, int64_t lowest, int64_t bound) {
  for (int64_t i = 0; i < count; i++) {
    if (index[i] < lowest || index[i] >= bound) {
      return fail(launch,
                  "%s[%lld] is %d; expected at least %lld and below %lld. Check the indices.", name,
                  (long long)i, (int)index[i], (long long)lowest, (long long)bound);
    }
  }
  return 0;
}

// Runs body(item, worker) for each item; on the calling thread alone when all of it is estimated to
// take too few nanoseconds to be worth waking anyone.
template <class Body>
static inline void parallelFor(const SaccadeLaunch& launch, int64_t items, double nanoseconds,
                               const Body& body) {
  const SaccadeRuntime* runtime = launch.runtime;
  if (runtime->threads <= 1 || items <= 1 || nanoseconds < runtime->handOverNanoseconds) {
    for (int64_t item = 0; item < items; item++) body(item, 0);
    return;
  }
  runtime->parallelFor(
      runtime->host, items,
      [](void* context, int64_t item, int32_t worker) {
        (*static_cast<const Body*>(context))(item, worker);
      },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace SACCADE_ISA
}  // namespace saccade

#define SACCADE_JOIN2(a, b, c) a##b##_##c
#define SACCADE_JOIN(a, b, c) SACCADE_JOIN2(a, b, c)
// The functions of one direction: one template for every storage type, the same with the storage type
// of weights apart, or one function that takes float32 alone, or none.
#define SACCADE_STORED(run) {run<float>, run<saccade::SACCADE_ISA::Bf16>, nullptr, nullptr}
#define SACCADE_WEIGHTED(run)                                                             \
  {run<float, float>, run<saccade::SACCADE_ISA::Bf16, saccade::SACCADE_ISA::Bf16>, nullptr, \
   run<float, saccade::SACCADE_ISA::Bf16>}
#define SACCADE_FLOAT32(run) {run, nullptr, nullptr, nullptr}
#define SACCADE_ABSENT {nullptr, nullptr, nullptr, nullptr}
// Defines the symbol the catalog looks for: saccade_<id>_<instruction set>.
#define SACCADE_KERNEL(id, signature, forward, backward)                         \
  extern "C" const SaccadeKernel SACCADE_JOIN(saccade_, id, SACCADE_ISA);        \
  extern "C" const SaccadeKernel SACCADE_JOIN(saccade_, id, SACCADE_ISA) = {     \
      #id, signature, forward, backward};
