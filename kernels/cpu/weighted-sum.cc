// yₜ = Σₖ weightsₜₖ·xₜₖ, dx = weights·dy, dWeights = ⟨dy, x⟩.
//
// Layout: x [T,K,D], weights [T,K], y [T,D], row-major. A thread owns 16 tokens; a sum runs over k in
// order, a dot product over D in LANES partial sums folded in a fixed order.
#include "parts/elementwise.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

constexpr int64_t TOKENS = 16;

template <class Body>
void forTokens(const SaccadeLaunch& launch, int64_t T, double nanoseconds, const Body& body) {
  parallelFor(launch, divideUp(T, TOKENS), nanoseconds, [&](int64_t item, int32_t) {
    const int64_t end = smaller(T, (item + 1) * TOKENS);
    for (int64_t t = item * TOKENS; t < end; t++) body(t);
  });
}

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t T = launch->dims[0], K = launch->dims[1], D = launch->dims[2];
  const Stored* x = stored<Stored>(*launch, 0);
  const float* weights = floats(*launch, 1);
  Stored* y = stored<Stored>(*launch, 2);
  forTokens(*launch, T, 0.3 * (double)(T * K * D), [&](int64_t t) {
    forLanes(D, [&](int64_t d, int64_t width) {
      Vec sum{};
      for (int64_t k = t * K; k < (t + 1) * K; k++) {
        sum = fma(splat(weights[k]), loadWidth(x + k * D + d, width), sum);
      }
      storeWidth(y + t * D + d, sum, width);
    });
  });
  return 0;
}

// Operands: dy, x, weights, y, dx, dWeights.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t T = launch->dims[0], K = launch->dims[1], D = launch->dims[2];
  const Stored* dy = stored<Stored>(*launch, 0);
  const Stored* x = stored<Stored>(*launch, 1);
  const float* weights = floats(*launch, 2);
  Stored* dx = stored<Stored>(*launch, 4);
  float* dWeights = floats(*launch, 5);
  if (!dy) {
    zero(dx, T * K * D);
    zero(dWeights, T * K);
    return 0;
  }
  forTokens(*launch, T, 0.6 * (double)(T * K * D), [&](int64_t t) {
    for (int64_t k = t * K; k < (t + 1) * K; k++) {
      Vec dot{};
      forLanes(D, [&](int64_t d, int64_t width) {
        const Vec upstream = loadWidth(dy + t * D + d, width);
        if (dx) storeWidth(dx + k * D + d, splat(weights[k]) * upstream, width);
        if (dWeights) dot = fma(upstream, loadWidth(x + k * D + d, width), dot);
      });
      if (dWeights) dWeights[k] = sumLanes(dot);
    }
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(weightedSum, "x[T,K,D]' weights[T,K]'! -> y[T,D]'", SACCADE_STORED(forward),
               SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
