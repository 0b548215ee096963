// The product of bf16 rows with a weight of 8 bits by AMX or VNNI, in integers and exact.
//
// Each row of x becomes whole numbers of 23 bits: multiples of a power of two, so chosen that its largest
// value fits. They are exact for values down to 2⁻¹⁵ of the largest, and off by 2⁻²³ of the largest
// below, less than float32 sums lose. Three signed bytes make a number, and become three rows of A; codes
// are unsigned bytes as they lie in memory, so a weight is neither widened nor copied. A sum of products is
// exact in 32 bits up to a depth of 2¹⁶, the three are put together in double, and what the offset of the
// codes added is taken off. So an output depends on its own row alone, in whatever order it is added up.
//
// Sapphire Rapids, two hyperthreads, K 2048, one row, codes widened to pairs of bf16 instead: 10 GB/s of
// codes, where memory gives 24.
#pragma once

#include "product.h"
#include "quantized-weight.h"

namespace saccade {
namespace SACCADE_ISA {

#if defined(__AMX_INT8__) || defined(__AVX512VNNI__) || defined(SACCADE_EMULATE_PAIRS)
#define SACCADE_BYTE_PRODUCT

// Bytes of depth, and words of codes, of one step.
constexpr int64_t STEP_BYTES = 64, STEP_WORDS = 16;
constexpr int64_t LIMBS = 3;
// Rows of x at once, and their rows of bytes: with AMX six matrices.
constexpr int64_t BYTE_ROWS = 32, MOST_HEIGHT = BYTE_ROWS * LIMBS;
// Beyond it a sum could pass 32 bits.
constexpr int64_t MOST_DEPTH = 1 << 16;

struct ByteRows {
  // [rows · LIMBS, padded to HEIGHT_STEP][stride], zeros beyond the depth.
  int8_t* bytes;
  int64_t stride;
  // Of each row: what its numbers are multiples of, and their sum.
  double* units;
  double* sums;
};

// One row as bytes. A row with a value that is not finite gets a unit of NaN.
static inline void splitRow(const ByteRows& to, int64_t row, const Bf16* x, int64_t depth) {
  uint32_t largest = 0;
  for (int64_t k = 0; k < depth; k++) {
    const uint32_t bits = x[k].bits & 0x7fffu;
    largest = bits > largest ? bits : largest;
  }
  int8_t* bytes = to.bytes + row * LIMBS * to.stride;
  memset(bytes, 0, (size_t)(LIMBS * to.stride));
  to.sums[row] = 0;
  // Powers of two are exact; below the least exponent all is zero, as for the other products.
  const int exponent = (int)(largest >> 7);
  to.units[row] = exponent == 0xff ? (double)__builtin_nanf("") : 0.0;
  if (exponent == 0 || exponent == 0xff) return;
  const double unit = __builtin_ldexp(1.0, exponent - 126 - 22);
  const double inverse = 1.0 / unit;
  int64_t sum = 0;
  for (int64_t k = 0; k < depth; k++) {
    const int32_t whole = (int32_t)__builtin_rint((double)widened(x[k]) * inverse);
    const int32_t low = (int8_t)(whole & 0xff), rest = (whole - low) >> 8;
    const int32_t middle = (int8_t)(rest & 0xff);
    bytes[k] = (int8_t)low;
    bytes[to.stride + k] = (int8_t)middle;
    bytes[2 * to.stride + k] = (int8_t)((rest - middle) >> 8);
    sum += whole;
  }
  to.units[row] = unit;
  to.sums[row] = (double)sum;
}

#if defined(__AMX_INT8__)

constexpr int64_t HEIGHT_STEP = MATRIX;

template <int TALL>
SACCADE_INLINE void byteStep(const int8_t* a, int64_t stride, const uint32_t* codes) {
  const int64_t next = MATRIX * stride;
  _tile_loadd(7, codes, STEP_BYTES);
  _tile_loadd(6, a, stride);
  _tile_dpbsud(0, 6, 7);
  if (TALL > 1) { _tile_loadd(6, a + next, stride); _tile_dpbsud(1, 6, 7); }
  if (TALL > 2) { _tile_loadd(6, a + 2 * next, stride); _tile_dpbsud(2, 6, 7); }
  if (TALL > 3) { _tile_loadd(6, a + 3 * next, stride); _tile_dpbsud(3, 6, 7); }
  if (TALL > 4) { _tile_loadd(6, a + 4 * next, stride); _tile_dpbsud(4, 6, 7); }
  if (TALL > 5) { _tile_loadd(6, a + 5 * next, stride); _tile_dpbsud(5, 6, 7); }
}

// sums[TALL · 16][16] of rows of bytes and one block of 16 rows of codes, `words` deep.
template <int TALL>
static inline void sumBytes(const int8_t* a, int64_t stride, const uint32_t* codes, int64_t words,
                            int32_t* sums) {
  configure(TileConfig(MATRIX, MATRIX));
  _tile_zero(0);
  if (TALL > 1) _tile_zero(1);
  if (TALL > 2) _tile_zero(2);
  if (TALL > 3) _tile_zero(3);
  if (TALL > 4) _tile_zero(4);
  if (TALL > 5) _tile_zero(5);
  constexpr int64_t AHEAD_LINES = 64;
  const int64_t whole = words / STEP_WORDS * STEP_WORDS;
  for (int64_t w = 0; w < whole; w += STEP_WORDS) {
    const uint32_t* at = codes + w * ROWS_TOGETHER;
    for (int64_t i = 0; i < STEP_WORDS; i++) {
      __builtin_prefetch(at + (AHEAD_LINES + i) * ROWS_TOGETHER, 0, 2);
    }
    byteStep<TALL>(a + 4 * w, stride, at);
  }
  if (whole < words) {
    alignas(64) uint32_t last[STEP_WORDS * ROWS_TOGETHER] = {};
    memcpy(last, codes + whole * ROWS_TOGETHER, (size_t)((words - whole) * STEP_BYTES));
    settleMemory();
    byteStep<TALL>(a + 4 * whole, stride, last);
  }
  constexpr int64_t NEXT = MATRIX * ROWS_TOGETHER;
  _tile_stored(0, sums, STEP_BYTES);
  if (TALL > 1) _tile_stored(1, sums + NEXT, STEP_BYTES);
  if (TALL > 2) _tile_stored(2, sums + 2 * NEXT, STEP_BYTES);
  if (TALL > 3) _tile_stored(3, sums + 3 * NEXT, STEP_BYTES);
  if (TALL > 4) _tile_stored(4, sums + 4 * NEXT, STEP_BYTES);
  if (TALL > 5) _tile_stored(5, sums + 5 * NEXT, STEP_BYTES);
  settleMemory();
}

// sums[height][16], of `height` rows of bytes and one block of 16 rows of codes.
static inline void sumBytesOf(int64_t height, const int8_t* a, int64_t stride,
                              const uint32_t* codes, int64_t words, int32_t* sums) {
  switch (height / MATRIX) {
    case 1: return sumBytes<1>(a, stride, codes, words, sums);
    case 2: return sumBytes<2>(a, stride, codes, words, sums);
    case 3: return sumBytes<3>(a, stride, codes, words, sums);
    case 4: return sumBytes<4>(a, stride, codes, words, sums);
    case 5: return sumBytes<5>(a, stride, codes, words, sums);
    default: return sumBytes<6>(a, stride, codes, words, sums);
  }
}

#else

constexpr int64_t HEIGHT_STEP = LIMBS;
// Words of codes that stay in L1 while rows of x meet them: 16 KiB.
constexpr int64_t SEGMENT_WORDS = 256;

// sum + Σ of four products of an unsigned and a signed byte, per word.
SACCADE_INLINE __m512i addBytes(__m512i sum, __m512i codes, __m512i bytes) {
#if defined(__AVX512VNNI__)
  return _mm512_dpbusd_epi32(sum, codes, bytes);
#else
  const __m512i lower = _mm512_set1_epi16(0xff);
  const __m512i even = _mm512_madd_epi16(_mm512_and_si512(codes, lower),
                                         _mm512_srai_epi16(_mm512_slli_epi16(bytes, 8), 8));
  const __m512i odd =
      _mm512_madd_epi16(_mm512_srli_epi16(codes, 8), _mm512_srai_epi16(bytes, 8));
  return _mm512_add_epi32(sum, _mm512_add_epi32(even, odd));
#endif
}

// Adds a segment of depth to the sums of ROWS rows of x.
template <int ROWS>
static inline void addSegment(const int8_t* a, int64_t stride, const uint32_t* codes, int64_t words,
                              bool isFirst, int32_t* sums) {
  constexpr int COUNT = ROWS * LIMBS;
  constexpr int64_t AHEAD_LINES = 64;
  __m512i total[COUNT];
  for (int i = 0; i < COUNT; i++) {
    total[i] = isFirst ? _mm512_setzero_si512() : _mm512_loadu_si512(sums + i * ROWS_TOGETHER);
  }
  for (int64_t w = 0; w < words; w++, codes += ROWS_TOGETHER) {
    __builtin_prefetch(codes + AHEAD_LINES * ROWS_TOGETHER, 0, 2);
    const __m512i four = _mm512_loadu_si512(codes);
#pragma GCC unroll 12
    for (int i = 0; i < COUNT; i++) {
      int32_t bytes;
      memcpy(&bytes, a + i * stride + 4 * w, sizeof bytes);
      total[i] = addBytes(total[i], four, _mm512_set1_epi32(bytes));
    }
  }
  for (int i = 0; i < COUNT; i++) _mm512_storeu_si512(sums + i * ROWS_TOGETHER, total[i]);
}

// sums[height][16], of `height` rows of bytes and one block of 16 rows of codes.
static inline void sumBytesOf(int64_t height, const int8_t* a, int64_t stride,
                              const uint32_t* codes, int64_t words, int32_t* sums) {
  for (int64_t w = 0; w < words; w += SEGMENT_WORDS) {
    const int64_t count = smaller(SEGMENT_WORDS, words - w);
    const uint32_t* at = codes + w * ROWS_TOGETHER;
    for (int64_t row = 0; row < height; row += 4 * LIMBS) {
      const int8_t* from = a + row * stride + 4 * w;
      int32_t* to = sums + row * ROWS_TOGETHER;
      switch ((height - row) / LIMBS) {
        case 1: addSegment<1>(from, stride, at, count, w == 0, to); break;
        case 2: addSegment<2>(from, stride, at, count, w == 0, to); break;
        case 3: addSegment<3>(from, stride, at, count, w == 0, to); break;
        default: addSegment<4>(from, stride, at, count, w == 0, to);
      }
    }
  }
}

#endif

// y = x·wᵀ + b for a weight of 8 bits with a scale for each row.
static inline void multiplyBytes(const SaccadeLaunch& launch, const WeightForm& form, int64_t M,
                                 const Bf16* x, const uint32_t* codes, const float* scales,
                                 const Bf16* bias, Bf16* y) {
  const int64_t K = form.depth, N = form.rows;
  const int64_t blocks = divideUp(M, BYTE_ROWS), rowsEach = blocks == 0 ? 0 : divideUp(M, blocks);
  // A line more keeps rows from falling into the same cache sets.
  const int64_t stride = roundUp(K, STEP_BYTES) + STEP_BYTES;
  const int64_t height = roundUp(rowsEach * LIMBS, HEIGHT_STEP);
  ByteRows rows{scratchArray<int8_t>(launch, blocks * height * stride), stride,
                scratchArray<double>(launch, M), scratchArray<double>(launch, M)};
  parallelFor(launch, M, 2.0 * (double)(M * K), [&](int64_t m, int32_t) {
    const int64_t block = m / rowsEach;
    ByteRows own = rows;
    own.bytes += (block * height - block * rowsEach * LIMBS) * stride;
    splitRow(own, m, x + m * K, K);
  });
  // Rows that fill the last matrix of a block: any numbers would do, but not those of other memory.
  for (int64_t block = 0; block < blocks; block++) {
    const int64_t used = smaller(rowsEach, M - block * rowsEach) * LIMBS;
    memset(rows.bytes + (block * height + used) * stride, 0, (size_t)((height - used) * stride));
  }
  const int64_t panels = divideUp(N, ROWS_TOGETHER);
  // Of many rows a block stays in the cache of its thread while it meets some panels.
  const int64_t panelsEach = blocks > 1 ? 16 : 1, items = divideUp(panels, panelsEach);
  const double work = (double)N * (double)K;
  parallelFor(launch, blocks * items, 0.1 * work * (double)blocks, [&](int64_t item, int32_t) {
    const int64_t block = item % blocks, first = item / blocks * panelsEach;
    const int64_t row = block * rowsEach, count = smaller(rowsEach, M - row);
    alignas(64) int32_t sums[MOST_HEIGHT * ROWS_TOGETHER];
    for (int64_t panel = first; panel < smaller(panels, first + panelsEach); panel++) {
      sumBytesOf(height, rows.bytes + block * height * stride, stride,
                 codes + panel * form.words * ROWS_TOGETHER, form.words, sums);
      const int64_t n = panel * ROWS_TOGETHER, width = smaller(ROWS_TOGETHER, N - n);
      for (int64_t i = 0; i < count; i++) {
        const int32_t* limbs = sums + i * LIMBS * ROWS_TOGETHER;
        const double unit = rows.units[row + i], offset = 128.0 * rows.sums[row + i];
        float out[ROWS_TOGETHER];
        for (int64_t j = 0; j < width; j++) {
          const double whole = (double)limbs[j] + 256.0 * (double)limbs[ROWS_TOGETHER + j] +
                               65536.0 * (double)limbs[2 * ROWS_TOGETHER + j] - offset;
          out[j] = (float)(whole * unit * (double)scales[n + j]);
        }
        Bf16* to = y + (row + i) * N + n;
        forLanes(width, [&](int64_t j, int64_t lanes) {
          Vec value = loadWidth(out + j, lanes);
          if (bias) value = value + loadWidth(bias + n + j, lanes);
          storeWidth(to + j, value, lanes);
        });
      }
    }
    if (HAS_MATRICES) finishMatrices();
  });
}

#endif

}  // namespace SACCADE_ISA
}  // namespace saccade
