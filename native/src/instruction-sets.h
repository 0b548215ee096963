// The instruction sets kernels are built for, and which of them this processor has.
#pragma once

#include <string>
#include <vector>

namespace saccade {

// Built into this addon and runnable here, slowest first: generic, avx2, avx512, avx512bf16,
// avx512amx. None where it was built for better processors alone.
std::vector<std::string> usableInstructionSets();

// Runnable here but never chosen: avx512pairs is avx512bf16 with its dot product put together from
// other instructions, so that a processor without it can test the code that uses it.
std::vector<std::string> emulatedInstructionSets();

}  // namespace saccade
