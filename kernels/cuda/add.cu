// y = a + b; both gradients are the output's.
//
// A thread takes one element after the other at the grid's stride.
#include "common/launch.cuh"

namespace saccade {
namespace {

template <class T>
__global__ void __launch_bounds__(256) addElements(const T* a, const T* b, T* y, int64_t count) {
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    y[i] = rounded<T>(widened(a[i]) + widened(b[i]));
  }
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const int64_t count = launch->dims[0] * launch->dims[1];
  const int64_t blocks = divideUp(count, 1024);
  return launchKernel(*launch, addElements<T>, dim3((unsigned)(blocks < 65535 ? blocks : 65535)),
                      dim3(256), 0, stored<T>(*launch, 0), stored<T>(*launch, 1),
                      stored<T>(*launch, 2), count);
}

// Operands: dy, a, b, y, da, db.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t bytes = launch->dims[0] * launch->dims[1] * (int64_t)sizeof(T);
  const cudaStream_t stream = static_cast<cudaStream_t>(launch->device->stream);
  for (int operand = 4; operand < 6; operand++) {
    void* gradient = launch->operands[operand];
    if (!gradient || bytes == 0) continue;
    const cudaError_t error =
        launch->operands[0] ? cudaMemcpyAsync(gradient, launch->operands[0], (size_t)bytes,
                                              cudaMemcpyDeviceToDevice, stream)
                            : cudaMemsetAsync(gradient, 0, (size_t)bytes, stream);
    if (error != cudaSuccess) return fail(*launch, "%s.", cudaGetErrorString(error));
  }
  return 0;
}

}  // namespace

SACCADE_KERNEL(add, "a[N,D]' b[N,D]' -> y[N,D]'", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
