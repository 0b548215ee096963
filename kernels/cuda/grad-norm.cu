// total = sum + Σₙ gradₙ², in place; chained over all gradients it gives their global norm squared.
//
// A block owns 16384 elements; thread i adds, in double, chunks i, i + 256, … of them, and the
// threads' sums are added as a tree. One block adds the blocks' sums the same way.
#include "parts/chunk.cuh"
#include "parts/launch.cuh"

namespace saccade {
namespace {

constexpr int THREADS = 256;
constexpr int64_t BLOCK = 16384;
constexpr int SHARED = THREADS * (int)sizeof(double);

// The block's sum, in thread 0.
__device__ double sumOfBlock(double own) {
  double* sums = reinterpret_cast<double*>(sharedMemory());
  const int thread = (int)threadIdx.x;
  sums[thread] = own;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    syncBlock();
    if (thread < half) sums[thread] += sums[thread + half];
  }
  return sums[0];
}

__global__ void __launch_bounds__(THREADS)
    addSquares(const float* grad, int64_t count, bool isAligned, double* parts) {
  const int64_t first = (int64_t)blockIdx.x * BLOCK;
  const int64_t end = first + BLOCK < count ? first + BLOCK : count;
  double sum = 0;
  for (int64_t i = first + 4 * (int64_t)threadIdx.x; i < end; i += 4 * THREADS) {
    float values[4];
    loadChunk(values, grad + i, end - i, isAligned && end - i >= 4);
#pragma unroll
    for (int e = 0; e < 4; e++) sum = fma((double)values[e], (double)values[e], sum);
  }
  sum = sumOfBlock(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(THREADS)
    addBlocks(const double* parts, int64_t count, float* total) {
  double sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += THREADS) sum += parts[i];
  sum = sumOfBlock(sum);
  if (threadIdx.x == 0) total[0] = (float)((double)total[0] + sum);
}

int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], U = launch->dims[1];
  const float* grad = floats(*launch, 0);
  if (U != 1) {
    return fail(*launch, "sum holds %lld numbers, expected 1. Pass a [1] array.", (long long)U);
  }
  const int64_t blocks = divideUp(N, BLOCK);
  double* parts = scratchArray<double>(*launch, blocks);
  if (!parts) return outOfScratch(*launch);
  if (launchKernel(*launch, addSquares, dim3((unsigned)blocks), dim3(THREADS), SHARED, grad, N,
                   areAligned({grad}), parts)) {
    return 1;
  }
  return launchKernel(*launch, addBlocks, dim3(1), dim3(THREADS), SHARED, parts, blocks,
                      floats(*launch, 2));
}

}  // namespace

SACCADE_KERNEL(gradNorm, "grad[N]! sum[U]! -> total[U]!=sum", SACCADE_FLOAT32(forward),
               SACCADE_ABSENT)

}  // namespace saccade
