// y = x∘w, column by column, and its gradients.
//
// Layout: x, y [N,D] row-major, w [D]; a lane owns chunks of 16 bytes of a row, as in
// parts/norm-rows.cuh. dw: a thread owns a chunk of columns of 32 rows; then the sums of the 32 are
// added.
#include "parts/norm-rows.cuh"

namespace saccade {
namespace {

template <class T, int LANES>
__global__ void __launch_bounds__(ROW_THREADS)
    scaleRows(const T* x, const T* w, T* y, int64_t N, int64_t D, bool isAligned) {
  const int64_t n = ownRow<LANES>();
  if (n >= N) return;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float values[CHUNK<T>], factors[CHUNK<T>];
    loadChunk(values, x + n * D + d, width, isWhole);
    loadChunk(factors, w + d, width, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) values[e] *= factors[e];
    storeChunk(y + n * D + d, values, width, isWhole);
  });
}

// y = x∘w, or its gradient dx = dy∘w.
template <class T>
int scale(const SaccadeDeviceLaunch& launch, const T* x, const T* w, T* y) {
  const int64_t N = launch.dims[0], D = launch.dims[1];
  const bool isAligned = areAligned({x, w, y}) && isWholeChunks<T>(D);
  return launchRows(launch, scaleRows<T, 32>, scaleRows<T, ROW_THREADS>, N, D, x, w, y, N, D,
                    isAligned);
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  return scale<T>(*launch, stored<T>(*launch, 0), stored<T>(*launch, 1), stored<T>(*launch, 2));
}

// Operands: dy, x, w, y, dx, dw.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const T* dy = stored<T>(*launch, 0);
  const T* x = stored<T>(*launch, 1);
  T* dx = stored<T>(*launch, 4);
  float* dw = floats(*launch, 5);
  if (!dy || N == 0) return fillZeros(*launch, dx, N * D) || fillZeros(*launch, dw, D);
  if (dx && scale<T>(*launch, dy, stored<T>(*launch, 2), dx)) return 1;
  if (!dw) return 0;
  const bool isAligned = areAligned({dy, x}) && isWholeChunks<T>(D);
  return scaleGradient<T>(*launch, dy, x, nullptr, nullptr, N, D, isAligned, dw);
}

}  // namespace

SACCADE_KERNEL(scaleColumns, "x[N,D]' w[D]+ -> y[N,D]'",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
