// y ← a·x + b·y; where b is 0, y is not read; where x is absent, y ← b·y.
//
// A thread owns 4 elements at a time (parts/elementwise.cuh). Bound by memory.
#include "parts/elementwise.cuh"

namespace saccade {
namespace {

struct Blend {
  float a, b;

  __device__ void operator()(const float (&in)[2], float (&out)[1]) const {
    out[0] = fmaf(b, in[1], a * in[0]);
  }
};

struct Scale {
  float a;

  __device__ void operator()(const float (&in)[1], float (&out)[1]) const { out[0] = a * in[0]; }
};

// Operands: x, y, then y again.
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0];
  const float a = (float)launch->scalars[0], b = (float)launch->scalars[1];
  const float* x = floats(*launch, 0);
  float* y = floats(*launch, 2);
  if (!x && b == 0) return fillZeros(*launch, y, N);
  if (!x) return mapAll(*launch, Elements<float, 1, 1>{{y}, {y}, N}, Scale{b});
  if (b == 0) return mapAll(*launch, Elements<float, 1, 1>{{x}, {y}, N}, Scale{a});
  return mapAll(*launch, Elements<float, 2, 1>{{x, y}, {y}, N}, Blend{a, b});
}

}  // namespace

SACCADE_KERNEL(axpby, "x[N]?! y[N]! -> y[N]!=y ; a b", SACCADE_FLOAT32(forward), SACCADE_ABSENT)

}  // namespace saccade
