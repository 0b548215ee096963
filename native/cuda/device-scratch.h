// Device memory that kernels borrow for one launch. The next launch gets the same: it is queued behind.
#pragma once

#include <cstdint>
#include <vector>

#include "device-memory.h"

namespace saccade {

class DeviceScratch {
 public:
  DeviceScratch(DeviceMemory& memory, cudaStream_t stream) : memory_(memory), stream_(stream) {}

  // 256-byte aligned; null with the driver's error where there is none. All NaN when poisoned.
  void* take(int64_t bytes, cudaError_t* error);
  // Takes everything back; what one launch needed in pieces the next finds in one.
  cudaError_t reset();
  // Gives everything back.
  cudaError_t clear();
  void poison(bool on) { isPoisoned_ = on; }
  // The bytes taken since the last reset.
  int64_t takenBytes() const;

 private:
  struct Chunk {
    uint8_t* memory;
    int64_t bytes;
    int64_t used;
  };
  cudaError_t grow(int64_t bytes);

  DeviceMemory& memory_;
  const cudaStream_t stream_;
  std::vector<Chunk> chunks_;
  bool isPoisoned_ = false;
};

}  // namespace saccade
