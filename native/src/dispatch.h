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
};

// Runs the launch to its end. Throws std::invalid_argument with a sentence if it does not fit the
// kernel's signature, std::runtime_error with the kernel's own sentence if the kernel refuses.
void launch(Runtime& runtime, const LaunchRequest& request);

}  // namespace saccade
