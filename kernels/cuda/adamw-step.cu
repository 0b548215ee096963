// One step of AdamW with clipping by the global norm, in place, in the order of torch.optim.AdamW.
//
// A thread owns 4 elements at a time (parts/elementwise.cuh). The factors that depend on the step
// alone are computed on the host, in double; the clipping, whose norm lies in device memory, by a
// kernel of one thread. Bound by memory: four streams read, three written.
#include <math.h>

#include "parts/elementwise.cuh"

namespace saccade {
namespace {

// A norm that is not a number makes the update not a number, rather than hiding it.
__global__ void clipScale(const float* sumSquares, double maxNorm, float* scale) {
  const double clip = maxNorm / (sqrt((double)sumSquares[0]) + 1e-6);
  scale[0] = maxNorm == 0 || clip >= 1 ? 1.0f : (float)clip;
}

// param, m, v, grad to param, m, v.
struct Update {
  const float* scale;
  float decay, keep1, take1, keep2, take2, rate, correction, epsilon;

  __device__ void operator()(const float (&in)[4], float (&out)[3]) const {
    const float g = in[3] * *scale;
    const float m = fmaf(keep1, in[1], take1 * g);
    const float v = fmaf(keep2, in[2], take2 * (g * g));
    const float denominator = fmaf(sqrtf(v), correction, epsilon);
    out[0] = in[0] * decay - rate * (m / denominator);
    out[1] = m;
    out[2] = v;
  }
};

// Operands: param, m, v, grad, sumSquares, then param, m, v again.
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], U = launch->dims[1];
  const double learningRate = launch->scalars[0], beta1 = launch->scalars[1];
  const double beta2 = launch->scalars[2], eps = launch->scalars[3];
  const double weightDecay = launch->scalars[4], step = launch->scalars[5];
  const double maxNorm = launch->scalars[6];
  if (U != 1) {
    return fail(*launch, "sumSquares holds %lld numbers, expected 1. Pass a [1] array.",
                (long long)U);
  }
  if (!(step >= 1)) return fail(*launch, "step is %g; steps count from 1.", step);
  float* scale = scratchArray<float>(*launch, 1);
  if (!scale) return outOfScratch(*launch);
  if (launchKernel(*launch, clipScale, dim3(1), dim3(1), 0, floats(*launch, 4), maxNorm, scale)) {
    return 1;
  }
  const Update update = {scale,
                         (float)(1 - learningRate * weightDecay),
                         (float)beta1,
                         (float)(1 - beta1),
                         (float)beta2,
                         (float)(1 - beta2),
                         (float)(learningRate / (1 - pow(beta1, step))),
                         (float)(1 / sqrt(1 - pow(beta2, step))),
                         (float)eps};
  const Elements<float, 4, 3> elements = {
      {floats(*launch, 0), floats(*launch, 1), floats(*launch, 2), floats(*launch, 3)},
      {floats(*launch, 5), floats(*launch, 6), floats(*launch, 7)},
      N};
  return mapAll(*launch, elements, update);
}

}  // namespace

SACCADE_KERNEL(adamwStep,
               "param[N]! m[N]! v[N]! grad[N]! sumSquares[U]! -> "
               "param[N]!=param m[N]!=m v[N]!=v ; "
               "learningRate beta1 beta2 eps weightDecay step maxNorm",
               SACCADE_FLOAT32(forward), SACCADE_ABSENT)

}  // namespace saccade
