// A row's sum over the lanes that own it: a warp, or a block of 256 threads.
#pragma once

#include "device.cuh"

namespace saccade {

constexpr int ROW_THREADS = 256;
// Widths up to which a warp owns a row.
constexpr int64_t WARP_WIDTH = 1024;
constexpr int ROW_SUM_SHARED = ROW_THREADS / 32 * (int)sizeof(float);

__device__ __forceinline__ float sumOfWarp(float sum) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) sum += shuffleXor(sum, mask);
  return sum;
}

// The same in all lanes. With a block to a row, all of its threads come here.
template <int LANES>
__device__ __forceinline__ float sumOfRow(float sum) {
  static_assert(LANES == 32 || LANES == ROW_THREADS, "a warp or a block");
  sum = sumOfWarp(sum);
  if constexpr (LANES == ROW_THREADS) {
    float* sums = reinterpret_cast<float*>(sharedMemory());
    const int thread = (int)threadIdx.x;
    // The sums of the call before may still be read.
    syncBlock();
    if (thread % 32 == 0) sums[thread / 32] = sum;
    syncBlock();
    sum = 0;
#pragma unroll
    for (int warp = 0; warp < ROW_THREADS / 32; warp++) sum += sums[warp];
  }
  return sum;
}

}  // namespace saccade
