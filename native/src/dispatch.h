// From numbers to a kernel call: every length is checked before the kernel sees a pointer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime.h"

namespace saccade {

struct OperandMemory {
  bool present = false;
  uint8_t* data = nullptr;
  int64_t bytes = 0;
};

struct LaunchRequest {
  int32_t kernel = 0;
  bool backward = false;
  // A SaccadeStorage.
  int32_t storage = SACCADE_F32;
  std::vector<OperandMemory> operands;
  std::vector<int64_t> dims;
  std::vector<double> scalars;

  // Filled in by check().
  const char* id = nullptr;
  std::vector<void*> pointers;
};

// Makes a launch of one of the kernels ready to run. Throws std::invalid_argument with a sentence if
// it does not fit the kernel's signature.
void check(const std::vector<KernelForm>& kernels, LaunchRequest& request);

// Runs a launch that check() has let through to its end. Throws std::runtime_error with the op and
// the kernel's own sentence if the kernel refuses, or if there is no memory for its workspace.
void run(Runtime& runtime, const LaunchRequest& request);

}  // namespace saccade
