// y = x · rstd · w, rstd = 1/√(mean x² + eps), and its gradients.
//
// Layout: x, y [N,D] row-major; rows are owned as in parts/norm-rows.cuh, and the lanes' sums are
// added as a tree. The second reading of a row finds it in the L1 cache. dw: a thread owns a chunk of
// columns of 32 rows; then the sums of the 32 are added (parts/sum-rows.cuh).
#include "parts/norm-rows.cuh"

namespace saccade {
namespace {

__device__ __forceinline__ float reciprocalRms(float squares, int64_t D, float eps) {
  return 1.0f / sqrtf(squares / (float)D + eps);
}

template <class T, int LANES>
__global__ void __launch_bounds__(ROW_THREADS)
    normalizeRows(const T* x, const T* w, T* y, int64_t N, int64_t D, float eps, bool isAligned) {
  const int64_t n = ownRow<LANES>();
  if (n >= N) return;
  float sum = 0;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float values[CHUNK<T>];
    loadChunk(values, x + n * D + d, width, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) sum = fmaf(values[e], values[e], sum);
  });
  const float scale = reciprocalRms(sumOfRow<LANES>(sum), D, eps);
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float values[CHUNK<T>], weights[CHUNK<T>];
    loadChunk(values, x + n * D + d, width, isWhole);
    loadChunk(weights, w + d, width, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) values[e] = values[e] * scale * weights[e];
    storeChunk(y + n * D + d, values, width, isWhole);
  });
}

// With g = w·dy:  dx = rstd·(g − x·rstd²·mean(g·x)). Keeps rstd of every row.
template <class T, int LANES>
__global__ void __launch_bounds__(ROW_THREADS)
    differentiateRows(const T* dy, const T* x, const T* w, T* dx, float* rstds, int64_t N,
                      int64_t D, float eps, bool isAligned) {
  const int64_t n = ownRow<LANES>();
  if (n >= N) return;
  float squares = 0, dot = 0;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float values[CHUNK<T>], gradients[CHUNK<T>], weights[CHUNK<T>];
    loadChunk(values, x + n * D + d, width, isWhole);
    loadChunk(gradients, dy + n * D + d, width, isWhole);
    loadChunk(weights, w + d, width, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) {
      squares = fmaf(values[e], values[e], squares);
      dot = fmaf(gradients[e] * weights[e], values[e], dot);
    }
  });
  const float rstd = reciprocalRms(sumOfRow<LANES>(squares), D, eps);
  const float pull = rstd * rstd * (sumOfRow<LANES>(dot) / (float)D);
  if (threadIdx.x % LANES == 0) rstds[n] = rstd;
  if (!dx) return;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float values[CHUNK<T>], gradients[CHUNK<T>], weights[CHUNK<T>];
    loadChunk(values, x + n * D + d, width, isWhole);
    loadChunk(gradients, dy + n * D + d, width, isWhole);
    loadChunk(weights, w + d, width, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) {
      values[e] = rstd * fmaf(-values[e], pull, gradients[e] * weights[e]);
    }
    storeChunk(dx + n * D + d, values, width, isWhole);
  });
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const T* x = stored<T>(*launch, 0);
  const T* w = stored<T>(*launch, 1);
  T* y = stored<T>(*launch, 2);
  const float eps = (float)launch->scalars[0];
  const bool isAligned = areAligned({x, w, y}) && isWholeChunks<T>(D);
  return launchRows(*launch, normalizeRows<T, 32>, normalizeRows<T, ROW_THREADS>, N, D, x, w, y, N,
                    D, eps, isAligned);
}

// Operands: dy, x, w, y, dx, dw.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const T* dy = stored<T>(*launch, 0);
  const T* x = stored<T>(*launch, 1);
  const T* w = stored<T>(*launch, 2);
  T* dx = stored<T>(*launch, 4);
  float* dw = floats(*launch, 5);
  const float eps = (float)launch->scalars[0];
  if (!dy || N == 0) return fillZeros(*launch, dx, N * D) || fillZeros(*launch, dw, D);
  const bool isAligned = areAligned({dy, x, w, dx}) && isWholeChunks<T>(D);
  float* rstds = scratchArray<float>(*launch, N);
  if (!rstds) return outOfScratch(*launch);
  const int refused =
      launchRows(*launch, differentiateRows<T, 32>, differentiateRows<T, ROW_THREADS>, N, D, dy, x,
                 w, dx, rstds, N, D, eps, isAligned);
  if (refused || !dw) return refused;
  return scaleGradient<T>(*launch, dy, x, nullptr, rstds, N, D, isAligned, dw);
}

}  // namespace

SACCADE_KERNEL(rmsNorm, "x[N,D]' w[D]+ -> y[N,D]' ; eps",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
