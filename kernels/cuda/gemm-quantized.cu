// y = x·wᵀ + b with a weight of 8 or 4 bits: codes times scales.
//
// A block owns 16 columns of eight rows. Its 256 threads are 16 columns × 16 slices of the depth: a
// slice has every sixteenth word, so a warp reads 128 bytes of codes in a row. Rows of x lie in shared
// memory as float32, 512 of the depth at a time; a thread multiplies a word with all eight. Then the
// slices of an output are added in order. An output's chain depends on K alone.
//
// For few rows, as in decoding: many rows read the codes once for every eight.
#include "parts/quantized-weight.cuh"

namespace saccade {
namespace {

constexpr int ROWS = 8;
constexpr int SLICES = 16;
constexpr int THREADS = ROWS_TOGETHER * SLICES;
constexpr int DEPTH = 512;
// Rows of x, then the sums of the slices.
constexpr int SHARED = ROWS * DEPTH * (int)sizeof(float);
static_assert(SLICES * ROWS * ROWS_TOGETHER <= ROWS * DEPTH, "the sums take the place of the rows");

template <class T, int BITS>
__global__ void __launch_bounds__(THREADS)
    multiplyCodes(const T* x, const uint32_t* codes, const float* scales, const T* bias, T* y,
                  int64_t M, WeightForm form) {
  constexpr int COUNT = 32 / BITS;
  float* shared = reinterpret_cast<float*>(sharedMemory());
  const int thread = (int)threadIdx.x, lane = thread % ROWS_TOGETHER, slice = thread / ROWS_TOGETHER;
  const int64_t K = form.depth, n = (int64_t)blockIdx.x * ROWS_TOGETHER + lane;
  const int64_t row = (int64_t)blockIdx.y * ROWS;
  const uint32_t* own = codes + (int64_t)blockIdx.x * form.words * ROWS_TOGETHER + lane;
  float sums[ROWS] = {};
  for (int64_t first = 0; first < K; first += DEPTH) {
    syncBlock();
    for (int i = thread; i < ROWS * DEPTH; i += THREADS) {
      const int64_t m = row + i / DEPTH, k = first + i % DEPTH;
      shared[i] = m < M && k < K ? widened(x[m * K + k]) : 0.0f;
    }
    syncBlock();
    for (int word = slice; word < DEPTH / COUNT; word += SLICES) {
      const int64_t k = first + word * COUNT;
      if (k >= K || n >= form.rows) continue;
      const uint32_t packed = own[k / COUNT * ROWS_TOGETHER];
      const float scale = scales[k / form.group * form.rows + n];
      float weights[COUNT];
#pragma unroll
      for (int j = 0; j < COUNT; j++) weights[j] = codeOf<BITS>(packed, j) * scale;
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const float* values = shared + r * DEPTH + word * COUNT;
#pragma unroll
        for (int j = 0; j < COUNT; j++) sums[r] = fmaf(values[j], weights[j], sums[r]);
      }
    }
  }
  syncBlock();
#pragma unroll
  for (int r = 0; r < ROWS; r++) shared[(slice * ROWS + r) * ROWS_TOGETHER + lane] = sums[r];
  syncBlock();
  const int64_t m = row + slice;
  if (slice >= ROWS || m >= M || n >= form.rows) return;
  float sum = 0;
  for (int s = 0; s < SLICES; s++) sum += shared[(s * ROWS + slice) * ROWS_TOGETHER + lane];
  if (bias) sum += widened(bias[n]);
  y[m * form.rows + n] = rounded<T>(sum);
}

// Operands: x, codes, scales, b, y. Dims: M, K, P, W, L, S, N.
template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t* dims = launch->dims;
  const int64_t M = dims[0], K = dims[1], P = dims[2], W = dims[3], S = dims[5], N = dims[6];
  const WeightForm form = weightForm(N, K, W, S);
  const T* x = stored<T>(*launch, 0);
  const uint32_t* codes = reinterpret_cast<const uint32_t*>(ints(*launch, 1));
  const float* scales = floats(*launch, 2);
  const T* bias = stored<T>(*launch, 3);
  T* y = stored<T>(*launch, 4);
  const dim3 grid((unsigned)P, (unsigned)divideUp(M, ROWS));
  return bitsOf(K, W) == 8
             ? launchKernel(*launch, multiplyCodes<T, 8>, grid, dim3(THREADS), SHARED, x, codes,
                            scales, bias, y, M, form)
             : launchKernel(*launch, multiplyCodes<T, 4>, grid, dim3(THREADS), SHARED, x, codes,
                            scales, bias, y, M, form);
}

}  // namespace

SACCADE_KERNEL(gemmQuantized, "x[M,K] codes[P,W,L]# scales[S,N]! b[N]? -> y[M,N]",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace saccade
