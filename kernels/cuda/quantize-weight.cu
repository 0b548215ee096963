// scale = max |w| of a group of a row, times 1/limit; code = the nearest multiple of the scale.
//
// First a warp owns a group and takes the maximum as a tree, then a thread owns a word of codes. A
// code is guessed by a quotient and corrected by the midpoints on both sides, which are the same on
// every backend.
#include "parts/quantized-weight.cuh"

namespace saccade {
namespace {

constexpr int THREADS = 256;

template <class T>
__global__ void __launch_bounds__(THREADS)
    findScales(const T* w, WeightForm form, int64_t groups, float inverseLimit, float* scales) {
  const int64_t item = (int64_t)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
  if (item >= form.rows * groups) return;
  const int64_t n = item % form.rows, first = item / form.rows * form.group;
  const int64_t end = first + form.group < form.depth ? first + form.group : form.depth;
  float largest = 0;
  for (int64_t k = first + threadIdx.x % 32; k < end; k += 32) {
    largest = fmaxf(largest, fabsf(widened(w[n * form.depth + k])));
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) largest = fmaxf(largest, shuffleXor(largest, mask));
  if (threadIdx.x % 32 == 0) scales[item] = largest * inverseLimit;
}

template <class T, int BITS>
__global__ void __launch_bounds__(THREADS)
    writeCodes(const T* w, const float* scales, WeightForm form, int64_t count, int32_t* codes) {
  constexpr int COUNT = 32 / BITS, OFFSET = 1 << (BITS - 1);
  constexpr float LIMIT = (float)(OFFSET - 1);
  const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (i >= count) return;
  const int64_t lane = i % ROWS_TOGETHER, word = i / ROWS_TOGETHER % form.words;
  const int64_t n = i / (ROWS_TOGETHER * form.words) * ROWS_TOGETHER + lane;
  uint32_t packed = 0;
#pragma unroll
  for (int j = 0; j < COUNT; j++) {
    const int64_t k = word * COUNT + j;
    float size = 0, value = 0;
    if (n < form.rows && k < form.depth) {
      value = widened(w[n * form.depth + k]);
      const float scale = scales[k / form.group * form.rows + n], magnitude = fabsf(value);
      if (scale > 0) size = fminf(floorf(magnitude / scale + 0.5f), LIMIT);
      if (size < LIMIT && magnitude > (size + 0.5f) * scale) size += 1;
      else if (size > 0 && !(magnitude > (size - 0.5f) * scale)) size -= 1;
    }
    const int code = value < 0 ? -(int)size : (int)size;
    packed |= (uint32_t)(code + OFFSET) << shiftOf<BITS>(j);
  }
  codes[i] = (int32_t)packed;
}

// Operands: w, codes, scales, then codes, scales again. Dims: N, K, P, W, L, S.
template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], K = launch->dims[1], P = launch->dims[2];
  const int64_t W = launch->dims[3], S = launch->dims[5];
  const WeightForm form = weightForm(N, K, W, S);
  const bool isByte = bitsOf(K, W) == 8;
  const T* w = stored<T>(*launch, 0);
  float* scales = floats(*launch, 4);
  const float inverseLimit = 1.0f / (isByte ? 127.0f : 7.0f);
  const int refused = launchKernel(*launch, findScales<T>,
                                   dim3((unsigned)divideUp(N * S, THREADS / 32)), dim3(THREADS), 0,
                                   w, form, S, inverseLimit, scales);
  if (refused) return refused;
  const int64_t count = P * W * ROWS_TOGETHER;
  const dim3 grid((unsigned)divideUp(count, THREADS));
  int32_t* codes = ints(*launch, 3);
  return isByte ? launchKernel(*launch, writeCodes<T, 8>, grid, dim3(THREADS), 0, w, scales, form,
                               count, codes)
                : launchKernel(*launch, writeCodes<T, 4>, grid, dim3(THREADS), 0, w, scales, form,
                               count, codes);
}

}  // namespace

SACCADE_KERNEL(quantizeWeight,
               "w[N,K] codes[P,W,L]# scales[S,N]! -> codes[P,W,L]#=codes scales[S,N]!=scales",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace saccade
