// Bytes on their way to the host, each piece with the fault as it was at that point of the stream.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "library.h"
#include "pinned.h"

// A piece on its way.
struct SaccadeReadback {
  explicit SaccadeReadback(size_t room) : pinned(FAULT_BYTES + room) {}
  // The fault lies before the bytes, which begin aligned.
  static constexpr size_t FAULT_BYTES = 256;
  saccade::Pinned pinned;
  size_t bytes = 0;

  uint8_t* data() const { return pinned.data() + FAULT_BYTES; }
  size_t room() const { return pinned.bytes() - FAULT_BYTES; }
};

namespace saccade {

// Pinned memory for readbacks, kept for the next of about its size. For any thread.
class ReadStaging {
 public:
  std::unique_ptr<SaccadeReadback> take(size_t bytes);
  void give(std::unique_ptr<SaccadeReadback> readback);
  void clear();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<SaccadeReadback>> kept_;
  size_t keptBytes_ = 0;
};

}  // namespace saccade
