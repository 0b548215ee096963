// Operands of tensor cores: 16 rows × 32 bytes of depth, whatever the storage type.
//
// A lane (g = lane / 4, c = lane % 4) holds four words: rows g and g + 8, then the same of the
// second 16 bytes. That is the left operand of m16n8k16 (16-bit) and of m16n8k8 (tf32) as it
// stands, and the right operands of two neighboring tiles of eight columns, words {0, 2} and {1,
// 3}.
//
// float32 is multiplied as three products of tf32 parts: x = big + rest, both of 11 bits, and
// x·y ≈ rest·big + big·rest + big·big, to about 2⁻²¹ of each product.
#pragma once

#include "panel.cuh"

namespace saccade {

// Elements of depth in a fragment.
template <class T>
constexpr int DEPTH = 32 / (int)sizeof(T);

template <class T>
struct Fragment {
  uint32_t words[4];
};
template <>
struct Fragment<float> {
  uint32_t words[4], rests[4];
};

__device__ __forceinline__ int laneOf(int thread) { return thread & 31; }

template <class T>
__device__ __forceinline__ void complete(Fragment<T>&) {}
// Splits float32 words into their parts.
template <>
__device__ __forceinline__ void complete<float>(Fragment<float>& fragment) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float value = wordAsFloat(fragment.words[i]);
    const uint32_t big = floatToTf32(value);
    fragment.words[i] = big;
    fragment.rests[i] = floatToTf32(value - wordAsFloat(big));
  }
}

// From a panel whose rows lie along the depth: rows [row, row + 16), chunks 2·step and 2·step + 1.
template <class T>
__device__ __forceinline__ void loadAlong(Fragment<T>& fragment, const uint8_t* panel, int row,
                                          int step, int lane) {
  const int r = row + lane % 16, chunk = 2 * step + lane / 16;
  loadMatrices(fragment.words, panel + chunkOffset(r, chunk));
  complete(fragment);
}

// From a panel whose rows are the depth: depths [depth, depth + DEPTH), columns [column, column +
// 16) as the fragment's rows.
template <class T>
__device__ __forceinline__ void loadAcross(Fragment<T>& fragment, const uint8_t* panel, int depth,
                                           int column, int lane) {
  const int r = depth + lane / 16 * 8 + lane % 8, chunk = column / CHUNK<T> + lane / 8 % 2;
  loadMatricesTransposed(fragment.words, panel + chunkOffset(r, chunk));
}
// `stepOf(i)`: the depth of a lane's word in half i.
template <class StepOf>
__device__ __forceinline__ void gatherAcross(Fragment<float>& fragment, const uint8_t* panel,
                                             int column, int lane, const StepOf& stepOf) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int row = stepOf(i / 2), at = column + lane / 4 + 8 * (i % 2);
    fragment.words[i] =
        floatAsWord(*reinterpret_cast<const float*>(panel + elementOffset<float>(row, at)));
  }
  complete(fragment);
}
template <>
__device__ __forceinline__ void loadAcross<float>(Fragment<float>& fragment, const uint8_t* panel,
                                                  int depth, int column, int lane) {
  gatherAcross(fragment, panel, column, lane,
               [=](int half) { return depth + lane % 4 + 4 * half; });
}

// The same in the order of depths that chain() gives its left operand.
template <class T>
__device__ __forceinline__ void loadAcrossChained(Fragment<T>& fragment, const uint8_t* panel,
                                                  int depth, int column, int lane) {
  loadAcross<T>(fragment, panel, depth, column, lane);
}
template <>
__device__ __forceinline__ void loadAcrossChained<float>(Fragment<float>& fragment,
                                                         const uint8_t* panel, int depth,
                                                         int column, int lane) {
  gatherAcross(fragment, panel, column, lane,
               [=](int half) { return depth + 2 * (lane % 4) + half; });
}

// c0, c1 += left · right for the two tiles of eight columns of `right`.
//
// A tile's lane holds columns 2c and 2c + 1 of rows g (places 0, 1) and g + 8 (places 2, 3).
__device__ __forceinline__ void multiply(float (&c0)[4], float (&c1)[4], const Fragment<Bf16>& left,
                                         const Fragment<Bf16>& right) {
  multiplyBf16(c0, left.words, right.words[0], right.words[2]);
  multiplyBf16(c1, left.words, right.words[1], right.words[3]);
}
__device__ __forceinline__ void multiply(float (&c0)[4], float (&c1)[4], const Fragment<F16>& left,
                                         const Fragment<F16>& right) {
  multiplyF16(c0, left.words, right.words[0], right.words[2]);
  multiplyF16(c1, left.words, right.words[1], right.words[3]);
}
__device__ __forceinline__ void multiply(float (&c0)[4], float (&c1)[4],
                                         const Fragment<float>& left,
                                         const Fragment<float>& right) {
  multiplyTf32(c0, left.rests, right.words[0], right.words[2]);
  multiplyTf32(c1, left.rests, right.words[1], right.words[3]);
  multiplyTf32(c0, left.words, right.rests[0], right.rests[2]);
  multiplyTf32(c1, left.words, right.rests[1], right.rests[3]);
  multiplyTf32(c0, left.words, right.words[0], right.words[2]);
  multiplyTf32(c1, left.words, right.words[1], right.words[3]);
}

// The same as a step of a long chain. Tensor cores cut off where they add, which float32 notices
// after some hundred steps of one sign: there they sum a step, and the chain is of additions that
// round.
template <class T>
__device__ __forceinline__ void multiplyStep(float (&c0)[4], float (&c1)[4], const Fragment<T>& left,
                                             const Fragment<T>& right) {
  if constexpr (sizeof(T) == 2) {
    multiply(c0, c1, left, right);
  } else {
    float s0[4] = {}, s1[4] = {};
    multiply(s0, s1, left, right);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      c0[i] += s0[i];
      c1[i] += s1[i];
    }
  }
}

// Tiles of eight columns that make one left operand: the columns of a product as the next one's
// depth.
template <class T>
constexpr int CHAINED_TILES = DEPTH<T> / 8;

template <class T>
__device__ __forceinline__ void chain(Fragment<T>& fragment, const float (*tiles)[4]) {
  fragment.words[0] = packed<T>(tiles[0][0], tiles[0][1]);
  fragment.words[1] = packed<T>(tiles[0][2], tiles[0][3]);
  fragment.words[2] = packed<T>(tiles[1][0], tiles[1][1]);
  fragment.words[3] = packed<T>(tiles[1][2], tiles[1][3]);
}
// Depth 2c + i of a lane stands at place c + 4i, where the right operand has it too.
template <>
__device__ __forceinline__ void chain<float>(Fragment<float>& fragment, const float (*tiles)[4]) {
  fragment.words[0] = floatAsWord(tiles[0][0]);
  fragment.words[1] = floatAsWord(tiles[0][2]);
  fragment.words[2] = floatAsWord(tiles[0][1]);
  fragment.words[3] = floatAsWord(tiles[0][3]);
  complete(fragment);
}

}  // namespace saccade
