// The chains of few-rows.h, compiled once per instruction set for all kernels.
#include "few-rows.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// Columns so many bytes apart, or a multiple, lie in one set of L1. Where it has ways for fewer than LANES of them,
// a line that is read in parts comes anew from L2 for each, after the more loads of rows the more there are: then
// it is read once, and all of it is turned.
constexpr int64_t SET_BYTES = 4096;

// Rows from which on that is faster. Of 16 columns, 12 ways (Zen 5) keep most and 8 (Zen 4) half. Zen 4,
// `npm run bench -- decode weights/3b --weights own --conversations 8 --rounds 5 --tokens 17`, in turns: 28.4 and
// 28.1 tokens/s in parts, 29.7 and 32.2 at once.
SACCADE_INLINE int64_t crowdedRows() {
  return rowsOfOneSet() >= LANES / 2 ? 13 : 4;
}

#if defined(__AVX512F__)

SACCADE_INLINE Vec loadBlocks(const char* p, int64_t apart) {
  __m512 four = _mm512_castps128_ps512(_mm_loadu_ps((const float*)p));
  four = _mm512_insertf32x4(four, _mm_loadu_ps((const float*)(p + apart)), 1);
  four = _mm512_insertf32x4(four, _mm_loadu_ps((const float*)(p + 2 * apart)), 2);
  return _mm512_insertf32x4(four, _mm_loadu_ps((const float*)(p + 3 * apart)), 3);
}

// Four words of each column, `bytes` apart, turned: out[j] holds word j of every column.
SACCADE_INLINE void turnFour(Vec (&out)[4], const char* p, int64_t bytes) {
  __m512 in[4];
  for (int i = 0; i < 4; i++) in[i] = loadBlocks(p + i * bytes, 4 * bytes);
  const __m512 low = _mm512_unpacklo_ps(in[0], in[1]), high = _mm512_unpackhi_ps(in[0], in[1]);
  const __m512 low2 = _mm512_unpacklo_ps(in[2], in[3]), high2 = _mm512_unpackhi_ps(in[2], in[3]);
  out[0] = _mm512_shuffle_ps(low, low2, 0x44);
  out[1] = _mm512_shuffle_ps(low, low2, 0xee);
  out[2] = _mm512_shuffle_ps(high, high2, 0x44);
  out[3] = _mm512_shuffle_ps(high, high2, 0xee);
}

#elif defined(__AVX2__)

SACCADE_INLINE void turnFour(Vec (&out)[4], const char* p, int64_t bytes) {
  __m256 in[4];
  for (int i = 0; i < 4; i++) {
    const __m128 first = _mm_loadu_ps((const float*)(p + i * bytes));
    const __m128 second = _mm_loadu_ps((const float*)(p + (i + 4) * bytes));
    in[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(first), second, 1);
  }
  const __m256 low = _mm256_unpacklo_ps(in[0], in[1]), high = _mm256_unpackhi_ps(in[0], in[1]);
  const __m256 low2 = _mm256_unpacklo_ps(in[2], in[3]), high2 = _mm256_unpackhi_ps(in[2], in[3]);
  out[0] = _mm256_shuffle_ps(low, low2, 0x44);
  out[1] = _mm256_shuffle_ps(low, low2, 0xee);
  out[2] = _mm256_shuffle_ps(high, high2, 0x44);
  out[3] = _mm256_shuffle_ps(high, high2, 0xee);
}

#else

SACCADE_INLINE void turnFour(Vec (&out)[4], const char* p, int64_t bytes) {
  float words[4][LANES];
  for (int c = 0; c < LANES; c++) {
    float own[4];
    memcpy(own, p + c * bytes, sizeof own);
    for (int j = 0; j < 4; j++) words[j][c] = own[j];
  }
  memcpy(out, words, sizeof words);
}

#endif

// Continues the chains of ROWS rows by a turned word of 32 bits: a number, a pair that is multiplied
// as one, or two numbers one after the other.
template <class Stored, int ROWS>
SACCADE_INLINE void addWord(Vec (&sums)[ROWS], Vec word, const float* x) {
  constexpr Words WORDS = WordsOf<Stored>::value;
  if constexpr (sizeof(Stored) == sizeof(float) || WORDS == Words::pairs) {
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) sums[i] = multiplyAddAt<WORDS>(x + i, word, sums[i]);
  } else {
    const Vec first = (Vec)((WordVec)word << 16);
    const Vec second = fromBits(bits(word) & (int32_t)0xffff0000);
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) sums[i] = multiplyAddAt<WORDS>(x + i, first, sums[i]);
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) sums[i] = multiplyAddAt<WORDS>(x + ROWS + i, second, sums[i]);
  }
}

