// total = sum + Σₙ gradₙ², in place; chained over all gradients it gives their global norm squared.
//
// A thread owns chunks of 16384 elements, each summed in eight double lanes folded in a fixed
// order; the chunks are added in order. Nothing depends on the number of threads.
#include "parts/kernel-entry.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

constexpr int64_t CHUNK = 16384;
constexpr int FOLDS = 8;

double sumOfSquares(const float* values, int64_t count) {
  double lane[FOLDS] = {};
  int64_t i = 0;
  for (; i + FOLDS <= count; i += FOLDS) {
    for (int f = 0; f < FOLDS; f++) {
      const double value = (double)values[i + f];
      lane[f] = lane[f] + value * value;
    }
  }
  for (int f = 0; i + f < count; f++) {
    const double value = (double)values[i + f];
    lane[f] = lane[f] + value * value;
  }
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], U = launch->dims[1];
  const float* grad = floats(*launch, 0);
  float* total = floats(*launch, 2);
  if (U != 1) {
    return fail(*launch, "sum holds %lld numbers, expected 1. Pass a [1] array.", (long long)U);
  }
  const int64_t chunks = divideUp(N, CHUNK);
  double* partial = scratchArray<double>(*launch, chunks);
  parallelFor(*launch, chunks, 0.3 * (double)N, [&](int64_t chunk, int32_t) {
    const int64_t first = chunk * CHUNK;
    partial[chunk] = sumOfSquares(grad + first, smaller(CHUNK, N - first));
  });
  double sum = (double)total[0];
  for (int64_t chunk = 0; chunk < chunks; chunk++) sum += partial[chunk];
  total[0] = (float)sum;
  return 0;
}

}  // namespace

SACCADE_KERNEL(gradNorm, "grad[N]! sum[U]! -> total[U]!=sum", SACCADE_FLOAT32(forward),
               SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
