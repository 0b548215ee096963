// x ← 1 where x > 0, −1 where x < 0, else x: zeros and NaN stay.
//
// A thread owns 4 elements at a time (parts/elementwise.cuh). Bound by memory.
#include "parts/elementwise.cuh"

namespace saccade {
namespace {

struct Sign {
  __device__ void operator()(const float (&in)[1], float (&out)[1]) const {
    out[0] = in[0] > 0 ? 1.0f : in[0] < 0 ? -1.0f : in[0];
  }
};

int forward(const SaccadeDeviceLaunch* launch) {
  float* x = floats(*launch, 1);
  return mapAll(*launch, Elements<float, 1, 1>{{x}, {x}, launch->dims[0]}, Sign{});
}

}  // namespace

SACCADE_KERNEL(sign, "x[N]! -> x[N]!=x", SACCADE_FLOAT32(forward), SACCADE_ABSENT)

}  // namespace saccade