template <class Stored>
constexpr int64_t wordsOfFour() {
  return sizeof(Stored) == sizeof(float) || WordsOf<Stored>::value == Words::pairs ? 4 : 8;
}

// The last elements of a chain, less than a line of each column, or columns that are not all there: from
// a copy with zeros beyond. A word of zeros would change a sum of −0, so none is added.
template <class Stored, int ROWS>
SACCADE_INLINE void addRest(Vec (&sums)[ROWS], const StreamedColumns<Stored>& columns, int64_t k,
                            int64_t count, const float* x) {
  constexpr int64_t EACH = 4 / (int64_t)sizeof(Stored);
  alignas(64) char copy[LANES][LINE_BYTES] = {};
  for (int64_t c = 0; c < columns.count; c++) {
    memcpy(copy[c], columns.data + c * columns.stride + k, (size_t)count * sizeof(Stored));
  }
  for (int64_t word = 0; word * EACH < count; word += 4) {
    Vec turned[4];
    turnFour(turned, copy[0] + 4 * word, LINE_BYTES);
    for (int j = 0; j < 4 && (word + j) * EACH < count; j++) {
      const float* at = x + (word + j) * wordsOfFour<Stored>() / 4 * ROWS;
      // The second of two numbers may lie beyond the end.
      if (wordsOfFour<Stored>() == 8 && (word + j) * EACH + 1 == count) {
        const Vec last = (Vec)((WordVec)turned[j] << 16);
        for (int i = 0; i < ROWS; i++) {
          sums[i] = multiplyAddAt<Words::floats>(at + i, last, sums[i]);
        }
      } else {
        addWord<Stored>(sums, turned[j], at);
      }
    }
  }
}

template <class Stored, int ROWS>
void chainOfRows(const float* x, const StreamedColumns<Stored>& columns, int64_t from, int64_t to,
                 Vec* out) {
  constexpr int64_t STEP = LINE_BYTES / (int64_t)sizeof(Stored), AHEAD = 8 * STEP;
  constexpr int64_t FOUR = wordsOfFour<Stored>();
  Vec sums[ROWS] = {};
  int64_t k = from;
  if (columns.count == LANES) {
    const int64_t bytes = columns.stride * (int64_t)sizeof(Stored);
    const bool isCrowded = ROWS >= crowdedRows() && bytes % SET_BYTES == 0;
    const char* p = (const char*)(columns.data + k);
    for (; k + STEP <= to; k += STEP, p += LINE_BYTES) {
      const int64_t later = k + AHEAD, beyond = later - columns.depth;
      const Stored* line = beyond < 0 ? columns.data + later : columns.next + beyond;
#pragma GCC unroll 16
      for (int64_t c = 0; c < LANES; c++) prefetch(line + c * columns.stride);
      if (LANES == 16 && isCrowded) {
        Vec words[LANES];
#pragma GCC unroll 16
        for (int64_t c = 0; c < LANES; c++) words[c] = load((const float*)(p + c * bytes));
        transpose(words);
#pragma GCC unroll 16
        for (int j = 0; j < LANES; j++) addWord<Stored>(sums, words[j], x + j * FOUR / 4 * ROWS);
        x += 4 * FOUR * ROWS;
        continue;
      }
#pragma GCC unroll 4
      for (int64_t part = 0; part < 4; part++, x += FOUR * ROWS) {
        Vec turned[4];
        turnFour(turned, p + part * LINE_BYTES / 4, bytes);
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) addWord<Stored>(sums, turned[j], x + j * FOUR / 4 * ROWS);
      }
    }
  }
  for (; k < to; k += STEP, x += 4 * FOUR * ROWS) {
    addRest(sums, columns, k, smaller(STEP, to - k), x);
  }
  for (int i = 0; i < ROWS; i++) out[i] = sums[i];
}

template <class Stored, int ROWS = 1>
void chainOfAny(int64_t rows, const float* x, const StreamedColumns<Stored>& columns, int64_t from,
                int64_t to, Vec* sums) {
  if (rows == ROWS) return chainOfRows<Stored, ROWS>(x, columns, from, to, sums);
  if constexpr (ROWS < FEW_OF<Stored>) {
    chainOfAny<Stored, ROWS + 1>(rows, x, columns, from, to, sums);
  }
}

}  // namespace

void chainOfFew(int64_t rows, const float* x, const StreamedColumns<float>& columns, int64_t from,
                int64_t to, Vec* sums) {
  chainOfAny(rows, x, columns, from, to, sums);
}

void chainOfFew(int64_t rows, const float* x, const StreamedColumns<Bf16>& columns, int64_t from,
                int64_t to, Vec* sums) {
  chainOfAny(rows, x, columns, from, to, sums);
}

}  // namespace SACCADE_ISA
}  // namespace saccade
