// The backward of attention, which is compiled by itself: it takes as long as everything else.
#pragma once

#include "attend.cuh"

namespace saccade {

// From the dims T H D G S P and the scalars scale causal window of a launch of `attention`.
inline int readAttention(const SaccadeDeviceLaunch& launch, AttentionShape* shape) {
  const int64_t* dims = launch.dims;
  if (dims[5] != 3) {
    return fail(launch, "a segment has %lld numbers, expected start, end, parent. Pass [S, 3].",
                (long long)dims[5]);
  }
  return readShape(launch, dims[0], dims[1], dims[2], dims[3], launch.scalars[0],
                   launch.scalars[1] != 0, launch.scalars[2], shape);
}

// Operands: dout, dlse, q, k, v, segments, out, lse, dq, dk, dv.
template <class T>
int attentionBackward(const SaccadeDeviceLaunch* launch);

}  // namespace saccade
