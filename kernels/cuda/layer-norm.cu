// y = w·x̂ + b, x̂ = (x − μ)·rstd, rstd = 1/√(variance + eps), and its gradients.
//
// Layout: x, y [N,D] row-major; rows are owned as in parts/norm-rows.cuh, and the lanes' sums are
// added as a tree. The variance is summed after the mean, since the mean of squares less the square of
// the mean cancels; later readings of a row find it in the L1 cache. dw: a thread owns a chunk of
// columns of 32 rows; then the sums of the 32 are added. db: parts/sum-rows.cuh.
#include "parts/norm-rows.cuh"

namespace saccade {
namespace {

struct Statistics {
  float mean, rstd;
};

template <class T, int LANES>
__device__ __forceinline__ Statistics statisticsOf(const T* x, int64_t D, float eps,
                                                   bool isAligned) {
  float sum = 0;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float values[CHUNK<T>];
    loadChunk(values, x + d, width, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) sum += values[e];
  });
  const float mean = sumOfRow<LANES>(sum) / (float)D;
  float squares = 0;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float values[CHUNK<T>];
    loadChunk(values, x + d, width, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) {
      const float v = e < width ? values[e] - mean : 0.0f;
      squares = fmaf(v, v, squares);
    }
  });
  return {mean, 1.0f / sqrtf(sumOfRow<LANES>(squares) / (float)D + eps)};
}

template <class T, int LANES>
__global__ void __launch_bounds__(ROW_THREADS)
    standardizeRows(const T* x, const T* w, const T* b, T* y, int64_t N, int64_t D, float eps,
                    bool isAligned) {
  const int64_t n = ownRow<LANES>();
  if (n >= N) return;
  const Statistics row = statisticsOf<T, LANES>(x + n * D, D, eps, isAligned);
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float values[CHUNK<T>], weights[CHUNK<T>], biases[CHUNK<T>] = {};
    loadChunk(values, x + n * D + d, width, isWhole);
    loadChunk(weights, w + d, width, isWhole);
    if (b) loadChunk(biases, b + d, width, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) {
      values[e] = (values[e] - row.mean) * row.rstd * weights[e] + biases[e];
    }
    storeChunk(y + n * D + d, values, width, isWhole);
  });
}

// With g = w·dy:  dx = rstd·(g − mean(g) − x̂·mean(g·x̂)). Keeps the statistics of every row. Left to
// itself, nvcc 13.0 spills at 48 registers; four blocks a multiprocessor leave it 64.
template <class T, int LANES>
__global__ void __launch_bounds__(ROW_THREADS, 4)
    differentiateRows(const T* dy, const T* x, const T* w, T* dx, float* means, float* rstds,
                      int64_t N, int64_t D, float eps, bool isAligned) {
  const int64_t n = ownRow<LANES>();
  if (n >= N) return;
  const Statistics row = statisticsOf<T, LANES>(x + n * D, D, eps, isAligned);
  if (threadIdx.x % LANES == 0) {
    means[n] = row.mean;
    rstds[n] = row.rstd;
  }
  if (!dx) return;
  float sum = 0, dot = 0;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float values[CHUNK<T>], gradients[CHUNK<T>], weights[CHUNK<T>];
    loadChunk(values, x + n * D + d, width, isWhole);
    loadChunk(gradients, dy + n * D + d, width, isWhole);
    loadChunk(weights, w + d, width, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) {
      const float g = gradients[e] * weights[e];
      sum += g;
      dot = fmaf(g, (values[e] - row.mean) * row.rstd, dot);
    }
  });
  const float shift = sumOfRow<LANES>(sum) / (float)D;
  const float pull = sumOfRow<LANES>(dot) / (float)D;
  forChunks<T, LANES>(D, isAligned, [&](int64_t d, int64_t width, bool isWhole) {
    float values[CHUNK<T>], gradients[CHUNK<T>], weights[CHUNK<T>];
    loadChunk(values, x + n * D + d, width, isWhole);
    loadChunk(gradients, dy + n * D + d, width, isWhole);
    loadChunk(weights, w + d, width, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) {
      const float normal = (values[e] - row.mean) * row.rstd;
      values[e] = row.rstd * fmaf(-normal, pull, gradients[e] * weights[e] - shift);
    }
    storeChunk(dx + n * D + d, values, width, isWhole);
  });
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const T* x = stored<T>(*launch, 0);
  const T* w = stored<T>(*launch, 1);
  const T* b = stored<T>(*launch, 2);
  T* y = stored<T>(*launch, 3);
  const float eps = (float)launch->scalars[0];
  const bool isAligned = areAligned({x, w, b, y}) && isWholeChunks<T>(D);
  return launchRows(*launch, standardizeRows<T, 32>, standardizeRows<T, ROW_THREADS>, N, D, x, w,
                    b, y, N, D, eps, isAligned);
}

// Operands: dy, x, w, b, y, dx, dw, db.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const T* dy = stored<T>(*launch, 0);
  const T* x = stored<T>(*launch, 1);
  const T* w = stored<T>(*launch, 2);
  T* dx = stored<T>(*launch, 5);
  float* dw = floats(*launch, 6);
  float* db = floats(*launch, 7);
  const float eps = (float)launch->scalars[0];
  if (!dy || N == 0) {
    return fillZeros(*launch, dx, N * D) || fillZeros(*launch, dw, D) || fillZeros(*launch, db, D);
  }
  if (db && sumRows(*launch, dy, N, D, db)) return 1;
  if (!dx && !dw) return 0;
  const bool isAligned = areAligned({dy, x, w, dx}) && isWholeChunks<T>(D);
  float* means = scratchArray<float>(*launch, N);
  float* rstds = scratchArray<float>(*launch, N);
  if (!means || !rstds) return outOfScratch(*launch);
  const int refused =
      launchRows(*launch, differentiateRows<T, 32>, differentiateRows<T, ROW_THREADS>, N, D, dy, x,
                 w, dx, means, rstds, N, D, eps, isAligned);
  if (refused || !dw) return refused;
  return scaleGradient<T>(*launch, dy, x, means, rstds, N, D, isAligned, dw);
}

}  // namespace

SACCADE_KERNEL(layerNorm, "x[N,D]' w[D]+ b[D]+? -> y[N,D]' ; eps",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
