// The product of bf16 rows with a weight of 8 bits by AVX2, in integers.
//
// Each row of x becomes whole numbers of 16 bits, as in byte-product.h, which says what that loses. Here
// they stay whole: two depths of a row meet two codes in one instruction, so that 16 products cost what 8
// of floats do, and codes are widened by one instruction for 16. Sums of some words of codes are exact in
// 32 bits, sums of those in double. So an output depends on its own row alone, in whatever order it is
// added up.
//
// What it gives: `npm run bench -- decode`, in bench/README.md.
#pragma once

#include "product.h"
#include "quantized-weight.h"

namespace saccade {
namespace SACCADE_ISA {

#if defined(__AVX2__) && !defined(__AVX512F__)
#define SACCADE_WORD_PRODUCT

// Words of codes whose products fit a sum of 32 bits: 64·4·255·(2¹⁵ − 2⁷) < 2³¹. They stay in L1 while
// rows of x meet them.
constexpr int64_t SUM_WORDS = 64;
// Rows of x that share the codes in registers, and rows that a thread goes through at a time.
constexpr int64_t ROWS_AT_ONCE = 4, ROWS_OF_BLOCK = 32;

// Rows of x as whole numbers.
struct WholeRows {
  // [M][stride]: of each four depths the first, third, second and fourth, as codes come apart; zeros
  // beyond the depth.
  int16_t* numbers;
  int64_t stride;
  // Of each row: what one stands for, and what the offset of the codes adds to a sum.
  double *units, *offsets;
};

// One row. Below the least exponent all is zero, as for the other products; a row with a value that is
// not finite has a unit of NaN.
static inline void makeWhole(const WholeRows& to, int64_t row, const Bf16* x, int64_t depth) {
  int16_t* numbers = to.numbers + row * to.stride;
  memset(numbers, 0, (size_t)to.stride * sizeof *numbers);
  uint16_t largest = 0;
  for (int64_t k = 0; k < depth; k++) {
    const uint16_t size = x[k].bits & 0x7fff;
    largest = size > largest ? size : largest;
  }
  const int exponent = largest >> 7;
  to.units[row] = exponent == 0xff ? (double)__builtin_nanf("") : 0.0;
  to.offsets[row] = 0;
  if (exponent == 0 || exponent == 0xff) return;
  const int power = 127 + 14 - exponent;
  // Twice, since the whole power can be more than a float holds.
  const Vec first = splat(__builtin_ldexpf(1.0f, power / 2));
  const Vec second = splat(__builtin_ldexpf(1.0f, power - power / 2));
  int64_t sum = 0;
  for (int64_t k = 0; k < depth; k += LANES) {
    const Vec scaled = loadWidth(x + k, smaller(LANES, depth - k)) * first * second;
    alignas(32) int32_t whole[LANES];
    _mm256_store_si256((__m256i*)whole, _mm256_cvtps_epi32((__m256)scaled));
    for (int j = 0; j < LANES; j++) {
      constexpr int PLACES[4] = {0, 2, 1, 3};
      numbers[k + (j & ~3) + PLACES[j & 3]] = (int16_t)whole[j];
      sum += whole[j];
    }
  }
  to.units[row] = __builtin_ldexp(1.0, -power);
  to.offsets[row] = 128.0 * (double)sum;
}

// Adds some words of depth of one block of 16 rows of codes to the sums [ROWS][16] of rows of x.
template <int ROWS>
static inline void addWords(const int16_t* numbers, int64_t stride, const uint32_t* codes, int64_t words,
                            double* sums) {
  constexpr int64_t AHEAD_LINES = 64;
  const __m256i lower = _mm256_set1_epi16(0xff);
  __m256i total[ROWS][2];
#pragma GCC unroll 4
  for (int i = 0; i < ROWS; i++) total[i][0] = total[i][1] = _mm256_setzero_si256();
  for (int64_t w = 0; w < words; w++, codes += ROWS_TOGETHER) {
    __builtin_prefetch(codes + AHEAD_LINES * ROWS_TOGETHER, 0, 2);
    const __m256i one = _mm256_loadu_si256((const __m256i*)codes);
    const __m256i other = _mm256_loadu_si256((const __m256i*)(codes + 8));
    const __m256i even[2] = {_mm256_and_si256(one, lower), _mm256_and_si256(other, lower)};
    const __m256i odd[2] = {_mm256_srli_epi16(one, 8), _mm256_srli_epi16(other, 8)};
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++) {
      int32_t pairs[2];
      memcpy(pairs, numbers + i * stride + 4 * w, sizeof pairs);
      const __m256i first = _mm256_set1_epi32(pairs[0]), second = _mm256_set1_epi32(pairs[1]);
#pragma GCC unroll 2
      for (int v = 0; v < 2; v++) {
        total[i][v] = _mm256_add_epi32(total[i][v], _mm256_madd_epi16(even[v], first));
        total[i][v] = _mm256_add_epi32(total[i][v], _mm256_madd_epi16(odd[v], second));
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < ROWS; i++) {
#pragma GCC unroll 4
    for (int part = 0; part < 4; part++) {
      double* at = sums + i * ROWS_TOGETHER + 4 * part;
      const __m256i four = total[i][part / 2];
      const __m128i two = part % 2 == 0 ? _mm256_castsi256_si128(four) : _mm256_extracti128_si256(four, 1);
      _mm256_storeu_pd(at, _mm256_add_pd(_mm256_loadu_pd(at), _mm256_cvtepi32_pd(two)));
    }
  }
}

// Outputs of a row of x and up to 16 rows of codes.
SACCADE_INLINE void storeOutputs(const double* sums, double unit, double offset, const float* scales,
                                 const Bf16* bias, Bf16* y, int64_t width) {
  for (int64_t at = 0; at < width; at += LANES) {
    const int64_t count = smaller(LANES, width - at);
    alignas(32) float scale[LANES], scaled[LANES];
    store(scale, loadWidth(scales + at, count));
    // In double: the sum alone can be more than a float holds.
    for (int j = 0; j < LANES; j++) scaled[j] = (float)((sums[at + j] - offset) * unit * scale[j]);
    Vec value = load(scaled);
    if (bias) value = value + loadWidth(bias + at, count);
    storeWidth(y + at, value, count);
  }
}

// y = x·wᵀ + b for a weight of 8 bits with a scale for each row.
static inline void multiplyWhole(const SaccadeLaunch& launch, const WeightForm& form, int64_t M,
                                 const Bf16* x, const uint32_t* codes, const float* scales,
                                 const Bf16* bias, Bf16* y) {
  const int64_t K = form.depth, N = form.rows;
  // A line more keeps rows from falling into the same cache sets.
  const int64_t stride = roundUp(4 * form.words, LANES) + 32;
  const WholeRows rows{scratchArray<int16_t>(launch, M * stride), stride,
                       scratchArray<double>(launch, M), scratchArray<double>(launch, M)};
  parallelFor(launch, M, 1.0 * (double)(M * K),
              [&](int64_t m, int32_t) { makeWhole(rows, m, x + m * K, K); });
  const int64_t blocks = divideUp(M, ROWS_OF_BLOCK), each = blocks == 0 ? 1 : divideUp(M, blocks);
  const int64_t panels = divideUp(N, ROWS_TOGETHER);
  // Of many rows a block stays in the cache of its thread while it meets some panels.
  const int64_t panelsEach = blocks > 1 ? 16 : 1, items = divideUp(panels, panelsEach);
  const double work = (double)M * (double)N * (double)K;
  parallelFor(launch, blocks * items, nanosecondsOf(work), [&](int64_t item, int32_t) {
    const int64_t row = item % blocks * each, count = smaller(each, M - row);
    const int64_t first = item / blocks * panelsEach, end = smaller(panels, first + panelsEach);
    alignas(64) double sums[ROWS_OF_BLOCK * ROWS_TOGETHER];
    for (int64_t panel = first; panel < end; panel++) {
      memset(sums, 0, sizeof sums);
      const uint32_t* own = codes + panel * form.words * ROWS_TOGETHER;
      for (int64_t w = 0; w < form.words; w += SUM_WORDS) {
        const int64_t words = smaller(SUM_WORDS, form.words - w);
        const uint32_t* at = own + w * ROWS_TOGETHER;
        for (int64_t i = 0; i < count; i += ROWS_AT_ONCE) {
          const int16_t* numbers = rows.numbers + (row + i) * stride + 4 * w;
          double* to = sums + i * ROWS_TOGETHER;
          switch (count - i) {
            case 1: addWords<1>(numbers, stride, at, words, to); break;
            case 2: addWords<2>(numbers, stride, at, words, to); break;
            case 3: addWords<3>(numbers, stride, at, words, to); break;
            default: addWords<4>(numbers, stride, at, words, to);
          }
        }
      }
      const int64_t n = panel * ROWS_TOGETHER;
      for (int64_t i = 0; i < count; i++) {
        storeOutputs(sums + i * ROWS_TOGETHER, rows.units[row + i], rows.offsets[row + i], scales + n,
                     bias ? bias + n : nullptr, y + (row + i) * N + n, smaller(ROWS_TOGETHER, N - n));
      }
    }
  });
}

#endif

}  // namespace SACCADE_ISA
}  // namespace saccade
