// The parts of every kernel file: operand access, launching, refusing an index, and
// the line that registers it.
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "../../include/device-kernel.h"
#include "storage.cuh"

namespace saccade {

inline float* floats(const SaccadeDeviceLaunch& launch, int operand) {
  return static_cast<float*>(launch.operands[operand]);
}
// An operand in the launch's storage type.
template <class T>
T* stored(const SaccadeDeviceLaunch& launch, int operand) {
  return static_cast<T*>(launch.operands[operand]);
}
inline int32_t* ints(const SaccadeDeviceLaunch& launch, int operand) {
  return static_cast<int32_t*>(launch.operands[operand]);
}
// Never null for want of elements.
template <class T>
T* scratchArray(const SaccadeDeviceLaunch& launch, int64_t count) {
  const SaccadeDevice* device = launch.device;
  const int64_t bytes = (count > 0 ? count : 1) * (int64_t)sizeof(T);
  return static_cast<T*>(device->scratch(device->host, bytes));
}

__host__ __device__ constexpr int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Writes the sentence and gives the return value of a failed launch.
__attribute__((format(printf, 2, 3))) inline int fail(const SaccadeDeviceLaunch& launch,
                                                      const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(launch.error, SACCADE_ERROR_CHARS, format, arguments);
  va_end(arguments);
  return 1;
}
inline int outOfScratch(const SaccadeDeviceLaunch& launch) {
  return fail(launch, "out of memory for the kernel's workspace. Use smaller batches.");
}

// Queues zeros for an output, if it is wanted.
template <class T>
int fillZeros(const SaccadeDeviceLaunch& launch, T* output, int64_t count) {
  if (!output || count == 0) return 0;
  const cudaError_t error = cudaMemsetAsync(output, 0, (size_t)count * sizeof(T),
                                            static_cast<cudaStream_t>(launch.device->stream));
  return error == cudaSuccess ? 0 : fail(launch, "%s.", cudaGetErrorString(error));
}

// Queues a kernel. Blocks beyond the 2³¹ − 1 of a grid's x, or 65535 of its y and z, are the
// caller's to avoid.
template <class... Parameters, class... Arguments>
int launchKernel(const SaccadeDeviceLaunch& launch, void (*kernel)(Parameters...), dim3 grid,
                 dim3 block, size_t sharedBytes, Arguments... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return 0;
  const cudaStream_t stream = static_cast<cudaStream_t>(launch.device->stream);
#if defined(__CUDACC__)
  // More than 48 KiB must be asked for, per kernel and device; asking again is cheap.
  if (sharedBytes > 48 << 10) {
    const cudaError_t refused = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sharedBytes);
    if (refused != cudaSuccess) {
      return fail(launch, "a block of %zu bytes of shared memory is refused: %s.", sharedBytes,
                  cudaGetErrorString(refused));
    }
  }
  kernel<<<grid, block, sharedBytes, stream>>>(static_cast<Parameters>(arguments)...);
  // Left for the host, which asks the driver what became of the device.
  const cudaError_t error = cudaPeekAtLastError();
#else
  // Copies of everything: it runs when the stream comes to it.
  const cudaError_t error = emulator::launch(stream, [=] {
    emulator::runGrid("of this launch", {grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
                      sharedBytes, [=] { kernel(static_cast<Parameters>(arguments)...); });
  });
#endif
  if (error != cudaSuccess) return fail(launch, "%s.", cudaGetErrorString(error));
  return 0;
}

// Where kernels report an index out of range.
struct Refusal {
  SaccadeFault* fault;
  uint32_t launch;
};
inline Refusal refusalOf(const SaccadeDeviceLaunch& launch) {
  return {launch.device->fault, launch.number};
}

// The index if it lies in [lowest, bound); else the fault is recorded and the result is `lowest`.
__device__ inline int64_t expectIndex(const Refusal& refusal, int operand, int64_t place,
                                      int64_t index, int64_t lowest, int64_t bound) {
  if (index >= lowest && index < bound) return index;
  SaccadeFault* fault = refusal.fault;
  if (atomicCAS(&fault->launch, 0u, refusal.launch) == 0u) {
    fault->operand = operand;
    fault->index = place;
    fault->value = index;
    fault->lowest = lowest;
    fault->bound = bound;
  }
  return lowest;
}

}  // namespace saccade

// The functions of one direction: one template for every storage type, or one function that takes
// float32 alone, or none.
#define SACCADE_STORED(run) {run<float>, run<saccade::Bf16>, run<saccade::F16>, nullptr}
#define SACCADE_FLOAT32(run) {run, nullptr, nullptr, nullptr}
#define SACCADE_ABSENT {nullptr, nullptr, nullptr, nullptr}
// Defines the symbol the catalog looks for.
#define SACCADE_KERNEL(id, signature, forward, backward)               \
  extern "C" const SaccadeDeviceKernel saccade_cuda_##id;              \
  extern "C" const SaccadeDeviceKernel saccade_cuda_##id = {           \
      #id, signature, forward, backward};
