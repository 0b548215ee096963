// The layout of a weight in integers, as the op quantizeWeight says it: 16 rows side by side, four or
// eight codes of a row in a word, each plus 128 or 8.
#pragma once

#include "kernel-entry.h"

namespace saccade {
namespace SACCADE_ISA {

constexpr int64_t ROWS_TOGETHER = 16;

struct WeightForm {
  int64_t rows, depth;
  // Words of a row.
  int64_t words;
  int64_t bits;
  // Columns that share a scale.
  int64_t group;

  int64_t codesPerWord() const { return 32 / bits; }
};

// The form that the lengths stand for; the op has checked that they stand for one.
static inline WeightForm weightForm(int64_t N, int64_t K, int64_t W, int64_t S) {
  const int64_t bits = W == divideUp(K, 4) ? 8 : 4;
  const int64_t group = S == 1 ? K : divideUp(K, 64) == S ? 64 : 128;
  return {N, K, W, bits, group};
}

// LANES codes as floats: those of `bits` from bit `shift` on of each word. An integer below 2²³ in the
// lower bits of 2²³ is that sum.
template <int BITS>
SACCADE_INLINE Vec codesOf(WordVec words, int shift) {
  constexpr uint32_t MASK = (1u << BITS) - 1;
  const WordVec lower = (words >> (uint32_t)shift) & MASK;
  return (Vec)(lower | 0x4b000000u) - splat((float)((1 << 23) + (1 << (BITS - 1))));
}

}  // namespace SACCADE_ISA
}  // namespace saccade
