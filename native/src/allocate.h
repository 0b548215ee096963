// Aligned memory for operands and workspaces.
#pragma once

#include <cstdint>

namespace saccade {

// Alignment of every allocation, in bytes: a cache line, and the widest vector.
constexpr int64_t ALIGNMENT = 64;

// Uninitialized. Throws std::bad_alloc.
uint8_t* allocate(int64_t bytes);
void deallocate(uint8_t* memory);

}  // namespace saccade
