// Copies a matrix into panels that stream: [depth][PANEL] with columns side by side, zero-padded.
//
// Transposing goes LANES × LANES through registers.
#pragma once

#include "tile.h"

namespace saccade {
namespace SACCADE_ISA {

#if defined(__AVX512F__)

// rows[i] lane j becomes rows[j] lane i.
SACCADE_INLINE void transpose(Vec (&rows)[LANES]) {
  __m512 pair[16];
  for (int i = 0; i < 16; i += 2) {
    pair[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
    pair[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
  }
  __m512 quad[16];
  for (int i = 0; i < 16; i += 4) {
    quad[i] = _mm512_shuffle_ps(pair[i], pair[i + 2], 0x44);
    quad[i + 1] = _mm512_shuffle_ps(pair[i], pair[i + 2], 0xee);
    quad[i + 2] = _mm512_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
    quad[i + 3] = _mm512_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
  }
  // quad[4g + c] holds, in 128-bit block b, column 4b + c of rows 4g … 4g + 3.
  for (int c = 0; c < 4; c++) {
    const __m512 low = _mm512_shuffle_f32x4(quad[c], quad[4 + c], 0x88);
    const __m512 lowOdd = _mm512_shuffle_f32x4(quad[c], quad[4 + c], 0xdd);
    const __m512 high = _mm512_shuffle_f32x4(quad[8 + c], quad[12 + c], 0x88);
    const __m512 highOdd = _mm512_shuffle_f32x4(quad[8 + c], quad[12 + c], 0xdd);
    rows[c] = _mm512_shuffle_f32x4(low, high, 0x88);
    rows[8 + c] = _mm512_shuffle_f32x4(low, high, 0xdd);
    rows[4 + c] = _mm512_shuffle_f32x4(lowOdd, highOdd, 0x88);
    rows[12 + c] = _mm512_shuffle_f32x4(lowOdd, highOdd, 0xdd);
  }
}

#elif defined(__AVX2__)

SACCADE_INLINE void transpose(Vec (&rows)[LANES]) {
  __m256 pair[8];
  for (int i = 0; i < 8; i += 2) {
    pair[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
    pair[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
  }
  __m256 quad[8];
  for (int i = 0; i < 8; i += 4) {
    quad[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
    quad[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xee);
    quad[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
    quad[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
  }
  for (int c = 0; c < 4; c++) {
    rows[c] = _mm256_permute2f128_ps(quad[c], quad[4 + c], 0x20);
    rows[4 + c] = _mm256_permute2f128_ps(quad[c], quad[4 + c], 0x31);
  }
}

#else

SACCADE_INLINE void transpose(Vec (&rows)[LANES]) {
  float from[LANES][LANES], to[LANES][LANES];
  memcpy(from, rows, sizeof from);
  for (int i = 0; i < LANES; i++) {
    for (int j = 0; j < LANES; j++) to[i][j] = from[j][i];
  }
  memcpy(rows, to, sizeof to);
}

#endif

// LANES words from `count` elements that lie side by side along the depth; zero beyond.
template <Words WORDS>
SACCADE_INLINE Vec loadWords(const float* p, int64_t count) {
  return count >= LANES ? load(p) : loadFirst(p, count);
}
template <Words WORDS>
SACCADE_INLINE Vec loadWords(const Bf16* p, int64_t count) {
  if (WORDS == Words::floats) return count >= LANES ? load(p) : loadFirst(p, count);
  Vec words{};
  if (count >= 2 * LANES) memcpy(&words, p, sizeof words);
  else memcpy(&words, p, (size_t)count * sizeof(Bf16));
  return words;
}

// LANES words at one depth, whose `width` elements lie side by side across it; for pairs with the
// elements at the next depth, `next`, which is null beyond the end.
template <Words WORDS>
SACCADE_INLINE Vec loadAcross(const float* p, const float*, int64_t width) {
  return loadWidth(p, width);
}
template <Words WORDS>
SACCADE_INLINE Vec loadAcross(const Bf16* p, const Bf16* next, int64_t width) {
  const Vec first = loadWidth(p, width);
  if (WORDS == Words::floats) return first;
  const Vec second = next ? loadWidth(next, width) : Vec{};
  return (Vec)(((WordVec)first >> 16) | (WordVec)second);
}

// LANES columns of `depth` contiguous elements each, column c at columnAt(c), as words into
// out[k · outStride + c]; columns at and beyond `columns` become zero.
template <Words WORDS = Words::floats, class ColumnAt>
SACCADE_INLINE void packColumns(float* out, int64_t outStride, int64_t columns, int64_t depth,
                                ColumnAt columnAt) {
  constexpr int64_t STEP = WORDS == Words::pairs ? 2 * LANES : LANES;
  int64_t k = 0;
  // Whole squares, which look for the end of neither side.
  for (; columns >= LANES && k + STEP <= depth; k += STEP, out += LANES * outStride) {
    Vec rows[LANES];
#pragma GCC unroll 16
    for (int c = 0; c < LANES; c++) rows[c] = loadWords<WORDS>(columnAt(c) + k, STEP);
    transpose(rows);
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) store(out + i * outStride, rows[i]);
  }
  for (; k < depth; k += STEP, out += LANES * outStride) {
    Vec rows[LANES];
    for (int c = 0; c < LANES; c++) {
      rows[c] = c < columns ? loadWords<WORDS>(columnAt(c) + k, depth - k) : Vec{};
    }
    transpose(rows);
    const int64_t words = smaller(LANES, wordsIn<WORDS>(depth - k));
    for (int i = 0; i < words; i++) store(out + i * outStride, rows[i]);
  }
}

// One panel from a matrix whose columns are contiguous along the depth: element (k, c) at
// source[c · stride + k].
template <Words WORDS, class Stored>
static inline void packPanelByColumns(float* panel, const Stored* source, int64_t stride,
                                      int64_t columns, int64_t depth) {
  for (int v = 0; v < TILE_VECS; v++) {
    const int64_t first = v * LANES;
    packColumns<WORDS>(panel + first, PANEL, columns - first, depth,
                       [&](int c) { return source + (first + c) * stride; });
  }
}

// Panels `panelWords` apart from a matrix whose depth rows are contiguous along the columns: element
// (k, c) at source[k · stride + c]. A row is read through for all of them.
template <Words WORDS, class Stored>
static inline void packPanelsByRows(float* panels, int64_t panelWords, const Stored* source,
                                    int64_t stride, int64_t columns, int64_t depth) {
  constexpr int64_t STEP = WORDS == Words::pairs ? 2 : 1;
  // Rows that are asked for while others are copied.
  constexpr int64_t AHEAD = 16;
  const int64_t vecs = divideUp(columns, PANEL) * TILE_VECS;
  for (int64_t k = 0; k < depth; k += STEP, panels += PANEL) {
    const Stored* row = source + k * stride;
    const bool hasNext = k + 1 < depth;
    for (int64_t i = k + AHEAD; i < smaller(k + AHEAD + STEP, depth); i++) {
      prefetchRun(source + i * stride, columns);
    }
    for (int64_t v = 0; v < vecs; v++) {
      const int64_t first = smaller(v * LANES, columns);
      const Stored* next = hasNext ? row + stride + first : nullptr;
      store(panels + v / TILE_VECS * panelWords + v % TILE_VECS * LANES,
            loadAcross<WORDS>(row + first, next, smaller(LANES, columns - first)));
    }
  }
}

// Zeroes a panel at depth k, one half of its words there for pairs.
template <Words WORDS>
static inline void clearDepth(float* panel, int64_t k) {
  float* words = panel + (wordsIn<WORDS>(k + 1) - 1) * PANEL;
  if (WORDS == Words::floats) {
    memset(words, 0, PANEL * sizeof *words);
    return;
  }
  for (int64_t c = 0; c < PANEL; c++) memset((char*)(words + c) + k % 2 * 2, 0, 2);
}

// Rows of `depth` contiguous elements as words, `outStride` words apart.
template <Words WORDS, class Stored>
static inline void copyRows(float* out, int64_t outStride, const Stored* source, int64_t stride,
                            int64_t rows, int64_t depth) {
  constexpr int64_t STEP = WORDS == Words::pairs ? 2 * LANES : LANES;
  for (int64_t i = 0; i < rows; i++) {
    float* row = out + i * outStride;
    for (int64_t k = 0; k < depth; k += STEP, row += LANES) {
      const Vec words = loadWords<WORDS>(source + i * stride + k, depth - k);
      storeWidth(row, words, smaller(LANES, wordsIn<WORDS>(depth - k)));
    }
  }
}

// Rows side by side at each depth, element (i, k) at source[k · stride + i], as words: word k of row
// i at out[k · outStride + i]. outStride leaves room for whole vectors.
template <Words WORDS, class Stored>
static inline void copyAcross(float* out, int64_t outStride, const Stored* source, int64_t stride,
                              int64_t rows, int64_t depth) {
  constexpr int64_t STEP = WORDS == Words::pairs ? 2 : 1;
  for (int64_t k = 0; k < depth; k += STEP, out += outStride) {
    const Stored* row = source + k * stride;
    const bool hasNext = k + 1 < depth;
    forLanes(rows, [&](int64_t i, int64_t width) {
      store(out + i, loadAcross<WORDS>(row + i, hasNext ? row + stride + i : nullptr, width));
    });
  }
}

// The same turned: word k of row i at out[i · outStride + k], as rows with neighbors along the depth
// have it. There is room for whole vectors of words and of rows.
template <Words WORDS, class Stored>
static inline void copyTurned(float* out, int64_t outStride, const Stored* source, int64_t stride,
                              int64_t rows, int64_t depth) {
  constexpr int64_t STEP = WORDS == Words::pairs ? 2 : 1;
  const int64_t words = wordsIn<WORDS>(depth);
  for (int64_t w = 0; w < words; w += LANES) {
    for (int64_t i = 0; i < rows; i += LANES) {
      Vec square[LANES];
      for (int64_t j = 0; j < LANES; j++) {
        const int64_t k = (w + j) * STEP;
        const Stored* row = source + k * stride + i;
        const Stored* next = k + 1 < depth ? row + stride : nullptr;
        square[j] = k < depth ? loadAcross<WORDS>(row, next, smaller(LANES, rows - i)) : Vec{};
      }
      transpose(square);
      for (int64_t j = 0; j < smaller(LANES, rows - i); j++) {
        store(out + (i + j) * outStride + w, square[j]);
      }
    }
  }
}

}  // namespace SACCADE_ISA
}  // namespace saccade
