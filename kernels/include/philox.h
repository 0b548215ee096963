// Philox4x32-10, the counter-based generator of packages/core/src/rng.ts: same address, same bits.
//
// Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
#pragma once

#include <stdint.h>

namespace saccade {

constexpr uint32_t PHILOX_M0 = 0xd2511f53u;
constexpr uint32_t PHILOX_M1 = 0xcd9e8d57u;
constexpr uint32_t PHILOX_W0 = 0x9e3779b9u;
constexpr uint32_t PHILOX_W1 = 0xbb67ae85u;

}  // namespace saccade
