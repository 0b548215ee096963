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

// LANES columns of `depth` contiguous elements each, column c at columnAt(c), into
// out[k · outStride + c]; columns at and beyond `columns` become zero.
template <class ColumnAt>
SACCADE_INLINE void packColumns(float* out, int64_t outStride, int64_t columns, int64_t depth,
                                ColumnAt columnAt) {
  for (int64_t k = 0; k < depth; k += LANES) {
    const int64_t width = smaller(LANES, depth - k);
    Vec rows[LANES];
    for (int c = 0; c < LANES; c++) {
      rows[c] = c < columns ? loadWidth(columnAt(c) + k, width) : Vec{};
    }
    transpose(rows);
    for (int i = 0; i < width; i++) store(out + (k + i) * outStride, rows[i]);
  }
}

// The same for columns that lie `stride` elements apart.
template <class Stored>
static inline void packTransposed(float* out, int64_t outStride, const Stored* source,
                                  int64_t stride, int64_t columns, int64_t depth) {
  packColumns(out, outStride, columns, depth, [&](int c) { return source + c * stride; });
}

// One panel from a matrix whose columns are contiguous along the depth: element (k, c) at
// source[c · stride + k].
template <class Stored>
static inline void packPanelByColumns(float* panel, const Stored* source, int64_t stride,
                                      int64_t columns, int64_t depth) {
  for (int v = 0; v < TILE_VECS; v++) {
    const int64_t first = v * LANES;
    const int64_t count = columns - first;
    packTransposed(panel + first, PANEL, source + (count > 0 ? first * stride : 0), stride, count,
                   depth);
  }
}

// One panel from a matrix whose depth rows are contiguous along the columns: element (k, c) at
// source[k · stride + c].
template <class Stored>
static inline void packPanelByRows(float* panel, const Stored* source, int64_t stride,
                                   int64_t columns, int64_t depth) {
  for (int64_t k = 0; k < depth; k++) {
    for (int v = 0; v < TILE_VECS; v++) {
      const int64_t count = larger(0, smaller(LANES, columns - v * LANES));
      store(panel + k * PANEL + v * LANES, loadWidth(source + k * stride + v * LANES, count));
    }
  }
}

}  // namespace SACCADE_ISA
}  // namespace saccade
