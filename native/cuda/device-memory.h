// Memory of one device in the order of one stream: what is freed may be given out again to work that
// is queued behind it, without waiting for the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace saccade {

class DeviceMemory {
 public:
  // Throws a DeviceFailure.
  DeviceMemory(int32_t device, cudaStream_t stream);
  // The stream has come to its end.
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // 256-byte aligned; null with the driver's error where there is none.
  void* take(int64_t bytes, cudaError_t* error);
  cudaError_t give(void* memory);
  // Hands what is free back to the driver.
  void trim();

 private:
  const cudaStream_t stream_;
  cudaMemPool_t pool_ = nullptr;
};

}  // namespace saccade
