// One vector type per instruction set: LANES floats, with the few operations kernels are made of.
//
// A kernel file is compiled once per instruction set; everything it uses lives in the namespace
// saccade::SACCADE_ISA, so no inline function of one build can be linked into another.
// Contraction is off (-ffp-contract=off): a fused multiply-add happens where fma() is written and
// nowhere else, which is what makes results independent of how the compiler shaped a loop.
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define SACCADE_INLINE inline __attribute__((always_inline))

namespace saccade {
namespace SACCADE_ISA {

#if defined(__AVX512F__)
constexpr int LANES = 16;
#elif defined(__AVX2__)
constexpr int LANES = 8;
#else
constexpr int LANES = 4;
#endif

typedef float Vec __attribute__((vector_size(LANES * 4)));
typedef int32_t IntVec __attribute__((vector_size(LANES * 4)));
typedef uint32_t WordVec __attribute__((vector_size(LANES * 4)));

SACCADE_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
SACCADE_INLINE constexpr int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
SACCADE_INLINE int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }
SACCADE_INLINE int64_t roundUp(int64_t a, int64_t b) { return divideUp(a, b) * b; }

#if defined(__AVX512F__)
SACCADE_INLINE Vec splat(float x) { return _mm512_set1_ps(x); }
#elif defined(__AVX2__)
SACCADE_INLINE Vec splat(float x) { return _mm256_set1_ps(x); }
#else
SACCADE_INLINE Vec splat(float x) { return Vec{x, x, x, x}; }
#endif

SACCADE_INLINE Vec load(const float* p) {
  Vec v;
  memcpy(&v, p, sizeof v);
  return v;
}

SACCADE_INLINE void store(float* p, Vec v) { memcpy(p, &v, sizeof v); }

SACCADE_INLINE IntVec bits(Vec v) { return (IntVec)v; }
SACCADE_INLINE Vec fromBits(IntVec v) { return (Vec)v; }

#if defined(__AVX512F__)

SACCADE_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
SACCADE_INLINE Vec squareRoot(Vec a) { return _mm512_sqrt_ps(a); }
// a > b ? x : y, lane by lane; y where a or b is NaN.
SACCADE_INLINE Vec selectGreater(Vec a, Vec b, Vec x, Vec y) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), y, x);
}
SACCADE_INLINE __mmask16 firstLanes(int64_t n) { return (__mmask16)((1u << n) - 1u); }
// The first n lanes of memory, 0 <= n <= LANES; zero beyond, never read.
SACCADE_INLINE Vec loadFirst(const float* p, int64_t n) {
  return _mm512_maskz_loadu_ps(firstLanes(n), p);
}
SACCADE_INLINE void storeFirst(float* p, Vec v, int64_t n) {
  _mm512_mask_storeu_ps(p, firstLanes(n), v);
}

// Past the caches to aligned memory that nobody reads soon; lines are not fetched to be overwritten.
// finishStores comes before others are told.
SACCADE_INLINE void storePast(float* p, Vec v) { _mm512_stream_ps(p, v); }
SACCADE_INLINE void finishStores() { _mm_sfence(); }

#elif defined(__AVX2__)

