// Memory that kernels borrow for the length of one launch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace saccade {

class Scratch {
 public:
  // 64-byte aligned and uninitialized (all NaN when poisoned).
  void* take(int64_t bytes);
  // Takes everything back; what one launch needed in pieces the next finds in one.
  void reset();
  void poison(bool on) { poisoned_ = on; }
  int64_t heldBytes() const;
  // The bytes taken since the last reset: the workspace of the latest launch.
  int64_t takenBytes() const;

 private:
  struct Free {
    void operator()(uint8_t* memory) const;
  };
  struct Chunk {
    std::unique_ptr<uint8_t, Free> memory;
    int64_t size = 0;
    int64_t used = 0;
  };
  void grow(int64_t bytes);

  std::vector<Chunk> chunks_;
  bool poisoned_ = false;
};

}  // namespace saccade
