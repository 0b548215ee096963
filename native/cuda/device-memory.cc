#include "device-memory.h"

#include <algorithm>

#include "failure.h"

namespace saccade {

DeviceMemory::DeviceMemory(int32_t device, cudaStream_t stream) : stream_(stream) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  expect(cudaMemPoolCreate(&pool_, &properties), "Creating a pool of device memory");
  // Otherwise every wait gives what is free back to the driver, and the next step asks again.
  uint64_t keep = UINT64_MAX;
  const cudaError_t error =
      cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
  if (error == cudaSuccess) return;
  cudaMemPoolDestroy(pool_);
  expect(error, "Setting up a pool of device memory");
}

DeviceMemory::~DeviceMemory() { cudaMemPoolDestroy(pool_); }

void* DeviceMemory::take(int64_t bytes, cudaError_t* error) {
  void* memory = nullptr;
  const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  *error = cudaMallocFromPoolAsync(&memory, size, pool_, stream_);
  return *error == cudaSuccess ? memory : nullptr;
}

cudaError_t DeviceMemory::give(void* memory) { return cudaFreeAsync(memory, stream_); }

void DeviceMemory::trim() { cudaMemPoolTrimTo(pool_, 0); }

}  // namespace saccade
