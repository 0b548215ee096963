// The product of bf16 rows with a weight of 4 bits by AMX, in integers but for the scales.
//
// Rows of x become bytes as in byte-product.h. Codes become signed bytes, 16 times what they stand for,
// in a buffer that stays in L1: of a segment of depth at a time, a group of a scale or a part of it. Its
// sums are exact; in float32 the two of a number are put together and added up times the scale, one
// fused multiply-add for each segment, in order. So an output depends on its own row, K and the form.
//
// Sums of a segment are taken up while the matrices of the next one are multiplied: they come late.
#pragma once

#include "byte-product.h"

#if defined(__AMX_INT8__)

namespace saccade {
namespace SACCADE_ISA {

// Depth of a segment where rows have one scale, and of the largest group.
constexpr int64_t NIBBLE_SEGMENT = 128;
constexpr int64_t SEGMENT_STEPS = NIBBLE_SEGMENT / STEP_BYTES;
// Words of codes of a step.
constexpr int64_t CODE_WORDS = STEP_BYTES / 8;

// Bytes of codes as matrices take them: word 2w holds codes 0, 4, 1, 5 of word w, the next 2, 6, 3, 7.
SACCADE_INLINE void widenNibbles(uint32_t* bytes, const uint32_t* codes, int64_t words, int64_t ahead) {
  const __m512i mask = _mm512_set1_epi32((int32_t)0xf0f0f0f0);
  const __m512i sign = _mm512_set1_epi32((int32_t)0x80808080);
  for (int64_t w = 0; w < words; w++, codes += ROWS_TOGETHER, bytes += 2 * ROWS_TOGETHER) {
    __builtin_prefetch(codes + ahead, 0, 3);
    const __m512i eight = _mm512_loadu_si512(codes);
    // (codes & mask) ^ sign: a code less 8 in the upper half of its byte.
    _mm512_store_si512(bytes, _mm512_ternarylogic_epi32(_mm512_slli_epi32(eight, 4), mask, sign, 0x6a));
    _mm512_store_si512(bytes + ROWS_TOGETHER, _mm512_ternarylogic_epi32(eight, mask, sign, 0x6a));
  }
}

// Puts the bytes of rows in the order of the codes.
static inline void turnBytes(int8_t* bytes, int64_t count) {
  const __m512i order = _mm512_broadcast_i32x4(
      _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15));
  for (int64_t k = 0; k < count; k += STEP_BYTES) {
    _mm512_storeu_si512(bytes + k, _mm512_shuffle_epi8(_mm512_loadu_si512(bytes + k), order));
  }
}

// Sums of a segment: those of TALL matrices of rows with one panel of bytes, or of one with two.
template <int TALL, int PANELS>
SACCADE_INLINE void sumNibbles(const int8_t* a, int64_t stride, int64_t rows, const uint32_t* bytes,
                               int64_t apart, int64_t steps, int32_t* sums, int64_t sumsApart) {
  _tile_zero(0);
  if (TALL > 1 || PANELS > 1) _tile_zero(1);
  for (int64_t s = 0; s < steps; s++, a += STEP_BYTES, bytes += STEP_WORDS * ROWS_TOGETHER) {
    _tile_loadd(6, bytes, STEP_BYTES);
    _tile_loadd(4, a, stride);
    _tile_dpbssd(0, 4, 6);
    if (PANELS > 1) {
      _tile_loadd(6, bytes + apart, STEP_BYTES);
      _tile_dpbssd(1, 4, 6);
    }
    if (TALL > 1) {
      _tile_loadd(4, a + rows * stride, stride);
      _tile_dpbssd(1, 4, 6);
    }
  }
  _tile_stored(0, sums, STEP_BYTES);
  if (TALL > 1 || PANELS > 1) _tile_stored(1, sums + sumsApart, STEP_BYTES);
}

// What one thread works in.
struct NibbleSpace {
  // Of two segments: bytes of two panels, and sums of two panels or of all rows.
  alignas(64) uint32_t bytes[2][2][SEGMENT_STEPS * STEP_WORDS * ROWS_TOGETHER];
  alignas(64) int32_t sums[2][MOST_HEIGHT * ROWS_TOGETHER];
  alignas(64) float totals[2][BYTE_ROWS][LANES];
};

// Adds the sums of a segment times the scales of `width` columns to the totals of `count` rows.
SACCADE_INLINE void addNibbles(const int32_t* sums, int64_t count, const float* scales, int64_t width,
                               bool isFirst, float (*totals)[LANES]) {
  const Vec scale = loadWidth(scales, width);
  for (int64_t i = 0; i < count; i++, sums += LIMBS * ROWS_TOGETHER) {
    const Vec low = (Vec)_mm512_cvtepi32_ps(_mm512_load_si512(sums));
    const Vec high = (Vec)_mm512_cvtepi32_ps(_mm512_load_si512(sums + ROWS_TOGETHER));
    const Vec sum = fma(high, splat(256.0f), low);
    store(totals[i], fma(sum, scale, isFirst ? Vec{} : load(totals[i])));
  }
}

// y = x·wᵀ + b for a weight of 4 bits whose groups are 64, 128 or all of the depth.
static inline void multiplyNibbles(const SaccadeLaunch& launch, const WeightForm& form, int64_t M,
                                   const Bf16* x, const uint32_t* codes, const float* scales,
                                   const Bf16* bias, Bf16* y) {
  const int64_t K = form.depth, N = form.rows;
  const ByteRows rows = splitRows(launch, M, x, K);
  const int64_t height = rows.height, h = matrixRows(height), stride = rows.stride;
  parallelFor(launch, rows.blocks * height, 0.1 * (double)(rows.blocks * height * stride),
              [&](int64_t row, int32_t) { turnBytes(rows.bytes + row * stride, stride); });
  const bool isWhole = form.group >= K;
  const int64_t segment = isWhole ? NIBBLE_SEGMENT : form.group, segments = divideUp(K, segment);
  const int64_t panels = divideUp(N, ROWS_TOGETHER), panelWords = form.words * ROWS_TOGETHER;
  const int64_t together = panelsTogether(height);
  const int64_t panelsEach = rows.blocks > 1 ? 16 : together, items = divideUp(panels, panelsEach);
  const int64_t threads = launch.runtime->threads;
  NibbleSpace* spaces = scratchArray<NibbleSpace>(launch, threads);
  const double work = (double)(N * K * rows.blocks);
  parallelFor(launch, rows.blocks * items, 0.1 * work, [&](int64_t item, int32_t worker) {
    NibbleSpace& space = spaces[worker];
    const int64_t block = item % rows.blocks, first = item / rows.blocks * panelsEach;
    const int64_t row = block * rows.each, count = smaller(rows.each, M - row);
    const int64_t end = smaller(panels, first + panelsEach);
    const int8_t* a = rows.bytes + block * height * stride;
    configure(TileConfig(h, h));
    for (int64_t panel = first; panel < end; panel += together) {
      const int64_t taken = smaller(together, end - panel);
      const auto takeUp = [&](int64_t s) {
        const float* scale = scales + (isWhole ? 0 : s) * N;
        for (int64_t p = 0; p < taken; p++) {
          const int64_t n = (panel + p) * ROWS_TOGETHER;
          addNibbles(space.sums[s % 2] + p * MATRIX * ROWS_TOGETHER, count, scale + n,
                     smaller(ROWS_TOGETHER, N - n), s == 0, space.totals[p]);
        }
      };
      for (int64_t s = 0; s < segments; s++) {
        const int64_t from = s * segment, depth = smaller(segment, K - from);
        const int64_t word = from / 8, words = divideUp(depth, 8), steps = divideUp(depth, STEP_BYTES);
        for (int64_t p = 0; p < taken; p++) {
          uint32_t* bytes = space.bytes[s % 2][p];
          widenNibbles(bytes, codes + (panel + p) * panelWords + word * ROWS_TOGETHER, words,
                       4 * segment / 8 * ROWS_TOGETHER);
          if (words % CODE_WORDS != 0) {
            memset(bytes + 2 * words * ROWS_TOGETHER, 0,
                   (size_t)(steps * STEP_WORDS - 2 * words) * ROWS_TOGETHER * sizeof *bytes);
          }
        }
        settleMemory();
        int32_t* sums = space.sums[s % 2];
        const uint32_t* bytes = space.bytes[s % 2][0];
        if (taken > 1) {
          sumNibbles<1, 2>(a + from, stride, h, bytes, sizeof space.bytes[0][0] / sizeof *bytes, steps,
                           sums, MATRIX * ROWS_TOGETHER);
        } else {
          for (int64_t r = 0; r < height; r += 2 * h) {
            const int8_t* of = a + r * stride + from;
            int32_t* to = sums + r * ROWS_TOGETHER;
            if (height - r > h) sumNibbles<2, 1>(of, stride, h, bytes, 0, steps, to, h * ROWS_TOGETHER);
            else sumNibbles<1, 1>(of, stride, h, bytes, 0, steps, to, 0);
          }
        }
        settleMemory();
        if (s > 0) takeUp(s - 1);
      }
      takeUp(segments - 1);
      for (int64_t p = 0; p < taken; p++) {
        const int64_t n = (panel + p) * ROWS_TOGETHER, width = smaller(ROWS_TOGETHER, N - n);
        for (int64_t i = 0; i < count; i++) {
          Vec value = (Vec)_mm512_scalef_ps((__m512)load(space.totals[p][i]),
                                            (__m512)splat(rows.exponents[row + i] - 4.0f));
          if (bias) value = value + loadWidth(bias + n, width);
          storeWidth(y + (row + i) * N + n, value, width);
        }
      }
    }
    finishMatrices();
  });
}

}  // namespace SACCADE_ISA
}  // namespace saccade

#endif
