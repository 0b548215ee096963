// Bytes on their way to the device: copied to pinned memory at once, so that they are their owner's
// again, and from there by the device in its own time.
#pragma once

#include <memory>
#include <vector>

#include "pinned.h"

namespace saccade {

class WriteStaging {
 public:
  explicit WriteStaging(cudaStream_t stream) : stream_(stream) {}

  // Queues the copy. Waits for earlier ones only where all blocks are under way. Returns the
  // driver's error.
  cudaError_t write(uint8_t* to, const uint8_t* from, size_t bytes);

 private:
  cudaError_t turnPage();

  const cudaStream_t stream_;
  // Used in turn.
  std::vector<std::unique_ptr<Pinned>> blocks_;
  size_t current_ = 0;
  size_t used_ = 0;
};

}  // namespace saccade
