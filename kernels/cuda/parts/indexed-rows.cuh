// Rows found by index: copied from, and added up in an order that needs no atomics.
#pragma once

#include "sorted-indices.cuh"

namespace saccade {

// Rows [0, count) of `first`, then those of `second`, as indices find them.
template <class T>
struct TwoTables {
  const T* first;
  int64_t count;
  const T* second;
};

// to[n] = the row that index n points at; zeros where it points at none. A warp owns a row.
template <class T>
__global__ void __launch_bounds__(COPY_THREADS)
    gatherIndexed(IndexList list, TwoTables<T> tables, T* to, int64_t width, bool isAligned) {
  const int64_t n = (int64_t)blockIdx.x * (COPY_THREADS / 32) + threadIdx.x / 32;
  const int lane = (int)threadIdx.x % 32;
  if (n >= list.count) return;
  const int64_t index = list.indices[n];
  if (index < 0 || index >= list.bound) {
    if (lane == 0) isInRange(list, n);
    for (int64_t d = lane; d < width; d += 32) to[n * width + d] = T{};
    return;
  }
  const T* from = index < tables.count ? tables.first + index * width
                                       : tables.second + (index - tables.count) * width;
  copyRow(to + n * width, from, width, isAligned, lane);
}

template <class T>
int gather(const SaccadeDeviceLaunch& launch, const IndexList& list, const TwoTables<T>& tables,
           T* to, int64_t width) {
  const bool isAligned =
      areAligned({tables.first, tables.second, to}) && isWholeChunks<T>(width);
  return launchKernel(launch, gatherIndexed<T>, dim3((unsigned)divideUp(list.count, 8)),
                      dim3(COPY_THREADS), 0, list, tables, to, width, isAligned);
}

// sums[index − first] = Σ rows[n] over the n of an index in [first, end), in order of n. A block
// owns 128 chunks of the columns of one index: the block at its first key. Four rows are read at a
// time.
template <class T, class Out>
__global__ void __launch_bounds__(128)
    addSorted(const uint64_t* keys, int64_t count, const T* rows, Out* sums, int64_t first,
              int64_t end, int64_t width, int64_t blocksAcross, bool isAligned) {
  constexpr int WIDTH = CHUNK<T>, AHEAD = 4;
  const int64_t i = (int64_t)blockIdx.x / blocksAcross;
  const int64_t d = ((int64_t)blockIdx.x % blocksAcross * 128 + threadIdx.x) * WIDTH;
  const int64_t index = indexOf(keys[i]);
  const bool isOwn = keys[i] != NO_KEY && index >= first && index < end;
  if (!isOwn || d >= width || (i > 0 && indexOf(keys[i - 1]) == index)) return;
  const bool isWhole = isAligned && width - d >= WIDTH;
  float sum[WIDTH] = {};
  bool isMore = true;
  for (int64_t j = i; isMore; j += AHEAD) {
    float values[AHEAD][WIDTH];
    bool isSame[AHEAD];
#pragma unroll
    for (int a = 0; a < AHEAD; a++) {
      const uint64_t key = j + a < count ? keys[j + a] : NO_KEY;
      isSame[a] = indexOf(key) == index;
      if (isSame[a]) loadChunk(values[a], rows + placeOf(key) * width + d, width - d, isWhole);
    }
#pragma unroll
    for (int a = 0; a < AHEAD; a++) {
#pragma unroll
      for (int e = 0; e < WIDTH; e++) sum[e] = isSame[a] ? sum[e] + values[a][e] : sum[e];
    }
    isMore = isSame[AHEAD - 1];
  }
  Out* to = sums + (index - first) * width + d;
#pragma unroll
  for (int part = 0; part < WIDTH; part += CHUNK<Out>) {
    float values[CHUNK<Out>];
#pragma unroll
    for (int e = 0; e < CHUNK<Out>; e++) values[e] = sum[part + e];
    storeChunk(to + part, values, width - d - part, isWhole);
  }
}

// Adds up what the keys from sortIndices point at; rows of `sums` without an index are zero.
template <class T, class Out>
int addUp(const SaccadeDeviceLaunch& launch, const uint64_t* keys, int64_t count, const T* rows,
          Out* sums, int64_t first, int64_t end, int64_t width) {
  if (fillZeros(launch, sums, (end - first) * width)) return 1;
  const int64_t blocksAcross = divideUp(width, 128 * CHUNK<T>);
  return launchKernel(launch, addSorted<T, Out>, dim3((unsigned)(count * blocksAcross)), dim3(128),
                      0, keys, count, rows, sums, first, end, width, blocksAcross,
                      areAligned({rows, sums}) && isWholeChunks<T>(width));
}

}  // namespace saccade
