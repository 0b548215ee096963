// The storage types of operands: float32, or bf16, the upper half of one. Kernels widen where they
// load and round where they store (to the nearest, ties to even; NaN stays NaN); all sums and
// products in between are float32.
//
// Rounding is done with integers on every instruction set: the conversion instruction of
// AVX512_BF16 makes subnormal numbers zero.
#pragma once

#include "simd.h"

namespace saccade {
namespace SACCADE_ISA {

struct Bf16 {
  uint16_t bits;
};

SACCADE_INLINE float widened(float value) { return value; }
SACCADE_INLINE float widened(Bf16 value) {
  const uint32_t word = (uint32_t)value.bits << 16;
  float out;
  memcpy(&out, &word, sizeof out);
  return out;
}

// The upper halves of the words, rounded; each in the low half of its lane.
SACCADE_INLINE WordVec roundedHalves(Vec v) {
  const WordVec word = (WordVec)v;
  const WordVec nearest = (word + 0x7fffu + ((word >> 16) & 1u)) >> 16;
  const WordVec isNaN = (WordVec)(v != v);
  return (isNaN & ((word >> 16) | 0x40u)) | (~isNaN & nearest);
}

#if defined(__AVX512F__)

SACCADE_INLINE Vec widenHalves(__m256i halves) {
  return (Vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16);
}
SACCADE_INLINE Vec load(const Bf16* p) { return widenHalves(_mm256_loadu_si256((const __m256i*)p)); }
SACCADE_INLINE Vec loadFirst(const Bf16* p, int64_t n) {
  return widenHalves(_mm256_maskz_loadu_epi16(firstLanes(n), p));
}
SACCADE_INLINE __m256i roundToHalves(Vec v) {
  const __m512i word = (__m512i)v;
  const __m512i upper = _mm512_srli_epi32(word, 16);
  const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
  const __m512i nearest = _mm512_srli_epi32(
      _mm512_add_epi32(_mm512_add_epi32(word, _mm512_set1_epi32(0x7fff)), odd), 16);
  const __mmask16 isNaN = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  return _mm512_cvtepi32_epi16(
      _mm512_mask_or_epi32(nearest, isNaN, upper, _mm512_set1_epi32(0x40)));
}
SACCADE_INLINE void store(Bf16* p, Vec v) { _mm256_storeu_si256((__m256i*)p, roundToHalves(v)); }
SACCADE_INLINE void storeFirst(Bf16* p, Vec v, int64_t n) {
  _mm256_mask_storeu_epi16(p, firstLanes(n), roundToHalves(v));
}

#else

#if defined(__AVX2__)
SACCADE_INLINE Vec load(const Bf16* p) {
  const __m128i halves = _mm_loadu_si128((const __m128i*)p);
  return (Vec)_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16);
}
SACCADE_INLINE void store(Bf16* p, Vec v) {
  const __m256i words = (__m256i)roundedHalves(v);
  const __m256i pairs = _mm256_permute4x64_epi64(_mm256_packus_epi32(words, words), 0x08);
  _mm_storeu_si128((__m128i*)p, _mm256_castsi256_si128(pairs));
}
#else
SACCADE_INLINE Vec load(const Bf16* p) {
  WordVec word;
  for (int i = 0; i < LANES; i++) word[i] = (uint32_t)p[i].bits << 16;
  return (Vec)word;
}
SACCADE_INLINE void store(Bf16* p, Vec v) {
  const WordVec halves = roundedHalves(v);
  for (int i = 0; i < LANES; i++) p[i].bits = (uint16_t)halves[i];
}
#endif
SACCADE_INLINE Vec loadFirst(const Bf16* p, int64_t n) {
  Bf16 values[LANES] = {};
  memcpy(values, p, (size_t)n * sizeof(Bf16));
  return load(values);
}
SACCADE_INLINE void storeFirst(Bf16* p, Vec v, int64_t n) {
  Bf16 values[LANES];
  store(values, v);
  memcpy(p, values, (size_t)n * sizeof(Bf16));
}

#endif

template <class T>
SACCADE_INLINE Vec loadWidth(const T* p, int64_t width) {
  return width == LANES ? load(p) : loadFirst(p, width);
}
template <class T>
SACCADE_INLINE void storeWidth(T* p, Vec v, int64_t width) {
  if (width == LANES) store(p, v);
  else storeFirst(p, v, width);
}

// How operands of a product are laid out in words of 32 bits: one float per word, or two neighbors
// along the depth as bf16, the first in the lower half. Pairs are for processors that multiply and
// add them in one instruction.
enum class Words { floats, pairs };

#if defined(__AVX512BF16__) || defined(SACCADE_EMULATE_PAIRS)
constexpr bool HAS_PAIRS = true;
#else
constexpr bool HAS_PAIRS = false;
#endif

template <class Stored>
struct WordsOf {
  static constexpr Words value = Words::floats;
};
template <>
struct WordsOf<Bf16> {
  static constexpr Words value = HAS_PAIRS ? Words::pairs : Words::floats;
};

// Whether the processor multiplies tiles of pairs, as the instruction set avx512amx does.
#if defined(__AMX_BF16__)
constexpr bool HAS_MATRICES = true;
#else
constexpr bool HAS_MATRICES = false;
#endif

// Words that `depth` elements fill.
template <Words WORDS>
SACCADE_INLINE int64_t wordsIn(int64_t depth) {
  return WORDS == Words::pairs ? (depth + 1) / 2 : depth;
}

// sum + a·b of floats, or sum + a₁·b₁ + a₀·b₀ of pairs, in that order, as vdpbf16ps adds them.
template <Words WORDS>
SACCADE_INLINE Vec multiplyAdd(Vec a, Vec b, Vec sum) {
  if (WORDS == Words::floats) return fma(a, b, sum);
#if defined(__AVX512BF16__)
  return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
#else
  // Products of bf16 are exact in float32, so a fused multiply-add rounds as the instruction does.
  constexpr int32_t UPPER = (int32_t)0xffff0000;
  sum = fma(fromBits(bits(a) & UPPER), fromBits(bits(b) & UPPER), sum);
  return fma((Vec)((WordVec)a << 16), (Vec)((WordVec)b << 16), sum);
#endif
}

// Words of two float32 vectors rounded to bf16, `first` in the lower halves.
SACCADE_INLINE Vec pairOf(Vec first, Vec second) {
  return (Vec)(roundedHalves(first) | (roundedHalves(second) << 16));
}

// multiplyAdd with the word at p in every lane of a. AVX-512 loads it in the same instruction if the
// address is one register and a constant; the compiler would load it once for all tile columns.
template <Words WORDS>
SACCADE_INLINE Vec multiplyAddAt(const float* p, Vec b, Vec sum) {
#if defined(__AVX512F__)
  if (WORDS == Words::floats) {
    asm("vfmadd231ps %1%{1to16%}, %2, %0" : "+v"(sum) : "m"(*p), "v"(b));
    return sum;
  }
#if defined(__AVX512BF16__)
  asm("vdpbf16ps %1%{1to16%}, %2, %0" : "+v"(sum) : "m"(*p), "v"(b));
  return sum;
#endif
#endif
  return multiplyAdd<WORDS>(splat(*p), b, sum);
}

// Values where they lie, if they are float32; null if they have to be widened.
SACCADE_INLINE const float* inPlace(const float* values) { return values; }
SACCADE_INLINE const float* inPlace(const Bf16*) { return nullptr; }

// Asks for the line at p, which is needed soon.
template <class Stored>
SACCADE_INLINE void prefetch(const Stored* p) { __builtin_prefetch(p, 0, 2); }

// Asks for a run of elements that is read or written soon: runs so short and far apart that the
// hardware notices them too late.
template <class Stored>
SACCADE_INLINE void prefetchRun(const Stored* p, int64_t count) {
  constexpr int64_t LINE = 64 / (int64_t)sizeof(Stored);
  for (int64_t i = 0; i < count; i += LINE) prefetch(p + i);
}

// Copies `count` elements from one storage type to another.
template <class To, class From>
static inline void convertRun(To* to, const From* from, int64_t count) {
  forLanes(count, [&](int64_t i, int64_t width) {
    storeWidth(to + i, loadWidth(from + i, width), width);
  });
}

}  // namespace SACCADE_ISA
}  // namespace saccade
