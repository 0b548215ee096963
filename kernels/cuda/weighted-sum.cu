// yₜ = Σₖ weightsₜₖ·xₜₖ, dx = weights·dy, dWeights = ⟨dy, x⟩.
//
// Layout: x [T,K,D], weights [T,K], y [T,D], row-major. Forward: a warp owns a token of up to 1024
// elements, a block of 256 threads a longer one; a sum runs over k in order. Backward: the same for a
// row of x; the lanes' sums are added as a tree.
#include "parts/norm-rows.cuh"

namespace saccade {
namespace {

template <class T, int LANES>
__global__ void __launch_bounds__(ROW_THREADS)
    sumWeighted(const T* x, const float* weights, T* y, int64_t N, int64_t K, int64_t D,
                bool isAligned) {
  const int64_t t = ownRow<LANES>();
  if (t >= N) return;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float sums[CHUNK<T>] = {};
    for (int64_t k = t * K; k < (t + 1) * K; k++) {
      float values[CHUNK<T>];
      loadChunk(values, x + k * D + d, width, isWhole);
#pragma unroll
      for (int e = 0; e < CHUNK<T>; e++) sums[e] = fmaf(weights[k], values[e], sums[e]);
    }
    storeChunk(y + t * D + d, sums, width, isWhole);
  });
}

template <class T, int LANES>
__global__ void __launch_bounds__(ROW_THREADS)
    differentiateRows(const T* dy, const T* x, const float* weights, T* dx, float* dWeights,
                      int64_t N, int64_t K, int64_t D, bool isAligned) {
  const int64_t n = ownRow<LANES>();
  if (n >= N) return;
  const T* gradient = dy + n / K * D;
  float dot = 0;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float gradients[CHUNK<T>], values[CHUNK<T>];
    loadChunk(gradients, gradient + d, width, isWhole);
    if (dWeights) {
      loadChunk(values, x + n * D + d, width, isWhole);
#pragma unroll
      for (int e = 0; e < CHUNK<T>; e++) dot = fmaf(gradients[e], values[e], dot);
    }
    if (dx) {
#pragma unroll
      for (int e = 0; e < CHUNK<T>; e++) gradients[e] *= weights[n];
      storeChunk(dx + n * D + d, gradients, width, isWhole);
    }
  });
  if (!dWeights) return;
  dot = sumOfRow<LANES>(dot);
  if (threadIdx.x % LANES == 0) dWeights[n] = dot;
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], K = launch->dims[1], D = launch->dims[2];
  const T* x = stored<T>(*launch, 0);
  T* y = stored<T>(*launch, 2);
  const bool isAligned = areAligned({x, y}) && isWholeChunks<T>(D);
  return launchRows(*launch, sumWeighted<T, 32>, sumWeighted<T, ROW_THREADS>, N, D, x,
                    floats(*launch, 1), y, N, K, D, isAligned);
}

// Operands: dy, x, weights, y, dx, dWeights.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t K = launch->dims[1], D = launch->dims[2], N = launch->dims[0] * K;
  const T* dy = stored<T>(*launch, 0);
  const T* x = stored<T>(*launch, 1);
  T* dx = stored<T>(*launch, 4);
  float* dWeights = floats(*launch, 5);
  if (!dy) return fillZeros(*launch, dx, N * D) || fillZeros(*launch, dWeights, N);
  const bool isAligned = areAligned({dy, x, dx}) && isWholeChunks<T>(D);
  return launchRows(*launch, differentiateRows<T, 32>, differentiateRows<T, ROW_THREADS>, N, D, dy,
                    x, floats(*launch, 2), dx, dWeights, N, K, D, isAligned);
}

}  // namespace

SACCADE_KERNEL(weightedSum, "x[T,K,D]' weights[T,K]'! -> y[T,D]'",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
