// yₙ = Σₖ wₙₖ·xₙₖ and its gradients.
//
// Layout: x [N,K,D], y [N,D] row-major, w and dw [N,K] in float32. A warp, or a block where rows are
// long, owns a row of y in the forward and one of x in the backward; a lane owns chunks of 16 bytes
// (parts/norm-rows.cuh). The lanes' parts of dw are added as a tree.
#include "parts/norm-rows.cuh"

namespace saccade {
namespace {

template <class T, int LANES>
__global__ void __launch_bounds__(ROW_THREADS)
    addWeighted(const T* x, const float* w, T* y, int64_t N, int64_t K, int64_t D, bool isAligned) {
  const int64_t n = ownRow<LANES>();
  if (n >= N) return;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float sums[CHUNK<T>] = {};
    for (int64_t row = n * K; row < (n + 1) * K; row++) {
      float values[CHUNK<T>];
      loadChunk(values, x + row * D + d, width, isWhole);
#pragma unroll
      for (int e = 0; e < CHUNK<T>; e++) sums[e] = fmaf(w[row], values[e], sums[e]);
    }
    storeChunk(y + n * D + d, sums, width, isWhole);
  });
}

template <class T, int LANES>
__global__ void __launch_bounds__(ROW_THREADS)
    differentiateWeighted(const T* dy, const T* x, const float* w, T* dx, float* dw, int64_t rows,
                          int64_t K, int64_t D, bool isAligned) {
  const int64_t row = ownRow<LANES>();
  if (row >= rows) return;
  const T* upstream = dy + row / K * D;
  float dot = 0;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float gradients[CHUNK<T>], values[CHUNK<T>];
    loadChunk(gradients, upstream + d, width, isWhole);
    if (dw) {
      loadChunk(values, x + row * D + d, width, isWhole);
#pragma unroll
      for (int e = 0; e < CHUNK<T>; e++) dot = fmaf(gradients[e], values[e], dot);
    }
    if (dx) {
#pragma unroll
      for (int e = 0; e < CHUNK<T>; e++) gradients[e] *= w[row];
      storeChunk(dx + row * D + d, gradients, width, isWhole);
    }
  });
  if (!dw) return;
  const float sum = sumOfRow<LANES>(dot);
  if (threadIdx.x % LANES == 0) dw[row] = sum;
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], K = launch->dims[1], D = launch->dims[2];
  const T* x = stored<T>(*launch, 0);
  T* y = stored<T>(*launch, 2);
  const bool isAligned = areAligned({x, y}) && isWholeChunks<T>(D);
  return launchRows(*launch, addWeighted<T, 32>, addWeighted<T, ROW_THREADS>, N, D, x,
                    floats(*launch, 1), y, N, K, D, isAligned);
}

// Operands: dy, x, w, y, dx, dw.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], K = launch->dims[1], D = launch->dims[2];
  const T* dy = stored<T>(*launch, 0);
  const T* x = stored<T>(*launch, 1);
  T* dx = stored<T>(*launch, 4);
  float* dw = floats(*launch, 5);
  if (!dy) return fillZeros(*launch, dx, N * K * D) || fillZeros(*launch, dw, N * K);
  if (!dx && !dw) return 0;
  const bool isAligned = areAligned({dy, x, dx}) && isWholeChunks<T>(D);
  return launchRows(*launch, differentiateWeighted<T, 32>, differentiateWeighted<T, ROW_THREADS>,
                    N * K, D, dy, x, floats(*launch, 2), dx, dw, N * K, K, D, isAligned);
}

}  // namespace

SACCADE_KERNEL(weightedSum, "x[N,K,D]' w[N,K]'! -> y[N,D]'",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
