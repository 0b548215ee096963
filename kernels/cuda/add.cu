// y = a + b; both gradients are the output's.
//
// A thread owns 16 bytes of each array at a time (parts/elementwise.cuh).
#include "parts/elementwise.cuh"

namespace saccade {
namespace {

struct Sum {
  __device__ void operator()(const float (&in)[2], float (&out)[1]) const {
    out[0] = in[0] + in[1];
  }
};

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const Elements<T, 2, 1> elements = {{stored<T>(*launch, 0), stored<T>(*launch, 1)},
                                      {stored<T>(*launch, 2)},
                                      launch->dims[0] * launch->dims[1]};
  return mapAll(*launch, elements, Sum{});
}

// Operands: dy, a, b, y, da, db.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t count = launch->dims[0] * launch->dims[1];
  const cudaStream_t stream = static_cast<cudaStream_t>(launch->device->stream);
  for (int operand = 4; operand < 6; operand++) {
    T* gradient = stored<T>(*launch, operand);
    if (!launch->operands[0] && fillZeros(*launch, gradient, count)) return 1;
    if (!launch->operands[0] || !gradient || count == 0) continue;
    const cudaError_t error = cudaMemcpyAsync(gradient, launch->operands[0],
                                              (size_t)count * sizeof(T), cudaMemcpyDeviceToDevice,
                                              stream);
    if (error != cudaSuccess) return fail(*launch, "%s.", cudaGetErrorString(error));
  }
  return 0;
}

}  // namespace

SACCADE_KERNEL(add, "a[N,D]' b[N,D]' -> y[N,D]'", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
