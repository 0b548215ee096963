// Host memory that the device copies from and to by itself, and the event after the last copy.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "failure.h"

namespace saccade {

class Pinned {
 public:
  explicit Pinned(size_t bytes) : bytes_(bytes) {
    void* memory = nullptr;
    expect(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), "Allocating pinned host memory");
    data_ = static_cast<uint8_t*>(memory);
    const cudaError_t error =
        cudaEventCreateWithFlags(&passed_, cudaEventDisableTiming | cudaEventBlockingSync);
    if (error == cudaSuccess) return;
    cudaFreeHost(data_);
    expect(error, "Creating an event");
  }
  // Nothing may be under way.
  ~Pinned() {
    cudaEventDestroy(passed_);
    cudaFreeHost(data_);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // Recorded by the user behind the last copy.
  cudaEvent_t passed() const { return passed_; }

 private:
  const size_t bytes_;
  uint8_t* data_ = nullptr;
  cudaEvent_t passed_ = nullptr;
};

}  // namespace saccade
