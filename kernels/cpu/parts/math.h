// exp, log, the logistic function and the normal distribution for vectors. Every lane is computed
// alike, so a value does not depend on where it stands. Errors are the largest found against double
// over a fine grid, on all instruction sets.
//
// The polynomials are minimax fits (Lawson iteration in float64); their errors are given beside
// them. libm's vector functions are avoided: their bits differ between versions of the library.
#pragma once

#include "simd.h"

namespace saccade {
namespace SACCADE_ISA {

// Adding 1.5·2²³ rounds a float of small size to an integer, which then sits in the low bits.
constexpr float ROUNDER = 12582912.0f;
constexpr float LN2_HIGH = 0.693145751953125f;
constexpr float LN2_LOW = 1.42860682030941723212e-6f;

// 2ⁿ of a float to which ROUNDER was added, for n from −126 to 127; any float for others.
SACCADE_INLINE Vec twoToThe(Vec shifted) {
  return (Vec)(((WordVec)shifted << 23) + (127u << 23));
}

// eˣ for x ≤ 88: 0 below −87.3 (no subnormals), NaN for NaN. Relative error below 1e-7.
SACCADE_INLINE Vec exponentialBelow(Vec x) {
  const Vec shifted = fma(x, splat(1.44269504088896341f), splat(ROUNDER));
  const Vec n = shifted - splat(ROUNDER);
  Vec r = fma(n, splat(-LN2_HIGH), x);
  r = fma(n, splat(-LN2_LOW), r);
  // eʳ for |r| ≤ ½ln 2: 3e-9
  Vec p = splat(1.381483780e-3f);
  p = fma(p, r, splat(8.368704247e-3f));
  p = fma(p, r, splat(4.166838270e-2f));
  p = fma(p, r, splat(1.666652075e-1f));
  p = fma(p, r, splat(4.999999348e-1f));
  p = fma(p, r, splat(1.0f));
  p = fma(p, r, splat(1.0f));
  return selectGreater(splat(-87.3f), x, Vec{}, p * twoToThe(shifted));
}

// The same for any x: ∞ above 88.37.
SACCADE_INLINE Vec exponential(Vec x) {
  return selectGreater(x, splat(88.37f), splat(__builtin_inff()), exponentialBelow(x));
}

// 2ˣ for x ≤ 100, as weights of a softmax need it: 0 below −126 (no subnormals), NaN for NaN.
// Relative error below 2e-7; 1 for 0. With AVX-512's own instructions the weights of 24 rows of 64
// keys take 934 cycles on Cascade Lake, with the rounding constant and a shift 1086.
SACCADE_INLINE Vec powerOfTwo(Vec x) {
#if defined(__AVX512F__)
  const Vec r = _mm512_reduce_ps(x, 0);
  const Vec n = x - r;
#else
  const Vec shifted = x + splat(ROUNDER);
  const Vec n = shifted - splat(ROUNDER);
  const Vec r = x - n;
#endif
  // 2ʳ for |r| ≤ ½: 1e-7
  Vec p = splat(1.326472731e-3f);
  p = fma(p, r, splat(9.671512991e-3f));
  p = fma(p, r, splat(5.550733581e-2f));
  p = fma(p, r, splat(2.402224243e-1f));
  p = fma(p, r, splat(6.931470037e-1f));
  p = fma(p, r, splat(1.0f));
#if defined(__AVX512F__)
  const __mmask16 normal = _mm512_cmp_ps_mask(x, splat(-126.0f), _CMP_NLT_UQ);
  return _mm512_maskz_scalef_ps(normal, p, n);
#else
  return selectGreater(splat(-126.0f), x, Vec{}, p * twoToThe(shifted));
#endif
}

// ln x for normal positive x. Relative error below 8e-8 where |ln x| > 1, absolute below 5e-8
// otherwise.
SACCADE_INLINE Vec logarithm(Vec x) {
  constexpr int32_t ROOT_HALF = 0x3f3504f3;
  const IntVec offset = (IntVec)((WordVec)x - (uint32_t)ROOT_HALF);
  const IntVec exponent = offset >> 23;
  const Vec m = fromBits((offset & 0x7fffff) + ROOT_HALF);
  const Vec e = __builtin_convertvector(exponent, Vec);
  const Vec f = m - splat(1.0f);
  // ln(1 + f) = f − f²/2 + f³·q(f), √½ ≤ 1 + f < √2: 6e-9
  Vec q = splat(-7.635473468e-2f);
  q = fma(q, f, splat(1.276159164e-1f));
  q = fma(q, f, splat(-1.315976985e-1f));
  q = fma(q, f, splat(1.420172130e-1f));
  q = fma(q, f, splat(-1.662340184e-1f));
  q = fma(q, f, splat(2.000123090e-1f));
  q = fma(q, f, splat(-2.500081963e-1f));
  q = fma(q, f, splat(3.333333161e-1f));
  const Vec square = f * f;
  Vec y = fma(e, splat(LN2_LOW), q * square * f);
  y = fma(square, splat(-0.5f), y);
  return fma(e, splat(LN2_HIGH), f + y);
}

// σ(x) = 1/(1 + e⁻ˣ)
SACCADE_INLINE Vec logistic(Vec x) { return splat(1.0f) / (splat(1.0f) + exponential(-x)); }

// Φ(x) and φ(x), the standard normal distribution and its density. Φ: absolute error below 1.6e-7,
// relative below 2e-6 down to x = −5.
struct Normal {
  Vec cumulative;
  Vec density;
};

SACCADE_INLINE Vec magnitude(Vec x) { return fromBits(bits(x) & 0x7fffffff); }

SACCADE_INLINE Normal standardNormal(Vec x) {
  const Vec t = magnitude(x) * splat(0.707106781186547524f);
  const Vec gauss = exponential(-(t * t));
  // erfc(t) = e^(−t²)·P(s), s = (t − 2.5)/(t + 2.5), on 0 ≤ t ≤ 9: 1e-9 relative
  const Vec bounded = selectGreater(t, splat(9.0f), splat(9.0f), t);
  const Vec s = (bounded - splat(2.5f)) / (bounded + splat(2.5f));
  Vec p = splat(-3.926272565e-5f);
  p = fma(p, s, splat(-1.138576913e-4f));
  p = fma(p, s, splat(2.366944999e-4f));
  p = fma(p, s, splat(8.710964500e-4f));
  p = fma(p, s, splat(-2.645492241e-3f));
  p = fma(p, s, splat(-3.992922202e-3f));
  p = fma(p, s, splat(3.992299304e-2f));
  p = fma(p, s, splat(-1.250331176e-1f));
  p = fma(p, s, splat(2.517131711e-1f));
  p = fma(p, s, splat(-3.717367320e-1f));
  p = fma(p, s, splat(2.108063642e-1f));
  const Vec tail = splat(0.5f) * gauss * p;
  return {selectGreater(x, Vec{}, splat(1.0f) - tail, tail),
          splat(0.398942280401432678f) * gauss};
}

// The curve that GELU's tanh approximation has for Φ, and its slope:
//
//   ½(1 + tanh u) = σ(2u), u = √(2/π)·(x + 0.044715·x³)      σ(2u)·(1 − σ(2u))·2u′
//
// Beyond |x| = 10 both are 0 or 1 in float32.
SACCADE_INLINE Normal tanhNormal(Vec x) {
  const Vec above = selectGreater(x, splat(10.0f), splat(10.0f), x);
  const Vec bounded = selectGreater(splat(-10.0f), above, splat(-10.0f), above);
  const Vec square = bounded * bounded;
  constexpr float SLOPE = 1.59576912160573071f;  // 2√(2/π)
  const Vec power = exponential(-(bounded * fma(square, splat(0.044715f * SLOPE), splat(SLOPE))));
  const Vec cumulative = splat(1.0f) / (splat(1.0f) + power);
  // 1 − σ without cancellation.
  const Vec rest = power * cumulative;
  const Vec density = cumulative * rest * fma(square, splat(3 * 0.044715f * SLOPE), splat(SLOPE));
  return {cumulative, density};
}

}  // namespace SACCADE_ISA
}  // namespace saccade
