// The instruction sets kernels are built for, and which of them this processor has.
#pragma once

#include <string>
#include <vector>

namespace saccade {

// Built into this addon and runnable here, slowest first: generic, avx2, avx512, avx512bf16.
std::vector<std::string> usableInstructionSets();

}  // namespace saccade
