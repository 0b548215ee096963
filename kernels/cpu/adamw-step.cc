// One step of AdamW with clipping by the global norm, in place, in the order of torch.optim.AdamW.
//
// Layout: flat arrays of N floats; a thread owns runs of 4096. The factors that depend on the step
// alone are computed once, in double. Bound by memory: four streams read, three written.
#include <math.h>

#include "parts/elementwise.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// Operands: param, m, v, grad, sumSquares, then param, m, v again.
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], U = launch->dims[1];
  const float* grad = floats(*launch, 3);
  const float* sumSquares = floats(*launch, 4);
  float* param = floats(*launch, 5);
  float* m = floats(*launch, 6);
  float* v = floats(*launch, 7);
  const double learningRate = launch->scalars[0], beta1 = launch->scalars[1];
  const double beta2 = launch->scalars[2], eps = launch->scalars[3];
  const double weightDecay = launch->scalars[4], step = launch->scalars[5];
  const double maxNorm = launch->scalars[6];
  if (U != 1) {
    return fail(*launch, "sumSquares holds %lld numbers, expected 1. Pass a [1] array.",
                (long long)U);
  }
  if (!(step >= 1)) return fail(*launch, "step is %g; steps count from 1.", step);
  const double clip = maxNorm / (sqrt((double)sumSquares[0]) + 1e-6);
  // A norm that is not a number makes the update not a number, rather than hiding it.
  const Vec scale = splat(maxNorm == 0 || clip >= 1 ? 1.0f : (float)clip);
  const Vec decay = splat((float)(1 - learningRate * weightDecay));
  const Vec keep1 = splat((float)beta1), take1 = splat((float)(1 - beta1));
  const Vec keep2 = splat((float)beta2), take2 = splat((float)(1 - beta2));
  const Vec rate = splat((float)(learningRate / (1 - pow(beta1, step))));
  const Vec correction = splat((float)(1 / sqrt(1 - pow(beta2, step))));
  const Vec epsilon = splat((float)eps);
  forElements(*launch, N, 0.8, [&](int64_t i, int64_t width) {
    const Vec g = loadWidth(grad + i, width) * scale;
    const Vec first = fma(keep1, loadWidth(m + i, width), take1 * g);
    const Vec second = fma(keep2, loadWidth(v + i, width), take2 * (g * g));
    const Vec denominator = fma(squareRoot(second), correction, epsilon);
    const Vec decayed = loadWidth(param + i, width) * decay;
    storeWidth(m + i, first, width);
    storeWidth(v + i, second, width);
    storeWidth(param + i, decayed - rate * (first / denominator), width);
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(adamwStep,
               "param[N]! m[N]! v[N]! grad[N]! sumSquares[U]! -> "
               "param[N]!=param m[N]!=m v[N]!=v ; "
               "learningRate beta1 beta2 eps weightDecay step maxNorm",
               SACCADE_FLOAT32(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
