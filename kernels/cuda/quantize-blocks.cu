// scale = max |x| of each block of 256 elements; code = the nearest entry of the table times scale.
//
// A thread block owns a block of elements, a thread one of them: the maximum is taken as a tree in
// shared memory, the code found in eight halvings among the midpoints there; then a quarter of the
// threads pack four codes each into an int32, the first in its lowest byte.
#include "parts/chunk.cuh"
#include "parts/launch.cuh"

namespace saccade {
namespace {

constexpr int BLOCK = 256;
constexpr int CODES = 256;
// Midpoints, then magnitudes, then codes.
constexpr int SHARED = 3 * BLOCK * (int)sizeof(float);

__global__ void __launch_bounds__(BLOCK)
    quantize(const float* x, const float* table, int64_t count, int32_t* codes, float* scales) {
  float* midpoints = reinterpret_cast<float*>(sharedMemory());
  float* magnitudes = midpoints + BLOCK;
  uint32_t* found = reinterpret_cast<uint32_t*>(magnitudes + BLOCK);
  const int thread = (int)threadIdx.x;
  const int64_t n = (int64_t)blockIdx.x * BLOCK + thread;
  const float value = n < count ? x[n] : 0.0f;
  if (thread < CODES - 1) midpoints[thread] = 0.5f * (table[thread] + table[thread + 1]);
  magnitudes[thread] = fabsf(value);
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    syncBlock();
    if (thread < half) magnitudes[thread] = fmaxf(magnitudes[thread], magnitudes[thread + half]);
  }
  syncBlock();
  const float scale = magnitudes[0];
  int code = 0;
  for (int step = CODES / 2; step > 0; step /= 2) {
    const int next = code + step;
    if (next < CODES && value > midpoints[next - 1] * scale) code = next;
  }
  found[thread] = n < count ? (uint32_t)code : 0u;
  syncBlock();
  if (thread == 0) scales[blockIdx.x] = scale;
  const int64_t word = (int64_t)blockIdx.x * (BLOCK / 4) + thread;
  if (thread < BLOCK / 4 && 4 * word < count) {
    const uint32_t* four = found + 4 * thread;
    codes[word] = (int32_t)(four[0] | four[1] << 8 | four[2] << 16 | four[3] << 24);
  }
}

// Operands: x, table, codes, scales, then codes, scales again. Dims: N, T, W, K.
int forward(const SaccadeDeviceLaunch* launch) {
  return launchKernel(*launch, quantize, dim3((unsigned)launch->dims[3]), dim3(BLOCK), SHARED,
                      floats(*launch, 0), floats(*launch, 1), launch->dims[0], ints(*launch, 4),
                      floats(*launch, 5));
}

}  // namespace

SACCADE_KERNEL(quantizeBlocks,
               "x[N]! table[T]! codes[W]# scales[K]! -> codes[W]#=codes scales[K]!=scales",
               SACCADE_FLOAT32(forward), SACCADE_ABSENT)

}  // namespace saccade
