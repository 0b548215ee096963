// The kernels of one instruction set.
#pragma once

#include <string>
#include <vector>

#include "kernel.h"

namespace saccade {

// Throws std::invalid_argument for a name that was not built.
std::vector<const SaccadeKernel*> kernelsOf(const std::string& instructionSet);

}  // namespace saccade
