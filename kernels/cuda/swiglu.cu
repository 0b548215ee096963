// y = silu(gate)·up and its gradients.
//
// A thread owns 16 bytes of each array at a time (parts/elementwise.cuh). The backward recomputes
// the logistic function instead of storing it: one exponential is cheaper than the memory traffic.
#include "parts/elementwise.cuh"

namespace saccade {
namespace {

__device__ __forceinline__ float logistic(float x) { return 1.0f / (1.0f + expf(-x)); }

struct Swiglu {
  __device__ void operator()(const float (&in)[2], float (&out)[1]) const {
    out[0] = in[0] * logistic(in[0]) * in[1];
  }
};

// dy, gate, up to dGate, dUp.
struct SwigluGradients {
  __device__ void operator()(const float (&in)[3], float (&out)[2]) const {
    const float s = logistic(in[1]);
    const float slope = s * fmaf(in[1], 1.0f - s, 1.0f);
    out[0] = in[0] * in[2] * slope;
    out[1] = in[0] * (in[1] * s);
  }
};

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const Elements<T, 2, 1> elements = {{stored<T>(*launch, 0), stored<T>(*launch, 1)},
                                      {stored<T>(*launch, 2)},
                                      launch->dims[0] * launch->dims[1]};
  return mapAll(*launch, elements, Swiglu{});
}

// Operands: dy, gate, up, y, dGate, dUp.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t count = launch->dims[0] * launch->dims[1];
  T* dGate = stored<T>(*launch, 4);
  T* dUp = stored<T>(*launch, 5);
  if (!launch->operands[0]) {
    return fillZeros(*launch, dGate, count) || fillZeros(*launch, dUp, count);
  }
  const Elements<T, 3, 2> elements = {
      {stored<T>(*launch, 0), stored<T>(*launch, 1), stored<T>(*launch, 2)}, {dGate, dUp}, count};
  return mapAll(*launch, elements, SwigluGradients{});
}

}  // namespace

SACCADE_KERNEL(swiglu, "gate[N,D]' up[N,D]' -> y[N,D]'",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
