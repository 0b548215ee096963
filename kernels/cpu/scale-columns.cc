// y = x∘w, column by column, and its gradients.
//
// Layout: x, y [N,D] row-major, w [D]. A thread owns a chunk of 32 rows. dw: one partial row per chunk,
// added in the order of the chunks (parts/row-chunks.h).
#include "parts/row-chunks.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const Stored* x = stored<Stored>(*launch, 0);
  const Stored* w = stored<Stored>(*launch, 1);
  Stored* y = stored<Stored>(*launch, 2);
  forRowChunks(*launch, N, 0.3 * (double)(N * D), [&](int64_t, int64_t first, int64_t end) {
    for (int64_t n = first; n < end; n++) {
      forLanes(D, [&](int64_t d, int64_t width) {
        storeWidth(y + n * D + d, loadWidth(x + n * D + d, width) * loadWidth(w + d, width), width);
      });
    }
  });
  return 0;
}

// Operands: dy, x, w, y, dx, dw.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const Stored* dy = stored<Stored>(*launch, 0);
  const Stored* x = stored<Stored>(*launch, 1);
  const Stored* w = stored<Stored>(*launch, 2);
  Stored* dx = stored<Stored>(*launch, 4);
  float* dw = floats(*launch, 5);
  if (!dy) {
    zero(dx, N * D);
    zero(dw, D);
    return 0;
  }
  const ChunkSums sums = chunkSums(*launch, dw, N, D);
  forRowChunks(*launch, N, 0.6 * (double)(N * D), [&](int64_t chunk, int64_t first, int64_t end) {
    sums.begin(chunk);
    for (int64_t n = first; n < end; n++) {
      forLanes(D, [&](int64_t d, int64_t width) {
        const Vec upstream = loadWidth(dy + n * D + d, width);
        if (dx) storeWidth(dx + n * D + d, upstream * loadWidth(w + d, width), width);
        sums.add(chunk, d, upstream, loadWidth(x + n * D + d, width), width);
      });
    }
  });
  sums.finish();
  return 0;
}

}  // namespace

SACCADE_KERNEL(scaleColumns, "x[N,D]' w[D]+ -> y[N,D]'", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
