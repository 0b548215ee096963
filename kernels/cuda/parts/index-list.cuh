// A list of indices that rows are found by, and the copying of a row.
#pragma once

#include "chunk.cuh"
#include "launch.cuh"

namespace saccade {

// operand: where in the launch the list is, for a refusal.
struct IndexList {
  const int32_t* indices;
  int64_t count;
  int64_t bound;
  int operand;
  Refusal refusal;
};

// True if the index at `place` may be followed; else it is reported.
__device__ __forceinline__ bool isInRange(const IndexList& list, int64_t place) {
  const int64_t index = list.indices[place];
  if (index >= 0 && index < list.bound) return true;
  expectIndex(list.refusal, list.operand, place, index, 0, list.bound);
  return false;
}

constexpr int COPY_THREADS = 256;

// Copies a row of `width` elements with the lanes of a warp; `isAligned`: both are whole chunks.
template <class T>
__device__ __forceinline__ void copyRow(T* to, const T* from, int64_t width, bool isAligned,
                                        int lane) {
  if (isAligned) {
    for (int64_t d = lane * CHUNK<T>; d < width; d += 32 * CHUNK<T>) {
      uint32_t words[4];
      loadWords(words, from + d);
      storeWords(to + d, words);
    }
    return;
  }
  for (int64_t d = lane; d < width; d += 32) to[d] = from[d];
}

}  // namespace saccade
