// Rows of a matrix as the tiles of a product read them: in place where that is fast, else copied.
#pragma once

#if defined(__unix__)
#include <unistd.h>
#endif

#include "kernel-entry.h"
#include "pack.h"

namespace saccade {
namespace SACCADE_ISA {

// Depth that one chain of sums runs over, in words. A panel of AVX2 and a tile's rows must stay in an L1
// of 32 KiB: 384 words of both are 33 KiB, so each tile would read the panel from L2 again.
constexpr int64_t DEPTH_BLOCK = LANES == 8 ? 256 : 384;
// Rows of A one item works on: 112 × 384 words are 168 KiB, a part of L2.
constexpr int64_t ROW_BLOCK = TILE_ROWS * (112 / TILE_ROWS);

// A matrix in memory: element (row or column i, depth k) at data[i·stride + k·depthStride]; one of
// the two strides is 1.
template <class Stored>
struct Source {
  const Stored* data;
  int64_t stride;
  int64_t depthStride;
};

// Rows that lie a multiple of 2 KiB apart fall into the same few cache sets; copies do not. Where a set
// holds nearly a tile of them (12 lines on Zen 5), lower tiles read them as they lie: linear-logprob of
// 128 rows and D 2048 is then 1.17 times as fast, of 16 rows 1.5, a product of 2048³ 1.01. A panel that
// is to stay in L1 needs ways of its own; that of AVX-512 is too large for it.
constexpr int64_t COPY_STRIDE = DEPTH_BLOCK + LANES;
SACCADE_INLINE bool collides(int64_t stride) { return stride % 512 == 0; }

SACCADE_INLINE int64_t rowsOfOneSet() {
#if defined(_SC_LEVEL1_DCACHE_ASSOC)
  static const int64_t ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC);
  return ways - 1;  // one for what streams by
#else
  return 0;
#endif
}
// Ways of 4 KiB that a panel fills.
constexpr int64_t PANEL_WAYS = DEPTH_BLOCK * PANEL * (int64_t)sizeof(float) / 4096;

// Words of workspace one worker needs for the rows of A, in either order.
constexpr int64_t ACROSS_STRIDE = (ROW_BLOCK + LANES - 1) / LANES * LANES;
constexpr int64_t ROW_COPY = ACROSS_STRIDE * COPY_STRIDE;

// A block of A as the tiles read it.
struct RowsOfA {
  const float* words;
  int64_t stride;
  bool isAcross;
  // How many of them a tile takes at most.
  int64_t tileRows = TILE_ROWS;
};

// Rows with neighbors along the depth side by side, if they are words as they lie; null if not.
template <Words WORDS>
SACCADE_INLINE const float* rowsInPlace(const float* values, int64_t, int64_t) { return values; }
template <Words WORDS>
SACCADE_INLINE const float* rowsInPlace(const Bf16* values, int64_t stride, int64_t depth) {
  // With an odd depth, the last word would be half another row's.
  const bool areWords = WORDS == Words::pairs && stride % 2 == 0 && depth % 2 == 0 &&
                        (uintptr_t)values % sizeof(float) == 0;
  return areWords ? (const float*)(const void*)values : nullptr;
}

// `rows` rows from `source` on, copied unless they can be read where they are.
template <Words WORDS, class Stored>
static inline RowsOfA rowsOfA(const Source<Stored>& a, const Stored* source, int64_t rows,
                              int64_t depth, float* copy, bool isUsedOnce = false) {
  if (HAS_MATRICES && WORDS == Words::pairs) {
    // Matrices take rows along the depth, and use each line of them at once.
    const float* words = a.depthStride == 1 ? rowsInPlace<WORDS>(source, a.stride, depth) : nullptr;
    const bool isRead = isUsedOnce || rows <= 4 || !collides(wordsIn<WORDS>(a.stride));
    if (words && isRead) return {words, wordsIn<WORDS>(a.stride), false};
    if (a.depthStride == 1) copyRows<WORDS>(copy, COPY_STRIDE, source, a.stride, rows, depth);
    else copyTurned<WORDS>(copy, COPY_STRIDE, source, a.depthStride, rows, depth);
    return {copy, COPY_STRIDE, false};
  }
  if (a.depthStride != 1) {
    const float* across = inPlace(source);
    if (across && !collides(a.depthStride)) return {across, a.depthStride, true};
    copyAcross<WORDS>(copy, ACROSS_STRIDE, source, a.depthStride, rows, depth);
    return {copy, ACROSS_STRIDE, true};
  }
  const float* words = rowsInPlace<WORDS>(source, a.stride, depth);
  const int64_t stride = wordsIn<WORDS>(a.stride);
  if (words && (!collides(stride) || rows <= 4)) return {words, stride, false};
  if (words && rowsOfOneSet() >= smaller(TILE_ROWS + PANEL_WAYS, 10)) {
    return {words, stride, false, smaller(TILE_ROWS, rowsOfOneSet())};
  }
  copyRows<WORDS>(copy, COPY_STRIDE, source, a.stride, rows, depth);
  return {copy, COPY_STRIDE, false};
}

}  // namespace SACCADE_ISA
}  // namespace saccade
