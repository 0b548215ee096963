// x = table[code] · scale of its block of 256 elements; four codes in an int32, lowest byte first.
//
// A thread owns one element; a thread block shares a scale.
#include "parts/launch.cuh"

namespace saccade {
namespace {

constexpr int BLOCK = 256;

__global__ void __launch_bounds__(BLOCK)
    dequantize(const int32_t* codes, const float* scales, const float* table, int64_t count,
               float* x) {
  const int64_t n = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (n >= count) return;
  const uint32_t word = (uint32_t)codes[n / 4];
  x[n] = table[(word >> (8 * (int)(n % 4))) & 255u] * scales[blockIdx.x];
}

// Operands: codes, scales, table, x, then x again. Dims: W, K, T, N.
int forward(const SaccadeDeviceLaunch* launch) {
  return launchKernel(*launch, dequantize, dim3((unsigned)launch->dims[1]), dim3(BLOCK), 0,
                      ints(*launch, 0), floats(*launch, 1), floats(*launch, 2), launch->dims[3],
                      floats(*launch, 4));
}

}  // namespace

SACCADE_KERNEL(dequantizeBlocks, "codes[W]# scales[K]! table[T]! x[N]! -> x[N]!=x",
               SACCADE_FLOAT32(forward), SACCADE_ABSENT)

}  // namespace saccade
