// Moving rows by index: read them, write them, add them up.
#pragma once

#include "elementwise.h"

namespace saccade {
namespace SACCADE_ISA {

// Runs body(first, width) over strips of columns, one thread per strip, so that rows which meet at
// the same place meet in their order whatever the number of threads.
template <class Body>
static inline void forStrips(const SaccadeLaunch& launch, int64_t rows, int64_t columns,
                             const Body& body) {
  const int64_t wanted = larger(64, divideUp(columns, 2 * launch.runtime->threads));
  const int64_t strip = roundUp(wanted, LANES);
  parallelFor(launch, divideUp(columns, strip), 0.5 * (double)(rows * columns),
              [&](int64_t item, int32_t) {
                const int64_t first = item * strip;
                body(first, smaller(strip, columns - first));
              });
}

// Copies `count` elements, widened if their types differ.
template <class Stored>
SACCADE_INLINE void copyRun(Stored* to, const Stored* from, int64_t count) {
  memcpy(to, from, (size_t)count * sizeof(Stored));
}
SACCADE_INLINE void copyRun(float* to, const Bf16* from, int64_t count) {
  convertRun(to, from, count);
}

// to[0, width) += from[0, width)
template <class Stored>
SACCADE_INLINE void addRow(float* to, const Stored* from, int64_t width) {
  forLanes(width, [&](int64_t i, int64_t lanes) {
    storeWidth(to + i, loadWidth(to + i, lanes) + loadWidth(from + i, lanes), lanes);
  });
}

// Where rows that make up `result` are added: in place if it is float32, else in memory from which
// roundSums stores it.
static inline float* sumsOf(const SaccadeLaunch&, float* result, int64_t) { return result; }
static inline float* sumsOf(const SaccadeLaunch& launch, Bf16* result, int64_t count) {
  return result ? scratchFloats(launch, count) : nullptr;
}
static inline void roundSums(const SaccadeLaunch&, float*, const float*, int64_t) {}
static inline void roundSums(const SaccadeLaunch& launch, Bf16* result, const float* sums,
                             int64_t count) {
  if (!result) return;
  forElements(launch, count, 0.3, [&](int64_t i, int64_t width) {
    storeWidth(result + i, loadWidth(sums + i, width), width);
  });
}

}  // namespace SACCADE_ISA
}  // namespace saccade
