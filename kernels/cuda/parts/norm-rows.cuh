// Rows that are normalized: who owns what of a row, and the gradient of the scale.
//
// A warp owns a row of up to 1024 elements, a block of 256 threads a longer one; a lane owns every
// 32nd (256th) chunk of 16 bytes.
#pragma once

#include "chunk.cuh"
#include "row-sum.cuh"
#include "sum-rows.cuh"

namespace saccade {

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

// Queues a kernel with one row to a warp, or to a block where rows are long.
template <class Kernel, class... Arguments>
int launchRows(const SaccadeDeviceLaunch& launch, Kernel ofWarp, Kernel ofBlock, int64_t N,
               int64_t D, Arguments... arguments) {
  if (D <= WARP_WIDTH) {
    return launchKernel(launch, ofWarp, dim3((unsigned)divideUp(N, ROW_THREADS / 32)),
                        dim3(ROW_THREADS), 0, arguments...);
  }
  return launchKernel(launch, ofBlock, dim3((unsigned)N), dim3(ROW_THREADS), ROW_SUM_SHARED,
                      arguments...);
}

constexpr int64_t SCALE_ROWS = 32;

// parts[chunk][d] = Σ dy·(x − mean)·rstd over 32 rows; `means` is null where they are 0, `rstds` where
// they are 1. A thread owns a chunk of columns.
template <class T>
__global__ void __launch_bounds__(128)
    sumScaleGradient(const T* dy, const T* x, const float* means, const float* rstds, int64_t N,
                     int64_t D, bool isAligned, int64_t blocksAcross, float* parts) {
  const int64_t chunk = (int64_t)blockIdx.x / blocksAcross;
  const int64_t d = ((int64_t)blockIdx.x % blocksAcross * 128 + threadIdx.x) * CHUNK<T>;
  if (d >= D) return;
  const int64_t first = chunk * SCALE_ROWS;
  const int64_t end = first + SCALE_ROWS < N ? first + SCALE_ROWS : N;
  const bool isWhole = isAligned && D - d >= CHUNK<T>;
  float sums[CHUNK<T>] = {};
#pragma unroll 4
  for (int64_t n = first; n < end; n++) {
    float values[CHUNK<T>], gradients[CHUNK<T>];
    loadChunk(values, x + n * D + d, D - d, isWhole);
    loadChunk(gradients, dy + n * D + d, D - d, isWhole);
    const float mean = means ? means[n] : 0.0f;
    const float rstd = rstds ? rstds[n] : 1.0f;
#pragma unroll
    for (int e = 0; e < CHUNK<T>; e++) {
      sums[e] = fmaf(gradients[e], (values[e] - mean) * rstd, sums[e]);
    }
  }
#pragma unroll
  for (int e = 0; e < CHUNK<T>; e++) {
    if (d + e < D) parts[chunk * D + d + e] = sums[e];
  }
}

// dw[d] = Σ dy·(x − mean)·rstd over the rows.
template <class T>
int scaleGradient(const SaccadeDeviceLaunch& launch, const T* dy, const T* x, const float* means,
                  const float* rstds, int64_t N, int64_t D, bool isAligned, float* dw) {
  const int64_t chunks = divideUp(N, SCALE_ROWS);
  const int64_t blocksAcross = divideUp(D, 128 * CHUNK<T>);
  float* parts = scratchArray<float>(launch, chunks * D);
  if (!parts) return outOfScratch(launch);
  if (launchKernel(launch, sumScaleGradient<T>, dim3((unsigned)(chunks * blocksAcross)), dim3(128),
                   0, dy, x, means, rstds, N, D, isAligned, blocksAcross, parts)) {
    return 1;
  }
  return sumRows<float>(launch, parts, chunks, D, dw);
}

}  // namespace saccade
