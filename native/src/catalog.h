// The kernels of one instruction set, with their signatures read.
#pragma once

#include <string>
#include <vector>

#include "../../kernels/include/kernel.h"
#include "signature.h"

namespace saccade {

struct CatalogEntry {
  const SaccadeKernel* kernel;
  Signature signature;
};

// Throws std::invalid_argument for a name that was not built.
std::vector<CatalogEntry> kernelsOf(const std::string& instructionSet);

}  // namespace saccade