SACCADE_INLINE void storePast(float* p, Vec v) { _mm256_stream_ps(p, v); }
SACCADE_INLINE void finishStores() { _mm_sfence(); }
SACCADE_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
SACCADE_INLINE Vec squareRoot(Vec a) { return _mm256_sqrt_ps(a); }
SACCADE_INLINE Vec selectGreater(Vec a, Vec b, Vec x, Vec y) {
  return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
}
SACCADE_INLINE __m256i firstLanes(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
SACCADE_INLINE Vec loadFirst(const float* p, int64_t n) {
  return _mm256_maskload_ps(p, firstLanes(n));
}
SACCADE_INLINE void storeFirst(float* p, Vec v, int64_t n) {
  _mm256_maskstore_ps(p, firstLanes(n), v);
}

#else

SACCADE_INLINE void storePast(float* p, Vec v) { store(p, v); }
SACCADE_INLINE void finishStores() {}
#if defined(__aarch64__)
SACCADE_INLINE Vec fma(Vec a, Vec b, Vec c) {
  return (Vec)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
SACCADE_INLINE Vec squareRoot(Vec a) { return (Vec)vsqrtq_f32((float32x4_t)a); }
#else
// Without a fused instruction a multiply-add rounds twice, everywhere alike.
SACCADE_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
#if defined(__SSE2__)
SACCADE_INLINE Vec squareRoot(Vec a) { return _mm_sqrt_ps(a); }
#else
SACCADE_INLINE Vec squareRoot(Vec a) {
  for (int i = 0; i < LANES; i++) a[i] = __builtin_sqrtf(a[i]);
  return a;
}
#endif
#endif
SACCADE_INLINE Vec selectGreater(Vec a, Vec b, Vec x, Vec y) {
  const IntVec mask = (IntVec)(a > b);
  return fromBits((mask & bits(x)) | (~mask & bits(y)));
}
SACCADE_INLINE Vec loadFirst(const float* p, int64_t n) {
  Vec v{};
  memcpy(&v, p, (size_t)n * sizeof(float));
  return v;
}
SACCADE_INLINE void storeFirst(float* p, Vec v, int64_t n) {
  memcpy(p, &v, (size_t)n * sizeof(float));
}

#endif

// b where either is NaN.
#if defined(__AVX512F__)
SACCADE_INLINE Vec maximum(Vec a, Vec b) { return _mm512_max_ps(a, b); }
#elif defined(__AVX2__)
SACCADE_INLINE Vec maximum(Vec a, Vec b) { return _mm256_max_ps(a, b); }
#else
SACCADE_INLINE Vec maximum(Vec a, Vec b) { return selectGreater(a, b, a, b); }
#endif

// The lanes 0, 1, 2, …
SACCADE_INLINE Vec laneIndex() {
  Vec v;
  for (int i = 0; i < LANES; i++) v[i] = (float)i;
  return v;
}

// The upper half of the lanes onto the lower, until one is left: one fixed order of additions.
#if defined(__AVX2__)

SACCADE_INLINE float sumFour(__m128 v) {
  v = _mm_add_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}
SACCADE_INLINE float maxFour(__m128 v) {
  v = _mm_max_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_max_ss(v, _mm_movehdup_ps(v)));
}
SACCADE_INLINE float sumEight(__m256 v) {
  return sumFour(_mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)));
}
SACCADE_INLINE float maxEight(__m256 v) {
  return maxFour(_mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)));
}
#if defined(__AVX512F__)
SACCADE_INLINE float sumLanes(Vec v) {
  return sumEight(_mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)));
}
SACCADE_INLINE float maxLanes(Vec v) {
  return maxEight(_mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)));
}
#else
SACCADE_INLINE float sumLanes(Vec v) { return sumEight(v); }
SACCADE_INLINE float maxLanes(Vec v) { return maxEight(v); }
#endif

#else

SACCADE_INLINE float sumLanes(Vec v) { return (v[0] + v[2]) + (v[1] + v[3]); }
SACCADE_INLINE float maxLanes(Vec v) {
  const float a = v[0] > v[2] ? v[0] : v[2];
  const float b = v[1] > v[3] ? v[1] : v[3];
  return a > b ? a : b;
}

#endif

// Both halves of the 64-bit products of 32-bit words.
struct WordProduct {
  WordVec high;
  WordVec low;
};

#if defined(__AVX512F__)
SACCADE_INLINE WordProduct multiplyWords(WordVec a, uint32_t b) {
  const __m512i factor = _mm512_set1_epi64(b);
  const __m512i even = _mm512_mul_epu32((__m512i)a, factor);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64((__m512i)a, 32), factor);
  return {(WordVec)_mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd),
          (WordVec)_mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32))};
}
#elif defined(__AVX2__)
SACCADE_INLINE WordProduct multiplyWords(WordVec a, uint32_t b) {
  const __m256i factor = _mm256_set1_epi64x(b);
  const __m256i even = _mm256_mul_epu32((__m256i)a, factor);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64((__m256i)a, 32), factor);
  return {(WordVec)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa),
          (WordVec)_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa)};
}
#else
SACCADE_INLINE WordProduct multiplyWords(WordVec a, uint32_t b) {
  WordProduct product;
  for (int i = 0; i < LANES; i++) {
    const uint64_t full = (uint64_t)a[i] * b;
    product.high[i] = (uint32_t)(full >> 32);
    product.low[i] = (uint32_t)full;
  }
  return product;
}
#endif

// Runs body(offset, width) over [0, count): width is LANES except for the last, partial step.
template <class Body>
SACCADE_INLINE void forLanes(int64_t count, Body body) {
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) body(i, (int64_t)LANES);
  if (i < count) body(i, count - i);
}

}  // namespace SACCADE_ISA
}  // namespace saccade
