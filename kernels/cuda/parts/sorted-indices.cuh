// A list of indices in ascending order, equal ones in the order of the list: what rows are added up
// by.
//
// A key is an index over its place in the list, so all keys differ and their order is one. Blocks
// sort tiles of 1024 keys in shared memory; then runs are merged two by two, a thread to a key,
// which finds its place by a binary search of the other run.
#pragma once

#include "index-list.cuh"

namespace saccade {

constexpr int SORT_TILE = 1024;
constexpr int SORT_THREADS = SORT_TILE / 2;
// Behind all others: an index out of range.
constexpr uint64_t NO_KEY = ~(uint64_t)0;

__device__ __forceinline__ int64_t indexOf(uint64_t key) { return (int64_t)(key >> 32); }
__device__ __forceinline__ int64_t placeOf(uint64_t key) { return (int64_t)(uint32_t)key; }

static __global__ void __launch_bounds__(SORT_THREADS, 1)
    sortTiles(IndexList list, uint64_t* keys) {
  uint64_t* tile = reinterpret_cast<uint64_t*>(sharedMemory());
  const int64_t first = (int64_t)blockIdx.x * SORT_TILE;
  for (int i = (int)threadIdx.x; i < SORT_TILE; i += SORT_THREADS) {
    const int64_t place = first + i;
    const bool isKey = place < list.count && isInRange(list, place);
    tile[i] = isKey ? (uint64_t)(uint32_t)list.indices[place] << 32 | (uint64_t)place : NO_KEY;
  }
  // Bitonic: runs of `size` ascend and descend in turn.
  for (int size = 2; size <= SORT_TILE; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      syncBlock();
      const int thread = (int)threadIdx.x;
      const int low = thread / distance * 2 * distance + thread % distance, high = low + distance;
      const uint64_t a = tile[low], b = tile[high];
      if ((a > b) == ((low & size) == 0)) {
        tile[low] = b;
        tile[high] = a;
      }
    }
  }
  syncBlock();
  for (int i = (int)threadIdx.x; i < SORT_TILE; i += SORT_THREADS) {
    if (first + i < list.count) keys[first + i] = tile[i];
  }
}

// Merges the runs of `run` keys two by two.
static __global__ void __launch_bounds__(256)
    mergeRuns(const uint64_t* from, uint64_t* to, int64_t count, int64_t run) {
  const int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
  if (i >= count) return;
  const uint64_t key = from[i];
  const int64_t pair = i / (2 * run) * (2 * run), middle = pair + run;
  const bool isSecond = i >= middle;
  int64_t low = isSecond ? pair : middle;
  int64_t high = isSecond ? middle : middle + run;
  if (low > count) low = count;
  if (high > count) high = count;
  const int64_t other = low;
  // Keys out of range are equal: those of the first run come first.
  while (low < high) {
    const int64_t probe = low + (high - low) / 2;
    if (from[probe] < key || (isSecond && from[probe] == key)) low = probe + 1;
    else high = probe;
  }
  const int64_t own = i - (isSecond ? middle : pair);
  to[pair + own + (low - other)] = key;
}

// The keys of a list in order; null where there is no memory, or a launch was refused.
inline const uint64_t* sortIndices(const SaccadeDeviceLaunch& launch, const IndexList& list) {
  uint64_t* keys = scratchArray<uint64_t>(launch, list.count);
  uint64_t* spare = scratchArray<uint64_t>(launch, list.count);
  if (!keys || !spare) {
    outOfScratch(launch);
    return nullptr;
  }
  if (launchKernel(launch, sortTiles, dim3((unsigned)divideUp(list.count, SORT_TILE)),
                   dim3(SORT_THREADS), SORT_TILE * sizeof(uint64_t), list, keys)) {
    return nullptr;
  }
  for (int64_t run = SORT_TILE; run < list.count; run *= 2) {
    if (launchKernel(launch, mergeRuns, dim3((unsigned)divideUp(list.count, 256)), dim3(256), 0,
                     keys, spare, list.count, run)) {
      return nullptr;
    }
    uint64_t* merged = spare;
    spare = keys;
    keys = merged;
  }
  return keys;
}

}  // namespace saccade
