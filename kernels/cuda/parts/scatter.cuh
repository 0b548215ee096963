// into[indexₙ] = xₙ, in place: how a KV cache grows. The last row wins where an index repeats.
//
// Layout: rows of D elements; a warp owns a row of x and copies it if no later row has its index.
// With few rows it looks at all later indices itself, in one launch; with many, the last row of
// each index is found first, by the maximum of the rows that have it.
#pragma once

#include "index-list.cuh"

namespace saccade {

constexpr int64_t FEW_LISTED = 1024;

// Only the rows of `last` that an index points at are written and read.
static __global__ void __launch_bounds__(256) clearLast(IndexList list, int32_t* last) {
  const int64_t n = (int64_t)blockIdx.x * 256 + threadIdx.x;
  if (n < list.count && isInRange(list, n)) last[list.indices[n]] = -1;
}
static __global__ void __launch_bounds__(256) markLast(IndexList list, int32_t* last) {
  const int64_t n = (int64_t)blockIdx.x * 256 + threadIdx.x;
  if (n < list.count && isInRange(list, n)) atomicMax(last + list.indices[n], (int32_t)n);
}

// `last` null: every row looks for itself.
template <class T>
__global__ void __launch_bounds__(COPY_THREADS)
    scatterIndexed(IndexList list, const int32_t* last, const T* x, T* into, int64_t width,
                   bool isAligned) {
  const int64_t n = (int64_t)blockIdx.x * (COPY_THREADS / 32) + threadIdx.x / 32;
  const int lane = (int)threadIdx.x % 32;
  if (n >= list.count) return;
  const int64_t index = list.indices[n];
  if (index < 0 || index >= list.bound) {
    if (lane == 0) isInRange(list, n);
    return;
  }
  if (last) {
    if (last[index] != (int32_t)n) return;
  } else {
    int32_t isLater = 0;
    for (int64_t j = n + 1 + lane; j < list.count; j += 32) isLater |= list.indices[j] == index;
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) isLater |= shuffleXor(isLater, mask);
    if (isLater) return;
  }
  copyRow(into + index * width, x + n * width, width, isAligned, lane);
}

// Operands: into, x, index, into.
template <class T>
int scatterListed(const SaccadeDeviceLaunch* launch, const T* x) {
  const int64_t C = launch->dims[0], D = launch->dims[1], N = launch->dims[2];
  T* into = stored<T>(*launch, 3);
  const IndexList list = {ints(*launch, 2), N, C, 2, refusalOf(*launch)};
  int32_t* last = nullptr;
  if (N > FEW_LISTED) {
    last = scratchArray<int32_t>(*launch, C);
    if (!last) return outOfScratch(*launch);
    const dim3 blocks((unsigned)divideUp(N, 256));
    if (launchKernel(*launch, clearLast, blocks, dim3(256), 0, list, last) ||
        launchKernel(*launch, markLast, blocks, dim3(256), 0, list, last)) {
      return 1;
    }
  }
  return launchKernel(*launch, scatterIndexed<T>, dim3((unsigned)divideUp(N, 8)),
                      dim3(COPY_THREADS), 0, list, last, x, into, D,
                      areAligned({x, into}) && isWholeChunks<T>(D));
}

}  // namespace saccade
