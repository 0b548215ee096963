// x ← 1 where x > 0, −1 where x < 0, else x: zeros and NaN stay.
//
// Layout: a flat array of N floats; a thread owns runs of 4096. Bound by memory.
#include "parts/kernel-entry.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

constexpr int64_t RUN = 4096;

int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0];
  float* x = floats(*launch, 1);
  parallelFor(*launch, divideUp(N, RUN), 0.3 * (double)N, [&](int64_t run, int32_t) {
    const int64_t end = smaller(N, (run + 1) * RUN);
    for (int64_t i = run * RUN; i < end; i++) x[i] = x[i] > 0 ? 1.0f : x[i] < 0 ? -1.0f : x[i];
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(sign, "x[N]! -> x[N]!=x", SACCADE_FLOAT32(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
