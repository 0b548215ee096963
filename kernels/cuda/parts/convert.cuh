// Float32 arrays rounded to 16 bits, and back.
#pragma once

#include "launch.cuh"

namespace saccade {

constexpr int CONVERT_THREADS = 256;

template <class From, class To>
__global__ void __launch_bounds__(CONVERT_THREADS)
    convertElements(const From* from, To* to, int64_t count) {
  const int64_t i = (int64_t)blockIdx.x * CONVERT_THREADS + threadIdx.x;
  if (i < count) to[i] = rounded<To>(widened(from[i]));
}

template <class From, class To>
int convert(const SaccadeDeviceLaunch& launch, const From* from, To* to, int64_t count) {
  const dim3 blocks((unsigned)divideUp(count, CONVERT_THREADS));
  return launchKernel(launch, convertElements<From, To>, blocks, dim3(CONVERT_THREADS), 0, from, to,
                      count);
}

}  // namespace saccade
