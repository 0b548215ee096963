// The storage types of operands: float32, bf16 and f16. Kernels widen where they load and round to
// the nearest, ties to even, where they store.
#pragma once

#include "device.cuh"

namespace saccade {

struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

__device__ __forceinline__ float widened(float value) { return value; }
__device__ __forceinline__ float widened(Bf16 value) {
  return wordAsFloat((uint32_t)value.bits << 16);
}
__device__ __forceinline__ float widened(F16 value) { return halfToFloat(value.bits); }

template <class T>
__device__ __forceinline__ T rounded(float value);
template <>
__device__ __forceinline__ float rounded<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ Bf16 rounded<Bf16>(float value) {
  return {floatToBf16(value)};
}
template <>
__device__ __forceinline__ F16 rounded<F16>(float value) {
  return {floatToHalf(value)};
}

// Two neighbors in one word, the first in its low half.
template <class T>
__device__ __forceinline__ uint32_t packed(float first, float second) {
  return (uint32_t)rounded<T>(first).bits | (uint32_t)rounded<T>(second).bits << 16;
}

// Stores two neighbors at an address aligned for both.
template <class T>
__device__ __forceinline__ void storeTwo(T* to, float first, float second) {
  if constexpr (sizeof(T) == 2) {
    *reinterpret_cast<uint32_t*>(to) = packed<T>(first, second);
  } else {
    storePairOfWords(to, floatAsWord(first), floatAsWord(second));
  }
}

}  // namespace saccade
