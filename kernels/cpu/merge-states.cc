// Attention over the union of two sets of keys, from its results over each:
//
//   lse = ln(e^aLse + e^bLse);  out = α·a + β·b;  α = e^(aLse − lse), β = e^(bLse − lse)
//
// Layout: a, b, out [T,H,D]; aLse, bLse, lse [H,T]. A thread owns LANES tokens, whose shares of one
// head are made in one vector.
#include "parts/elementwise.h"
#include "parts/math.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

struct Shares {
  float alpha[LANES];
  float beta[LANES];
};

// Shares and lse of `count` rows; both sides −∞ give shares of 0.
Vec share(const float* aLse, const float* bLse, int64_t count, Shares* shares) {
  const Vec a = loadWidth(aLse, count), b = loadWidth(bLse, count);
  const Vec lowest = splat(-__builtin_inff());
  const Vec highest = maximum(a, b);
  const Vec shift = selectGreater(highest, lowest, highest, Vec{});
  const Vec alpha = exponential(a - shift), beta = exponential(b - shift);
  const Vec sum = alpha + beta;
  // The sum is at least 1 unless both are −∞.
  const Vec half = splat(0.5f);
  const Vec scale = selectGreater(half, sum, Vec{}, splat(1.0f) / sum);
  store(shares->alpha, alpha * scale);
  store(shares->beta, beta * scale);
  return selectGreater(half, sum, lowest, shift + logarithm(sum));
}

// Runs body(first, count, h, shares, lse) over the rows of LANES tokens and one head.
template <class Body>
void forShares(const SaccadeLaunch& launch, const float* aLse, const float* bLse,
               const Body& body) {
  const int64_t T = launch.dims[0], H = launch.dims[1], D = launch.dims[2];
  parallelFor(launch, divideUp(T, LANES), (double)(T * H * D), [&](int64_t item, int32_t) {
    const int64_t first = item * LANES, count = smaller(LANES, T - first);
    for (int64_t h = 0; h < H; h++) {
      Shares shares;
      const Vec lse = share(aLse + h * T + first, bLse + h * T + first, count, &shares);
      body(first, count, h, shares, lse);
    }
  });
}

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t T = launch->dims[0], H = launch->dims[1], D = launch->dims[2];
  const Stored* a = stored<Stored>(*launch, 0);
  const Stored* b = stored<Stored>(*launch, 2);
  Stored* out = stored<Stored>(*launch, 4);
  float* lse = floats(*launch, 5);
  forShares(*launch, floats(*launch, 1), floats(*launch, 3),
            [&](int64_t first, int64_t count, int64_t h, const Shares& shares, Vec sum) {
    storeWidth(lse + h * T + first, sum, count);
    for (int64_t i = 0; i < count; i++) {
      const int64_t row = ((first + i) * H + h) * D;
      const Vec alpha = splat(shares.alpha[i]), beta = splat(shares.beta[i]);
      forLanes(D, [&](int64_t d, int64_t width) {
        const Vec other = beta * loadWidth(b + row + d, width);
        storeWidth(out + row + d, fma(alpha, loadWidth(a + row + d, width), other), width);
      });
    }
  });
  return 0;
}

template <class Stored>
SACCADE_INLINE void storeScaled(Stored* to, const Stored* from, float factor, int64_t D) {
  forLanes(D, [&](int64_t d, int64_t width) {
    storeWidth(to + d, loadWidth(from + d, width) * splat(factor), width);
  });
}

// Operands: dOut, dLse, a, aLse, b, bLse, out, lse, da, daLse, db, dbLse.
//   da = α·dout;  daLse = α·(β·Σ_d dout∘(a − b) + dlse);  b's alike, with the sign of a − b turned
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t T = launch->dims[0], H = launch->dims[1], D = launch->dims[2];
  const Stored* dOut = stored<Stored>(*launch, 0);
  const float* dLse = floats(*launch, 1);
  const Stored* a = stored<Stored>(*launch, 2);
  const Stored* b = stored<Stored>(*launch, 4);
  Stored* da = stored<Stored>(*launch, 8);
  float* daLse = floats(*launch, 9);
  Stored* db = stored<Stored>(*launch, 10);
  float* dbLse = floats(*launch, 11);
  if (!dOut) {
    zero(da, T * H * D);
    zero(db, T * H * D);
  }
  forShares(*launch, floats(*launch, 3), floats(*launch, 5),
            [&](int64_t first, int64_t count, int64_t h, const Shares& shares, Vec) {
    for (int64_t i = 0; i < count; i++) {
      const int64_t row = ((first + i) * H + h) * D, at = h * T + first + i;
      const float alpha = shares.alpha[i], beta = shares.beta[i];
      const float upstream = dLse ? dLse[at] : 0.0f;
      float difference = 0.0f;
      if (dOut) {
        Vec sum{};
        forLanes(D, [&](int64_t d, int64_t width) {
          const Vec apart = loadWidth(a + row + d, width) - loadWidth(b + row + d, width);
          sum = fma(loadWidth(dOut + row + d, width), apart, sum);
        });
        difference = sumLanes(sum);
        if (da) storeScaled(da + row, dOut + row, alpha, D);
        if (db) storeScaled(db + row, dOut + row, beta, D);
      }
      if (daLse) daLse[at] = alpha * (upstream + beta * difference);
      if (dbLse) dbLse[at] = beta * (upstream - alpha * difference);
    }
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(mergeStates,
               "a[T,H,D]' aLse[H,T]'! b[T,H,D]' bLse[H,T]'! -> out[T,H,D]' lse[H,T]'!",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
