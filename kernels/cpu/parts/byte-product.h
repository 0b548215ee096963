// The product of bf16 rows with a weight of 8 bits by AMX or VNNI, in integers.
//
// Each row of x becomes whole numbers of 16 bits: multiples of a power of two, so chosen that its largest
// value fits. They are exact for values down to 2⁻⁷ of the largest, and off by 2⁻¹⁶ of it at most below,
// less than rounding the weight to 8 bits and the result to bf16 loses. Two signed bytes make a number,
// and become two rows of A; codes are unsigned bytes as they lie in memory, so a weight is neither widened
// nor copied. A sum of products is exact in 32 bits up to a depth of 2¹⁶, the two are put together in
// double, and what the offset of the codes added is taken off. So an output depends on its own row alone,
// in whatever order it is added up.
//
// What it gives: `npm run bench -- decode`, in bench/README.md.
#pragma once

#include "product.h"
#include "quantized-weight.h"

namespace saccade {
namespace SACCADE_ISA {

#if defined(__AMX_INT8__) || defined(__AVX512VNNI__) || defined(SACCADE_EMULATE_PAIRS)
#define SACCADE_BYTE_PRODUCT

// Bytes of depth, and words of codes, of one step.
constexpr int64_t STEP_BYTES = 64, STEP_WORDS = 16;
constexpr int64_t LIMBS = 2;
// Rows of x at once, and their rows of bytes: with AMX four matrices.
constexpr int64_t BYTE_ROWS = 32, MOST_HEIGHT = BYTE_ROWS * LIMBS;
// Beyond it a sum could pass 32 bits.
constexpr int64_t MOST_DEPTH = 1 << 16;

// Rows of x as bytes, in blocks of at most BYTE_ROWS.
struct ByteRows {
  // [blocks][height][stride]: rows · LIMBS, and zeros beyond them and beyond the depth.
  int8_t* bytes;
  int64_t stride, height;
  // Rows of x of a block.
  int64_t each, blocks;
  // Of each row of x: the power of two that its numbers are multiples of, and their sum.
  float* exponents;
  double* sums;
};

// LANES values of x from k on as whole numbers of 2^−power, zeros beyond the depth. The largest bf16 of
// an exponent would need one more than two signed bytes hold.
SACCADE_INLINE __m512i wholeNumbers(const Bf16* x, int64_t count, int power) {
  constexpr int32_t MOST = 127 * 256 + 127;
  const __m512 scaled = _mm512_scalef_ps(loadWidth(x, count), _mm512_set1_ps((float)power));
  const __m512i whole = _mm512_cvtps_epi32(scaled);
  return _mm512_max_epi32(_mm512_min_epi32(whole, _mm512_set1_epi32(MOST)), _mm512_set1_epi32(-MOST));
}

// One row as bytes. A row with a value that is not finite gets an exponent of NaN.
static inline void splitRow(const ByteRows& to, int64_t row, const Bf16* x, int64_t depth) {
  __m512i most = _mm512_setzero_si512();
  for (int64_t k = 0; k < depth; k += 2 * LANES) {
    const int64_t count = smaller(2 * LANES, depth - k);
    const __m512i bits = _mm512_maskz_loadu_epi16(~0u >> (2 * LANES - count), x + k);
    most = _mm512_max_epu16(most, _mm512_and_si512(bits, _mm512_set1_epi16(0x7fff)));
  }
  const uint32_t largest = _mm512_reduce_max_epu32(
      _mm512_max_epu32(_mm512_srli_epi32(most, 16), _mm512_and_si512(most, _mm512_set1_epi32(0xffff))));
  const int64_t line = row / to.each * to.height + row % to.each * LIMBS;
  int8_t* bytes = to.bytes + line * to.stride;
  to.sums[row] = 0;
  // Below the least exponent all is zero, as for the other products.
  const int exponent = (int)(largest >> 7);
  to.exponents[row] = exponent == 0xff ? __builtin_nanf("") : 0.0f;
  if (exponent == 0 || exponent == 0xff) {
    memset(bytes, 0, (size_t)(LIMBS * to.stride));
    return;
  }
  const int power = 127 + 14 - exponent;
  __m512i sum = _mm512_setzero_si512();
  for (int64_t k = 0; k < to.stride; k += LANES) {
    const __m512i whole =
        k < depth ? wholeNumbers(x + k, smaller(LANES, depth - k), power) : _mm512_setzero_si512();
    const __m512i high = _mm512_srai_epi32(_mm512_add_epi32(whole, _mm512_set1_epi32(128)), 8);
    _mm_storeu_si128((__m128i*)(bytes + k), _mm512_cvtepi32_epi8(whole));
    _mm_storeu_si128((__m128i*)(bytes + to.stride + k), _mm512_cvtepi32_epi8(high));
    sum = _mm512_add_epi32(sum, whole);
  }
  to.exponents[row] = (float)-power;
  to.sums[row] = (double)_mm512_reduce_add_epi32(sum);
}

#if defined(__AMX_INT8__)

// Rows of bytes are cut into matrices of about the same height.
static inline int64_t matrixRows(int64_t rows) { return divideUp(rows, divideUp(rows, MATRIX)); }
static inline int64_t paddedRows(int64_t rows) { return roundUp(rows, matrixRows(rows)); }
// A single matrix of rows meets two panels at a time.
static inline int64_t panelsTogether(int64_t rows) { return rows <= MATRIX ? 2 : 1; }

// Where the codes lie that are asked for at a step.
struct CodesAhead {
  const uint32_t* next;
  // Of a panel that is gone through twice, each time asks for half of the lines of the next panel.
  bool isHalf, isSecond;
};

// Two matrices of sums and two of operands at a time: see turned.h.
template <int TALL, int PANELS>
SACCADE_INLINE void byteStep(const int8_t* a, int64_t stride, int64_t rows, const uint32_t* codes,
                             const uint32_t* secondCodes) {
  _tile_loadd(6, codes, STEP_BYTES);
  _tile_loadd(4, a, stride);
  _tile_dpbsud(0, 4, 6);
  if (PANELS > 1) {
    _tile_loadd(6, secondCodes, STEP_BYTES);
    _tile_dpbsud(1, 4, 6);
  }
  if (TALL > 1) {
    _tile_loadd(4, a + rows * stride, stride);
    _tile_dpbsud(1, 4, 6);
  }
}

// Sums of TALL matrices of `rows` rows of bytes and one block of 16 rows of codes, `words` deep, or of
// one and two blocks that are `apart` words from each other. The second sums are `sumsApart` on.
template <int TALL, int PANELS>
static inline void sumBytes(const int8_t* a, int64_t stride, int64_t rows, const uint32_t* codes,
                            int64_t apart, int64_t words, const CodesAhead& ahead, int32_t* sums,
                            int64_t sumsApart) {
  configure(TileConfig(rows, rows));
  _tile_zero(0);
  _tile_zero(1);
  constexpr int64_t AHEAD_WORDS = 64;
  const int64_t whole = words / STEP_WORDS * STEP_WORDS;
  for (int64_t w = 0; w < whole; w += STEP_WORDS) {
    const uint32_t* at = codes + w * ROWS_TOGETHER;
    if (ahead.isHalf) {
      const uint32_t* line = ahead.next + ((ahead.isSecond ? whole : 0) + w) / 2 * ROWS_TOGETHER;
#pragma GCC unroll 8
      for (int64_t i = 0; i < STEP_WORDS / 2; i++) __builtin_prefetch(line + i * ROWS_TOGETHER, 0, 2);
    } else {
      const int64_t later = w + AHEAD_WORDS;
      const uint32_t* line = later < whole ? codes + later * ROWS_TOGETHER
                                           : ahead.next + (later - whole) * ROWS_TOGETHER;
#pragma GCC unroll 16
      for (int64_t i = 0; i < STEP_WORDS; i++) {
        __builtin_prefetch(line + i * ROWS_TOGETHER, 0, 2);
        if (PANELS > 1) __builtin_prefetch(line + apart + i * ROWS_TOGETHER, 0, 2);
      }
    }
    byteStep<TALL, PANELS>(a + 4 * w, stride, rows, at, at + apart);
  }
  if (whole < words) {
    alignas(64) uint32_t last[PANELS][STEP_WORDS * ROWS_TOGETHER] = {};
    for (int p = 0; p < PANELS; p++) {
      memcpy(last[p], codes + p * apart + whole * ROWS_TOGETHER, (size_t)((words - whole) * STEP_BYTES));
    }
    settleMemory();
    byteStep<TALL, PANELS>(a + 4 * whole, stride, rows, last[0], last[PANELS - 1]);
  }
  _tile_stored(0, sums, STEP_BYTES);
  if (TALL > 1 || PANELS > 1) _tile_stored(1, sums + sumsApart, STEP_BYTES);
  settleMemory();
}

// sums[panel][MOST_HEIGHT][16], of `height` rows of bytes and `panels` blocks of 16 rows of codes, as
// many as panelsTogether or fewer. `next`: the codes that the thread takes next.
static inline void sumBytesOf(int64_t height, const int8_t* a, int64_t stride, const uint32_t* codes,
                              int64_t words, int64_t panels, const uint32_t* next, int32_t* sums) {
  const int64_t rows = matrixRows(height), apart = words * ROWS_TOGETHER;
  if (panels > 1) {
    sumBytes<1, 2>(a, stride, rows, codes, apart, words, {next, false, false}, sums,
                   MOST_HEIGHT * ROWS_TOGETHER);
    return;
  }
  const bool isHalf = height > 2 * rows;
  for (int64_t row = 0; row < height; row += 2 * rows) {
    const CodesAhead ahead{next, isHalf, row > 0};
    const int8_t* from = a + row * stride;
    int32_t* to = sums + row * ROWS_TOGETHER;
    if (height - row > rows) {
      sumBytes<2, 1>(from, stride, rows, codes, 0, words, ahead, to, rows * ROWS_TOGETHER);
    } else {
      sumBytes<1, 1>(from, stride, rows, codes, 0, words, ahead, to, 0);
    }
  }
}

#else

static inline int64_t paddedRows(int64_t rows) { return rows; }
static inline int64_t panelsTogether(int64_t) { return 1; }
// Rows of x at a time: so many sums hide what each of them waits for the one before.
constexpr int64_t ROWS_AT_ONCE = 8;
// Words of codes that stay in L1 while rows of x meet them: 16 KiB.
constexpr int64_t SEGMENT_WORDS = 256;

// sum + Σ of four products of an unsigned and a signed byte, per word; the signed ones at `bytes` for all.
SACCADE_INLINE __m512i addBytes(__m512i sum, __m512i codes, const int8_t* bytes) {
#if defined(__AVX512VNNI__)
  // GCC 12 would load them apart, and copy each sum twice.
  asm("vpdpbusd %1%{1to16%}, %2, %0" : "+v"(sum) : "m"(*(const int8_t(*)[4])bytes), "v"(codes));
  return sum;
#else
  int32_t word;
  memcpy(&word, bytes, sizeof word);
  const __m512i four = _mm512_set1_epi32(word), lower = _mm512_set1_epi16(0xff);
  const __m512i even = _mm512_madd_epi16(_mm512_and_si512(codes, lower),
                                         _mm512_srai_epi16(_mm512_slli_epi16(four, 8), 8));
  const __m512i odd = _mm512_madd_epi16(_mm512_srli_epi16(codes, 8), _mm512_srai_epi16(four, 8));
  return _mm512_add_epi32(sum, _mm512_add_epi32(even, odd));
#endif
}

// A segment of codes, and the one that the thread takes next.
struct Segment {
  const uint32_t *codes, *next;
  int64_t words;
};

// Adds a segment of depth to the sums of ROWS rows of x. Of `passes` over the segment, the one numbered
// `pass` asks for its share of the next.
template <int ROWS>
static inline void addSegment(const int8_t* a, int64_t stride, const Segment& segment, int64_t pass,
                              int64_t passes, bool isFirst, int32_t* sums) {
  constexpr int COUNT = ROWS * LIMBS;
  __m512i total[COUNT];
  for (int i = 0; i < COUNT; i++) {
    total[i] = isFirst ? _mm512_setzero_si512() : _mm512_loadu_si512(sums + i * ROWS_TOGETHER);
  }
  const uint32_t *codes = segment.codes, *next = segment.next + segment.words * pass / passes * ROWS_TOGETHER;
  // Each line is asked for as often as there are passes: that takes less than to count.
  const int64_t share = 256 / passes;
  for (int64_t w = 0; w < segment.words; w++, codes += ROWS_TOGETHER) {
    __builtin_prefetch(next + (w * share >> 8) * ROWS_TOGETHER, 0, 2);
    const __m512i four = _mm512_loadu_si512(codes);
#pragma GCC unroll 16
    for (int i = 0; i < COUNT; i++) total[i] = addBytes(total[i], four, a + i * stride + 4 * w);
  }
  for (int i = 0; i < COUNT; i++) _mm512_storeu_si512(sums + i * ROWS_TOGETHER, total[i]);
}

// sums[height][16], of `height` rows of bytes and one block of 16 rows of codes. `next`: the codes that the
// thread takes next.
static inline void sumBytesOf(int64_t height, const int8_t* a, int64_t stride, const uint32_t* codes,
                              int64_t words, int64_t, const uint32_t* next, int32_t* sums) {
  constexpr int64_t EACH = ROWS_AT_ONCE * LIMBS;
  const int64_t passes = divideUp(height, EACH);
  for (int64_t w = 0; w < words; w += SEGMENT_WORDS) {
    const bool isFirst = w == 0, isLast = w + SEGMENT_WORDS >= words;
    const Segment segment{codes + w * ROWS_TOGETHER,
                          isLast ? next : codes + (w + SEGMENT_WORDS) * ROWS_TOGETHER,
                          smaller(SEGMENT_WORDS, words - w)};
    for (int64_t pass = 0; pass < passes; pass++) {
      const int64_t row = pass * EACH;
      const int8_t* from = a + row * stride + 4 * w;
      int32_t* to = sums + row * ROWS_TOGETHER;
      switch ((height - row) / LIMBS) {
        case 1: addSegment<1>(from, stride, segment, pass, passes, isFirst, to); break;
        case 2: addSegment<2>(from, stride, segment, pass, passes, isFirst, to); break;
        case 3: addSegment<3>(from, stride, segment, pass, passes, isFirst, to); break;
        case 4: addSegment<4>(from, stride, segment, pass, passes, isFirst, to); break;
        case 5: addSegment<5>(from, stride, segment, pass, passes, isFirst, to); break;
        case 6: addSegment<6>(from, stride, segment, pass, passes, isFirst, to); break;
        case 7: addSegment<7>(from, stride, segment, pass, passes, isFirst, to); break;
        default: addSegment<8>(from, stride, segment, pass, passes, isFirst, to);
      }
    }
  }
}

#endif

// Splits the rows of x, on all threads.
static inline ByteRows splitRows(const SaccadeLaunch& launch, int64_t M, const Bf16* x, int64_t K) {
  const int64_t blocks = divideUp(M, BYTE_ROWS), each = blocks == 0 ? 1 : divideUp(M, blocks);
  // A line more keeps rows from falling into the same cache sets.
  const int64_t stride = roundUp(K, STEP_BYTES) + STEP_BYTES;
  const int64_t height = paddedRows(each * LIMBS);
  const ByteRows rows{scratchArray<int8_t>(launch, blocks * height * stride),
                      stride,
                      height,
                      each,
                      blocks,
                      scratchFloats(launch, M),
                      scratchArray<double>(launch, M)};
  parallelFor(launch, M, 0.5 * (double)(M * K),
              [&](int64_t m, int32_t) { splitRow(rows, m, x + m * K, K); });
  // Rows that fill the last matrix of a block: any numbers would do, but not those of other memory.
  for (int64_t block = 0; block < blocks; block++) {
    const int64_t used = smaller(each, M - block * each) * LIMBS;
    memset(rows.bytes + (block * height + used) * stride, 0, (size_t)((height - used) * stride));
  }
  return rows;
}

// 2^exponent, or NaN. From its bits, since each row of x asks for it at each panel: ldexp is a call.
SACCADE_INLINE double unitOf(float exponent) {
  if (exponent != exponent) return (double)exponent;
  const int64_t bits = (1023 + (int64_t)exponent) << 52;
  double unit;
  memcpy(&unit, &bits, sizeof unit);
  return unit;
}

// Outputs of a row and up to 16 rows of codes.
SACCADE_INLINE void storeSums(const int32_t* limbs, double unit, double offset, const float* scales,
                              const Bf16* bias, Bf16* y, int64_t width) {
  const __m512 scale = loadWidth(scales, width);
  const auto half = [&](int64_t at, __m256 by) {
    const __m512d low = _mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i*)(limbs + at)));
    const __m512d high =
        _mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i*)(limbs + ROWS_TOGETHER + at)));
    const __m512d whole = _mm512_sub_pd(_mm512_fmadd_pd(high, _mm512_set1_pd(256.0), low),
                                        _mm512_set1_pd(offset));
    const __m512d scaled = _mm512_mul_pd(_mm512_mul_pd(whole, _mm512_set1_pd(unit)),
                                         _mm512_cvtps_pd(by));
    return _mm512_cvtpd_ps(scaled);
  };
  const __m256 first = half(0, _mm512_castps512_ps256(scale));
  const __m256 second = half(LANES / 2, _mm512_extractf32x8_ps(scale, 1));
  Vec value = (Vec)_mm512_insertf32x8(_mm512_castps256_ps512(first), second, 1);
  if (bias) value = value + loadWidth(bias, width);
  storeWidth(y, value, width);
}

