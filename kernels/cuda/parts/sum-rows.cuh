// The sum of rows, column by column: chunks of 256 rows, then the chunks' sums the same way.
#pragma once

#include "launch.cuh"

namespace saccade {

constexpr int64_t SUM_ROWS = 256;

// sums[chunk][n] = Σ rows of the chunk; a thread owns a column of a chunk.
template <class T>
__global__ void __launch_bounds__(128)
    sumChunks(const T* rows, int64_t count, int64_t width, int64_t blocksAcross, float* sums) {
  const int64_t chunk = (int64_t)blockIdx.x / blocksAcross;
  const int64_t column = (int64_t)blockIdx.x % blocksAcross * 128 + threadIdx.x;
  if (column >= width) return;
  const int64_t first = chunk * SUM_ROWS;
  const int64_t end = first + SUM_ROWS < count ? first + SUM_ROWS : count;
  float sum = 0;
  for (int64_t row = first; row < end; row++) sum += widened(rows[row * width + column]);
  sums[chunk * width + column] = sum;
}

// sums[n] = Σ over rows [count, width]; zeros if there are none.
template <class T>
int sumRows(const SaccadeDeviceLaunch& launch, const T* rows, int64_t count, int64_t width,
            float* sums) {
  const int64_t chunks = count > SUM_ROWS ? divideUp(count, SUM_ROWS) : 1;
  const int64_t blocksAcross = divideUp(width, 128);
  float* parts = chunks == 1 ? sums : scratchArray<float>(launch, chunks * width);
  if (!parts) return outOfScratch(launch);
  const int refused =
      launchKernel(launch, sumChunks<T>, dim3((unsigned)(chunks * blocksAcross)), dim3(128), 0,
                   rows, count, width, blocksAcross, parts);
  if (refused || chunks == 1) return refused;
  return sumRows<float>(launch, parts, chunks, width, sums);
}

}  // namespace saccade
