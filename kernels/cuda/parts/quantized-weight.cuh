// The layout of a weight in integers, as the op quantizeWeight says it: 16 rows side by side, four or
// eight codes of a row in a word, each plus 128 or 8.
#pragma once

#include "launch.cuh"

namespace saccade {

constexpr int ROWS_TOGETHER = 16;

struct WeightForm {
  int64_t rows, depth;
  // Words of a row.
  int64_t words;
  // Columns that share a scale.
  int64_t group;
};

// The form that the lengths stand for; the op has checked that they stand for one.
inline WeightForm weightForm(int64_t N, int64_t K, int64_t W, int64_t S) {
  const int64_t group = S == 1 ? K : divideUp(K, 64) == S ? 64 : 128;
  return {N, K, W, group};
}
inline int bitsOf(int64_t K, int64_t W) { return W == divideUp(K, 4) ? 8 : 4; }

// Where code j of a word begins.
template <int BITS>
__device__ __forceinline__ int shiftOf(int j) {
  return BITS == 8 ? 8 * j : 16 * (j % 2) + 4 * (j / 2);
}
template <int BITS>
__device__ __forceinline__ float codeOf(uint32_t word, int j) {
  return (float)((int)(word >> shiftOf<BITS>(j) & ((1u << BITS) - 1)) - (1 << (BITS - 1)));
}

}  // namespace saccade
