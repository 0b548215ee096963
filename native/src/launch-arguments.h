// The numbers of a launch as JavaScript passes them, and the memory they name.
#pragma once

#include <napi.h>

#include <string>
#include <vector>

#include "dispatch.h"
#include "memory.h"

namespace saccade {

class LaunchArguments {
 public:
  // The Float64Array through which launches pass their numbers. One array for all launches: making
  // one per launch cost more than many a kernel.
  Napi::Value array(Napi::Env env);

  // Reads launch(kernel, backward, storage, operandCount, dimCount, scalarCount). The array holds,
  // for each operand, its memory's id (-1: absent), offset and length in bytes; then the dims; the
  // scalars. The request is good until the next call. Throws a Napi::Error.
  LaunchRequest& read(const Napi::CallbackInfo& info, MemoryTable& memories);

  // Notes `ticket` as the latest use of the memory of the launch just read.
  void noteUse(MemoryTable& memories, uint64_t ticket) const;

 private:
  OperandMemory memoryOf(Napi::Env env, MemoryTable& memories, const double* numbers, int64_t i);

  Napi::Reference<Napi::Float64Array> array_;
  double* data_ = nullptr;
  // Kept between launches for its vectors' memory.
  LaunchRequest request_;
  int64_t operands_ = 0;
};

// The number at place `i` of a call; NaN where there is none.
double numberAt(const Napi::CallbackInfo& info, size_t i);

// The bytes [offset, offset + length) of memory `id`, the first arguments of a call.
Memory& rangeAt(const Napi::CallbackInfo& info, MemoryTable& memories, double length);

// Kernels as JavaScript sees them, in order.
Napi::Value kernelList(Napi::Env env, const std::vector<KernelForm>& kernels);

Napi::Value listOf(Napi::Env env, const std::vector<std::string>& names);

}  // namespace saccade