// y = x·wᵀ + b for a weight of 8 bits with a scale for each row.
static inline void multiplyBytes(const SaccadeLaunch& launch, const WeightForm& form, int64_t M,
                                 const Bf16* x, const uint32_t* codes, const float* scales,
                                 const Bf16* bias, Bf16* y) {
  const int64_t K = form.depth, N = form.rows;
  const ByteRows rows = splitRows(launch, M, x, K);
  const int64_t stride = rows.stride, height = rows.height, blocks = rows.blocks;
  const int64_t panels = divideUp(N, ROWS_TOGETHER), together = panelsTogether(height);
  const int64_t threads = launch.runtime->threads, panelWords = form.words * ROWS_TOGETHER;
  // Of many rows a block stays in the cache of its thread while it meets some panels. Few rows are done with
  // a panel as soon as with its hand-over, so they take some where there are enough.
  const int64_t fewEach = larger(1, smaller(4, panels / (8 * threads * together))) * together;
  const int64_t panelsEach = blocks > 1 ? 16 : fewEach, items = divideUp(panels, panelsEach);
  const double work = (double)N * (double)K;
  parallelFor(launch, blocks * items, 0.1 * work * (double)blocks, [&](int64_t item, int32_t) {
    const int64_t block = item % blocks, first = item / blocks * panelsEach;
    const int64_t row = block * rows.each, count = smaller(rows.each, M - row);
    const int64_t end = smaller(panels, first + panelsEach);
    alignas(64) int32_t sums[2 * MOST_HEIGHT * ROWS_TOGETHER];
    for (int64_t panel = first; panel < end; panel += together) {
      const int64_t taken = smaller(together, end - panel);
      // Alone, a thread goes on; of several, each takes an item in turn.
      const int64_t later = panel + together < end ? panel + together : first + threads * panelsEach;
      const uint32_t* next = codes + smaller(later, panels - taken) * panelWords;
      sumBytesOf(height, rows.bytes + block * height * stride, stride, codes + panel * panelWords,
                 form.words, taken, next, sums);
      for (int64_t p = 0; p < taken; p++) {
        const int64_t n = (panel + p) * ROWS_TOGETHER;
        for (int64_t i = 0; i < count; i++) {
          const int32_t* limbs = sums + (p * MOST_HEIGHT + i * LIMBS) * ROWS_TOGETHER;
          storeSums(limbs, unitOf(rows.exponents[row + i]), 128.0 * rows.sums[row + i], scales + n,
                    bias ? bias + n : nullptr, y + (row + i) * N + n, smaller(ROWS_TOGETHER, N - n));
        }
      }
    }
    if (HAS_MATRICES) finishMatrices();
  });
}

#endif

}  // namespace SACCADE_ISA
}  // namespace saccade
