// y = x · rstd · w, rstd = 1/√(mean x² + eps), and its gradients.
//
// Layout: x, y [N,D] row-major. A thread owns a chunk of 32 rows; sums over D run in LANES partial
// sums folded in a fixed order, so a row does not depend on its neighbors. dw: one partial row per
// chunk, added in the order of the chunks; the chunk is a constant, so threads change no bit.
#include "parts/row-chunks.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
float reciprocalRms(const Stored* x, int64_t D, float eps) {
  Vec sum{};
  forLanes(D, [&](int64_t d, int64_t width) {
    const Vec v = loadWidth(x + d, width);
    sum = fma(v, v, sum);
  });
  return 1.0f / __builtin_sqrtf(sumLanes(sum) / (float)D + eps);
}

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const Stored* x = stored<Stored>(*launch, 0);
  const Stored* w = stored<Stored>(*launch, 1);
  Stored* y = stored<Stored>(*launch, 2);
  const float eps = (float)launch->scalars[0];
  forRowChunks(*launch, N, 0.3 * (double)(N * D), [&](int64_t, int64_t first, int64_t end) {
    for (int64_t n = first; n < end; n++) {
      const Vec scale = splat(reciprocalRms(x + n * D, D, eps));
      forLanes(D, [&](int64_t d, int64_t width) {
        const Vec normal = loadWidth(x + n * D + d, width) * scale;
        storeWidth(y + n * D + d, normal * loadWidth(w + d, width), width);
      });
    }
  });
  return 0;
}

// Operands: dy, x, w, y, dx, dw.  With g = w·dy:  dx = rstd·(g − x·rstd²·mean(g·x)).
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const Stored* dy = stored<Stored>(*launch, 0);
  const Stored* x = stored<Stored>(*launch, 1);
  const Stored* w = stored<Stored>(*launch, 2);
  Stored* dx = stored<Stored>(*launch, 4);
  float* dw = floats(*launch, 5);
  const float eps = (float)launch->scalars[0];
  if (!dy) {
    zero(dx, N * D);
    zero(dw, D);
    return 0;
  }
  const ChunkSums ofW = chunkSums(*launch, dw, N, D);
  forRowChunks(*launch, N, 0.6 * (double)(N * D), [&](int64_t chunk, int64_t first, int64_t end) {
    ofW.begin(chunk);
    for (int64_t n = first; n < end; n++) {
      const Stored* row = x + n * D;
      const Stored* grad = dy + n * D;
      const float rstd = reciprocalRms(row, D, eps);
      const Vec scale = splat(rstd);
      Vec dot{};
      forLanes(D, [&](int64_t d, int64_t width) {
        const Vec g = loadWidth(grad + d, width) * loadWidth(w + d, width);
        dot = fma(g, loadWidth(row + d, width), dot);
      });
      const Vec pull = splat(rstd * rstd * (sumLanes(dot) / (float)D));
      forLanes(D, [&](int64_t d, int64_t width) {
        const Vec v = loadWidth(row + d, width);
        const Vec upstream = loadWidth(grad + d, width);
        if (dx) {
          const Vec g = upstream * loadWidth(w + d, width);
          storeWidth(dx + n * D + d, scale * fma(-v, pull, g), width);
        }
        ofW.add(chunk, d, upstream, v * scale, width);
      });
    }
  });
  ofW.finish();
  return 0;
}

}  // namespace

SACCADE_KERNEL(rmsNorm, "x[N,D]' w[D]+ -> y[N,D]' ; eps", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
