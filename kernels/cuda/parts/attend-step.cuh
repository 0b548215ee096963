// The chain of sums of a row of attention where warpgroups multiply (Hopper, 16-bit types): logical
// keys in steps of 128, whose largest score joins the row's once.
//
//   m' = max(m, max s);  w = 2^(u·s − u·m');  keep = 2^(u·(m − m'))
//   total = keep·total + Σ w;  sums = keep·sums + w·v
//
// with raw scores s and u = scale·log₂e > 0. A lane of the four that share a row adds its weights
// up by quarters of 32 keys, so that four warps of a decode, each with a quarter, have the same
// bits.
#pragma once

#include "attend.cuh"

namespace saccade {

constexpr int STEP = 128;
constexpr int QUARTERS = STEP / PART;
constexpr float NOTHING = -INFINITY;

// Whether a launch walks its keys so; decoding asks as training does.
template <class T>
bool walksInSteps(const SaccadeDeviceLaunch& launch, const AttentionShape& shape) {
  return sizeof(T) == 2 && launch.device->computeCapability == 90 && shape.scale > 0.0f;
}

// The largest of a lane's scores of one row, and of the four lanes'.
template <int COUNT>
__device__ __forceinline__ float largestScore(const float (&scores)[COUNT][4], int half) {
  float even = scores[0][2 * half], odd = scores[0][2 * half + 1];
#pragma unroll
  for (int j = 1; j < COUNT; j++) {
    even = fmaxf(even, scores[j][2 * half]);
    odd = fmaxf(odd, scores[j][2 * half + 1]);
  }
  return largestOfQuad(fmaxf(even, odd));
}
// u·m where nothing may have been seen: any shift keeps the unseen at zero.
__device__ __forceinline__ float shiftOfRaw(float largest, float unit) {
  return largest == NOTHING ? 0.0f : roundedProduct(largest, unit);
}
// Turns four tiles of scores of one row, a quarter, into weights and returns the lane's sum.
__device__ __forceinline__ float weighQuarter(float (*scores)[4], int half, float unit, float shift) {
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < PART / 8; j++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      float& score = scores[j][2 * half + p];
      score = powerOfTwo(fmaf(score, unit, -shift));
      sum += score;
    }
  }
  return sum;
}
// The sum of a step from those of its quarters.
__device__ __forceinline__ float sumQuarters(const float (&quarters)[QUARTERS]) {
  return ((quarters[0] + quarters[1]) + quarters[2]) + quarters[3];
}
// Takes a step into a row and returns by what its sums up to now shrink: by exactly 1 if no score
// was larger, so that steps in which a row sees nothing change no bit of it.
__device__ __forceinline__ float joinStep(RowSum* row, float most, float unit, float sum) {
  const float keep =
      row->largest == most ? 1.0f : powerOfTwo((row->largest - most) * unit);
  *row = {most, fmaf(row->total, keep, sum)};
  return keep;
}
// Turns a warp's scores of a step into weights; returns by what the row's sums shrink.
__device__ __forceinline__ float weighStep(float (&scores)[STEP / 8][4], int half, float unit,
                                           RowSum* row) {
  const float most = fmaxf(row->largest, largestScore(scores, half));
  const float shift = shiftOfRaw(most, unit);
  float quarters[QUARTERS];
#pragma unroll
  for (int i = 0; i < QUARTERS; i++) quarters[i] = weighQuarter(scores + 4 * i, half, unit, shift);
  return joinStep(row, most, unit, sumQuarters(quarters));
}
// In units of 1; −∞ for a row that saw nothing.
__device__ __forceinline__ float logSumOf(const RowSum& row, float unit, float sum) {
  return sum > 0.0f ? fmaf(row.largest, unit, log2f(sum)) * LN_2 : -INFINITY;
}

}  // namespace saccade
