// y = w·x̂ + b, x̂ = (x − μ)·rstd, rstd = 1/√(variance + eps), and its gradients.
//
// Layout: x, y [N,D] row-major. A thread owns a chunk of 32 rows; sums over D run in LANES partial
// sums folded in a fixed order, so a row does not depend on its neighbors. The variance is summed
// after the mean, since the mean of squares less the square of the mean cancels. dw, db: one partial
// row per chunk, added in the order of the chunks; the chunk is a constant, so threads change no bit.
#include "parts/row-chunks.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

struct Statistics {
  float mean;
  float rstd;
};

template <class Stored>
Statistics statisticsOf(const Stored* x, int64_t D, float eps) {
  Vec sum{};
  forLanes(D, [&](int64_t d, int64_t width) { sum = sum + loadWidth(x + d, width); });
  const float mean = sumLanes(sum) / (float)D;
  Vec squares{};
  forLanes(D, [&](int64_t d, int64_t width) {
    const Vec v = loadWidth(x + d, width) - splat(mean);
    // Lanes beyond the row hold the mean.
    const Vec own = width == LANES ? v : selectGreater(splat((float)width), laneIndex(), v, Vec{});
    squares = fma(own, own, squares);
  });
  return {mean, 1.0f / __builtin_sqrtf(sumLanes(squares) / (float)D + eps)};
}

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const Stored* x = stored<Stored>(*launch, 0);
  const Stored* w = stored<Stored>(*launch, 1);
  const Stored* b = stored<Stored>(*launch, 2);
  Stored* y = stored<Stored>(*launch, 3);
  const float eps = (float)launch->scalars[0];
  forRowChunks(*launch, N, 0.5 * (double)(N * D), [&](int64_t, int64_t first, int64_t end) {
    for (int64_t n = first; n < end; n++) {
      const Statistics row = statisticsOf(x + n * D, D, eps);
      const Vec mean = splat(row.mean), scale = splat(row.rstd);
      forLanes(D, [&](int64_t d, int64_t width) {
        const Vec normal = (loadWidth(x + n * D + d, width) - mean) * scale;
        const Vec scaled = normal * loadWidth(w + d, width);
        storeWidth(y + n * D + d, b ? scaled + loadWidth(b + d, width) : scaled, width);
      });
    }
  });
  return 0;
}

// Operands: dy, x, w, b, y, dx, dw, db.
// With g = w·dy:  dx = rstd·(g − mean(g) − x̂·mean(g·x̂)).
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const Stored* dy = stored<Stored>(*launch, 0);
  const Stored* x = stored<Stored>(*launch, 1);
  const Stored* w = stored<Stored>(*launch, 2);
  Stored* dx = stored<Stored>(*launch, 5);
  float* dw = floats(*launch, 6);
  float* db = floats(*launch, 7);
  const float eps = (float)launch->scalars[0];
  if (!dy) {
    zero(dx, N * D);
    zero(dw, D);
    zero(db, D);
    return 0;
  }
  const ChunkSums ofW = chunkSums(*launch, dw, N, D), ofB = chunkSums(*launch, db, N, D);
  forRowChunks(*launch, N, 0.9 * (double)(N * D), [&](int64_t chunk, int64_t first, int64_t end) {
    ofW.begin(chunk);
    ofB.begin(chunk);
    for (int64_t n = first; n < end; n++) {
      const Stored* row = x + n * D;
      const Stored* grad = dy + n * D;
      const Statistics own = statisticsOf(row, D, eps);
      const Vec mean = splat(own.mean), scale = splat(own.rstd);
      Vec sum{}, dot{};
      forLanes(D, [&](int64_t d, int64_t width) {
        const Vec g = loadWidth(grad + d, width) * loadWidth(w + d, width);
        sum = sum + g;
        dot = fma(g, (loadWidth(row + d, width) - mean) * scale, dot);
      });
      const Vec shift = splat(sumLanes(sum) / (float)D);
      const Vec pull = splat(sumLanes(dot) / (float)D);
      forLanes(D, [&](int64_t d, int64_t width) {
        const Vec normal = (loadWidth(row + d, width) - mean) * scale;
        const Vec upstream = loadWidth(grad + d, width);
        if (dx) {
          const Vec g = upstream * loadWidth(w + d, width);
          storeWidth(dx + n * D + d, scale * fma(-normal, pull, g - shift), width);
        }
        ofW.add(chunk, d, upstream, normal, width);
        ofB.add(chunk, d, upstream, splat(1.0f), width);
      });
    }
  });
  ofW.finish();
  ofB.finish();
  return 0;
}

}  // namespace

SACCADE_KERNEL(layerNorm, "x[N,D]' w[D]+ b[D]+? -> y[N,D]' ; eps", SACCADE_STORED(forward),
               SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
