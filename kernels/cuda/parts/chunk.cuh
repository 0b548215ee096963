// 16 bytes at a time: the widest a thread loads and stores.
#pragma once

#include <initializer_list>

#include "panel.cuh"

namespace saccade {

inline bool areAligned(std::initializer_list<const void*> pointers) {
  uint64_t bits = 0;
  for (const void* pointer : pointers) bits |= reinterpret_cast<uint64_t>(pointer);
  return bits % 16 == 0;
}
// Rows of `width` elements that begin and end at whole chunks, where the array does.
template <class T>
bool isWholeChunks(int64_t width) {
  return width % CHUNK<T> == 0;
}

__device__ __forceinline__ void unpack(float (&values)[4], const uint32_t (&words)[4], float) {
#pragma unroll
  for (int i = 0; i < 4; i++) values[i] = wordAsFloat(words[i]);
}
template <class T>
__device__ __forceinline__ void unpack(float (&values)[8], const uint32_t (&words)[4], T) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    values[2 * i] = widened(T{(uint16_t)words[i]});
    values[2 * i + 1] = widened(T{(uint16_t)(words[i] >> 16)});
  }
}
__device__ __forceinline__ void pack(uint32_t (&words)[4], const float (&values)[4], float) {
#pragma unroll
  for (int i = 0; i < 4; i++) words[i] = floatAsWord(values[i]);
}
template <class T>
__device__ __forceinline__ void pack(uint32_t (&words)[4], const float (&values)[8], T) {
#pragma unroll
  for (int i = 0; i < 4; i++) words[i] = packed<T>(values[2 * i], values[2 * i + 1]);
}

// `width` elements at `from`, at most CHUNK<T> of them, zeros behind; `isWhole`: all, and aligned.
template <class T>
__device__ __forceinline__ void loadChunk(float (&values)[CHUNK<T>], const T* from, int64_t width,
                                          bool isWhole) {
  if (isWhole) {
    uint32_t words[4];
    loadWords(words, from);
    unpack(values, words, T{});
    return;
  }
#pragma unroll
  for (int i = 0; i < CHUNK<T>; i++) values[i] = i < width ? widened(from[i]) : 0.0f;
}
template <class T>
__device__ __forceinline__ void storeChunk(T* to, const float (&values)[CHUNK<T>], int64_t width,
                                           bool isWhole) {
  if (isWhole) {
    uint32_t words[4];
    pack(words, values, T{});
    storeWords(to, words);
    return;
  }
#pragma unroll
  for (int i = 0; i < CHUNK<T>; i++) {
    if (i < width) to[i] = rounded<T>(values[i]);
  }
}

}  // namespace saccade
