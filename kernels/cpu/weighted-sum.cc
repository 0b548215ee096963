// yₙ = Σₖ wₙₖ·xₙₖ and its gradients.
//
// Layout: x [N,K,D], y [N,D] row-major, w and dw [N,K] in float32. A thread owns runs of 32 rows of y;
// the sum over k is one chain of multiply-adds, that over D runs in LANES partial sums.
#include "parts/row-chunks.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], K = launch->dims[1], D = launch->dims[2];
  const Stored* x = stored<Stored>(*launch, 0);
  const float* w = floats(*launch, 1);
  Stored* y = stored<Stored>(*launch, 2);
  forRowChunks(*launch, N, 0.3 * (double)(N * K * D), [&](int64_t, int64_t first, int64_t end) {
    for (int64_t n = first; n < end; n++) {
      forLanes(D, [&](int64_t d, int64_t width) {
        Vec sum{};
        for (int64_t k = 0; k < K; k++) {
          sum = fma(splat(w[n * K + k]), loadWidth(x + (n * K + k) * D + d, width), sum);
        }
        storeWidth(y + n * D + d, sum, width);
      });
    }
  });
  return 0;
}

// Operands: dy, x, w, y, dx, dw.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], K = launch->dims[1], D = launch->dims[2];
  const Stored* dy = stored<Stored>(*launch, 0);
  const Stored* x = stored<Stored>(*launch, 1);
  const float* w = floats(*launch, 2);
  Stored* dx = stored<Stored>(*launch, 4);
  float* dw = floats(*launch, 5);
  if (!dy) {
    zero(dx, N * K * D);
    zero(dw, N * K);
    return 0;
  }
  forRowChunks(*launch, N, 0.6 * (double)(N * K * D), [&](int64_t, int64_t first, int64_t end) {
    for (int64_t row = first * K; row < end * K; row++) {
      const Stored* upstream = dy + row / K * D;
      Vec dot{};
      forLanes(D, [&](int64_t d, int64_t width) {
        const Vec gradient = loadWidth(upstream + d, width);
        if (dx) storeWidth(dx + row * D + d, splat(w[row]) * gradient, width);
        if (dw) dot = fma(gradient, loadWidth(x + row * D + d, width), dot);
      });
      if (dw) dw[row] = sumLanes(dot);
    }
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(weightedSum, "x[N,K,D]' w[N,K]'! -> y[N,D]'", SACCADE_STORED(forward),
               SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
