// The product of bf16 rows with a weight of 8 or 4 bits by AVX2, in integers; with AVX-VNNI (`avx2vnni`) two
// products are added by one instruction.
//
// Each row of x becomes whole numbers of 16 bits, as in byte-product.h, which says what that loses. Here
// they stay whole: two depths of a row meet two codes in one instruction, so that 16 products cost what 8
// of floats do, and codes are widened by one instruction for 16. A sum over a chunk of depth is exact in
// 32 bits; times its scale it is added to a float. So an output's chain depends on its own row, the depth
// and the form alone.
//
// What it gives: `npm run bench -- decode`, in bench/README.md.
#pragma once

#include "product.h"
#include "quantized-weight.h"

namespace saccade {
namespace SACCADE_ISA {

#if defined(__AVX2__) && !defined(__AVX512F__)
#define SACCADE_WORD_PRODUCT

// Depth of a chunk where a row has one scale: 256·255·(2¹⁵ − 2⁷) < 2³¹. Its codes stay in L1 while rows
// of x meet them.
constexpr int64_t WHOLE_CHUNK = 256;
// Rows of x that share the codes in registers, and rows that a thread goes through at a time.
constexpr int64_t ROWS_AT_ONCE = 4, ROWS_OF_BLOCK = 32;

// Rows of x as whole numbers.
struct WholeRows {
  // [M][stride], zeros beyond the depth. Of each four depths, for a weight of 8 bits, the first, third,
  // second and fourth, as codes come apart.
  int16_t* numbers;
  int64_t stride;
  // Depth of a chunk, and chunks of a row.
  int64_t chunk, chunks;
  // [M][chunks]: what the offset of the codes adds to a sum.
  int32_t* offsets;
  // [M]: what one stands for. NaN for a row with a value that is not finite.
  double* units;
};

// One row. Below the least exponent all is zero, as for the other products.
template <int BITS>
static inline void makeWhole(const WholeRows& to, int64_t row, const Bf16* x, int64_t depth) {
  int16_t* numbers = to.numbers + row * to.stride;
  int32_t* offsets = to.offsets + row * to.chunks;
  memset(numbers, 0, (size_t)to.stride * sizeof *numbers);
  memset(offsets, 0, (size_t)to.chunks * sizeof *offsets);
  uint16_t largest = 0;
  for (int64_t k = 0; k < depth; k++) {
    const uint16_t size = x[k].bits & 0x7fff;
    largest = size > largest ? size : largest;
  }
  const int exponent = largest >> 7;
  to.units[row] = exponent == 0xff ? (double)__builtin_nanf("") : 0.0;
  if (exponent == 0 || exponent == 0xff) return;
  const int power = 127 + 14 - exponent;
  to.units[row] = __builtin_ldexp(1.0, -power);
  // Twice, since the whole power can be more than a float holds.
  const Vec first = splat(__builtin_ldexpf(1.0f, power / 2));
  const Vec second = splat(__builtin_ldexpf(1.0f, power - power / 2));
  for (int64_t c = 0; c < to.chunks; c++) {
    const int64_t end = smaller(depth, (c + 1) * to.chunk);
    int32_t sum = 0;
    for (int64_t k = c * to.chunk; k < end; k += LANES) {
      const Vec scaled = loadWidth(x + k, smaller(LANES, end - k)) * first * second;
      alignas(32) int32_t whole[LANES];
      _mm256_store_si256((__m256i*)whole, _mm256_cvtps_epi32((__m256)scaled));
      for (int j = 0; j < LANES; j++) {
        constexpr int PLACES[4] = {0, 2, 1, 3};
        numbers[k + (BITS == 8 ? (j & ~3) + PLACES[j & 3] : j)] = (int16_t)whole[j];
        sum += whole[j];
      }
    }
    offsets[c] = (1 << (BITS - 1)) * sum;
  }
}

// sum + Σ of two products of 16 bits, per word; the sums are exact, so with VNNI they are the same.
SACCADE_INLINE __m256i addPairs(__m256i sum, __m256i a, __m256i b) {
#if defined(__AVXVNNI__)
  return _mm256_dpwssd_avx_epi32(sum, a, b);
#else
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
#endif
}

// Adds a chunk of one block of 16 rows of codes to the sums [ROWS][16] of rows of x; `offsets` and
// `numbers` at the chunk.
template <int BITS, int ROWS>
static inline void addChunk(const WholeRows& rows, const int16_t* numbers, const int32_t* offsets,
                            const uint32_t* codes, int64_t words, const Vec (&scale)[2], float* sums) {
  constexpr int64_t AHEAD_LINES = 64;
  // Pairs of codes of a word: bits apart, and which bits they are.
  constexpr int PAIRS = 16 / BITS, APART = BITS == 8 ? 8 : 4;
  const __m256i mask = _mm256_set1_epi16((1 << BITS) - 1);
  __m256i total[ROWS][2];
#pragma GCC unroll 4
  for (int i = 0; i < ROWS; i++) {
    total[i][0] = total[i][1] = _mm256_set1_epi32(-offsets[i * rows.chunks]);
  }
  for (int64_t w = 0; w < words; w++, codes += ROWS_TOGETHER) {
    __builtin_prefetch(codes + AHEAD_LINES * ROWS_TOGETHER, 0, 2);
    const __m256i one = _mm256_loadu_si256((const __m256i*)codes);
    const __m256i other = _mm256_loadu_si256((const __m256i*)(codes + 8));
#pragma GCC unroll 4
    for (int p = 0; p < PAIRS; p++) {
      const __m256i pair = _mm256_and_si256(_mm256_srli_epi16(one, APART * p), mask);
      const __m256i otherPair = _mm256_and_si256(_mm256_srli_epi16(other, APART * p), mask);
#pragma GCC unroll 4
      for (int i = 0; i < ROWS; i++) {
        int32_t two;
        memcpy(&two, numbers + i * rows.stride + 2 * (PAIRS * w + p), sizeof two);
        const __m256i both = _mm256_set1_epi32(two);
        total[i][0] = addPairs(total[i][0], pair, both);
        total[i][1] = addPairs(total[i][1], otherPair, both);
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < ROWS; i++) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; v++) {
      float* at = sums + i * ROWS_TOGETHER + v * LANES;
      store(at, fma((Vec)_mm256_cvtepi32_ps(total[i][v]), scale[v], load(at)));
    }
  }
}

// Outputs of a row of x and up to 16 rows of codes.
SACCADE_INLINE void storeOutputs(const float* sums, double unit, const Bf16* bias, Bf16* y, int64_t width) {
  for (int64_t at = 0; at < width; at += LANES) {
    const int64_t count = smaller(LANES, width - at);
    alignas(32) float scaled[LANES];
    // In double: a power of two that a float may not hold.
    for (int j = 0; j < LANES; j++) scaled[j] = (float)(sums[at + j] * unit);
    Vec value = load(scaled);
    if (bias) value = value + loadWidth(bias + at, count);
    storeWidth(y + at, value, count);
  }
}

// y = x·wᵀ + b.
template <int BITS>
void multiplyWhole(const SaccadeLaunch& launch, const WeightForm& form, int64_t M, const Bf16* x,
                   const uint32_t* codes, const float* scales, const Bf16* bias, Bf16* y) {
  constexpr int64_t COUNT = 32 / BITS;
  const int64_t K = form.depth, N = form.rows;
  const bool isWhole = form.group >= K;
  const int64_t chunk = isWhole ? WHOLE_CHUNK : form.group, chunks = divideUp(K, chunk);
  // A line more keeps rows from falling into the same cache sets.
  const int64_t stride = roundUp(K, LANES) + 32;
  const WholeRows rows{scratchArray<int16_t>(launch, M * stride),
                       stride,
                       chunk,
                       chunks,
                       scratchArray<int32_t>(launch, M * chunks),
                       scratchArray<double>(launch, M)};
  parallelFor(launch, M, 1.0 * (double)(M * K),
              [&](int64_t m, int32_t) { makeWhole<BITS>(rows, m, x + m * K, K); });
  const int64_t blocks = divideUp(M, ROWS_OF_BLOCK), each = blocks == 0 ? 1 : divideUp(M, blocks);
  const int64_t panels = divideUp(N, ROWS_TOGETHER);
  // Of many rows a block stays in the cache of its thread while it meets some panels. Few rows are done with
  // a panel as soon as with its hand-over, so they take some where there are enough.
  const int64_t fewEach = larger(1, smaller(4, panels / (8 * launch.runtime->threads)));
  const int64_t panelsEach = blocks > 1 ? 16 : fewEach, items = divideUp(panels, panelsEach);
  const double work = (double)M * (double)N * (double)K;
  parallelFor(launch, blocks * items, nanosecondsOf(work), [&](int64_t item, int32_t) {
    const int64_t row = item % blocks * each, count = smaller(each, M - row);
    const int64_t first = item / blocks * panelsEach, end = smaller(panels, first + panelsEach);
    alignas(64) float sums[ROWS_OF_BLOCK * ROWS_TOGETHER];
    for (int64_t panel = first; panel < end; panel++) {
      memset(sums, 0, sizeof sums);
      const uint32_t* own = codes + panel * form.words * ROWS_TOGETHER;
      const int64_t n = panel * ROWS_TOGETHER, width = smaller(ROWS_TOGETHER, N - n);
      for (int64_t c = 0; c < chunks; c++) {
        const int64_t word = c * chunk / COUNT, words = smaller(chunk / COUNT, form.words - word);
        const uint32_t* at = own + word * ROWS_TOGETHER;
        const float* of = scales + (isWhole ? 0 : c) * N + n;
        const Vec scale[2] = {loadWidth(of, smaller(LANES, width)),
                              width > LANES ? loadWidth(of + LANES, width - LANES) : Vec{}};
        for (int64_t i = 0; i < count; i += ROWS_AT_ONCE) {
          const int16_t* numbers = rows.numbers + (row + i) * stride + c * chunk;
          const int32_t* offsets = rows.offsets + (row + i) * chunks + c;
          float* to = sums + i * ROWS_TOGETHER;
          switch (count - i) {
            case 1: addChunk<BITS, 1>(rows, numbers, offsets, at, words, scale, to); break;
            case 2: addChunk<BITS, 2>(rows, numbers, offsets, at, words, scale, to); break;
            case 3: addChunk<BITS, 3>(rows, numbers, offsets, at, words, scale, to); break;
            default: addChunk<BITS, 4>(rows, numbers, offsets, at, words, scale, to);
          }
        }
      }
      for (int64_t i = 0; i < count; i++) {
        storeOutputs(sums + i * ROWS_TOGETHER, rows.units[row + i], bias ? bias + n : nullptr,
                     y + (row + i) * N + n, width);
      }
    }
  });
}

#endif

}  // namespace SACCADE_ISA
}  // namespace saccade
