// y = x · rstd · w, rstd = 1/√(mean x² + eps), and its gradients.
//
// Layout: x, y [N,D] row-major. A warp owns a row of up to 1024 elements, a block of 256 threads a
// longer one; a lane owns every 32nd (256th) chunk of 16 bytes, and the lanes' sums are added as a
// tree. The second reading of a row finds it in the L1 cache. dw: a thread owns a chunk of columns
// of 32 rows; then the sums of the 32 are added (parts/sum-rows.cuh).
#include "parts/chunk.cuh"
#include "parts/row-sum.cuh"
#include "parts/sum-rows.cuh"

namespace saccade {
namespace {

// Calls body(d, width, isWhole) for the chunks of a row that a lane owns.
template <class T, int LANES, class Body>
__device__ __forceinline__ void forChunks(int64_t D, bool isAligned, const Body& body) {
  const int lane = (int)threadIdx.x % LANES;
  for (int64_t d = (int64_t)lane * CHUNK<T>; d < D; d += LANES * CHUNK<T>) {
    body(d, D - d, isAligned && D - d >= CHUNK<T>);
  }
}
template <int LANES>
__device__ __forceinline__ int64_t ownRow() {
  return (int64_t)blockIdx.x * (ROW_THREADS / LANES) + threadIdx.x / LANES;
}
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

constexpr int64_t WEIGHT_ROWS = 32;

// parts[chunk][d] = Σ dy·x·rstd over 32 rows.
template <class T>
__global__ void __launch_bounds__(128)
    sumWeightGradient(const T* dy, const T* x, const float* rstds, int64_t N, int64_t D,
                      bool isAligned, int64_t blocksAcross, float* parts) {
  const int64_t chunk = (int64_t)blockIdx.x / blocksAcross;
  const int64_t d = ((int64_t)blockIdx.x % blocksAcross * 128 + threadIdx.x) * CHUNK<T>;
  if (d >= D) return;
  const int64_t first = chunk * WEIGHT_ROWS;
  const int64_t end = first + WEIGHT_ROWS < N ? first + WEIGHT_ROWS : N;
  const bool isWhole = isAligned && D - d >= CHUNK<T>;
  float sums[CHUNK<T>] = {};
#pragma unroll 4
  for (int64_t n = first; n < end; n++) {
    float values[CHUNK<T>], gradients[CHUNK<T>];
    loadChunk(values, x + n * D + d, D - d, isWhole);
    loadChunk(gradients, dy + n * D + d, D - d, isWhole);
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) sums[e] = fmaf(gradients[e], values[e] * rstds[n], sums[e]);
  }
#pragma unroll
  for (int e = 0; e < CHUNK<T>; e++) {
    if (d + e < D) parts[chunk * D + d + e] = sums[e];
  }
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const T* x = stored<T>(*launch, 0);
  const T* w = stored<T>(*launch, 1);
  T* y = stored<T>(*launch, 2);
  const float eps = (float)launch->scalars[0];
  const bool isAligned = areAligned({x, w, y}) && isWholeChunks<T>(D);
  if (D <= WARP_WIDTH) {
    return launchKernel(*launch, normalizeRows<T, 32>, dim3((unsigned)divideUp(N, 8)),
                        dim3(ROW_THREADS), 0, x, w, y, N, D, eps, isAligned);
  }
  return launchKernel(*launch, normalizeRows<T, ROW_THREADS>, dim3((unsigned)N), dim3(ROW_THREADS),
                      ROW_SUM_SHARED, x, w, y, N, D, eps, isAligned);
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
      D <= WARP_WIDTH
          ? launchKernel(*launch, differentiateRows<T, 32>, dim3((unsigned)divideUp(N, 8)),
                         dim3(ROW_THREADS), 0, dy, x, w, dx, rstds, N, D, eps, isAligned)
          : launchKernel(*launch, differentiateRows<T, ROW_THREADS>, dim3((unsigned)N),
                         dim3(ROW_THREADS), ROW_SUM_SHARED, dy, x, w, dx, rstds, N, D, eps,
                         isAligned);
  if (refused || !dw) return refused;
  const int64_t chunks = divideUp(N, WEIGHT_ROWS);
  const int64_t blocksAcross = divideUp(D, 128 * CHUNK<T>);
  float* parts = scratchArray<float>(*launch, chunks * D);
  if (!parts) return outOfScratch(*launch);
  if (launchKernel(*launch, sumWeightGradient<T>, dim3((unsigned)(chunks * blocksAcross)),
                   dim3(128), 0, dy, x, rstds, N, D, isAligned, blocksAcross, parts)) {
    return 1;
  }
  return sumRows<float>(*launch, parts, chunks, D, dw);
}

}  // namespace

SACCADE_KERNEL(rmsNorm, "x[N,D]' w[D]+ -> y[N,D]' ; eps",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
