#include "write-staging.h"

#include <algorithm>
#include <cstring>

namespace saccade {
namespace {

constexpr size_t BLOCK_BYTES = 4 << 20;
// A copy of one block takes the device about as long as the host needs to fill the next.
constexpr size_t MOST_BLOCKS = 4;
// Where copies begin in a block.
constexpr size_t ALIGNMENT = 256;

}  // namespace

cudaError_t WriteStaging::write(uint8_t* to, const uint8_t* from, size_t bytes) {
  while (bytes > 0) {
    if (blocks_.empty() || used_ == BLOCK_BYTES) {
      const cudaError_t error = turnPage();
      if (error != cudaSuccess) return error;
    }
    const size_t piece = std::min(bytes, BLOCK_BYTES - used_);
    uint8_t* staged = blocks_[current_]->data() + used_;
    std::memcpy(staged, from, piece);
    const cudaError_t error = cudaMemcpyAsync(to, staged, piece, cudaMemcpyHostToDevice, stream_);
    if (error != cudaSuccess) return error;
    used_ += std::min((piece + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, BLOCK_BYTES - used_);
    to += piece;
    from += piece;
    bytes -= piece;
  }
  return cudaSuccess;
}

// Goes on to a block that is free: the oldest if its copies are done, else a new one, else the oldest
// once they are.
cudaError_t WriteStaging::turnPage() {
  size_t next = 0;
  if (!blocks_.empty()) {
    const cudaError_t error = cudaEventRecord(blocks_[current_]->passed(), stream_);
    if (error != cudaSuccess) return error;
    next = (current_ + 1) % blocks_.size();
  }
  const bool isFree = !blocks_.empty() && cudaEventQuery(blocks_[next]->passed()) == cudaSuccess;
  if (!isFree && blocks_.size() < MOST_BLOCKS) {
    // cudaErrorNotReady is an answer, not an error.
    cudaGetLastError();
    next = blocks_.empty() ? 0 : current_ + 1;
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(next),
                   std::make_unique<Pinned>(BLOCK_BYTES));
  } else if (!isFree) {
    cudaGetLastError();
    const cudaError_t error = cudaEventSynchronize(blocks_[next]->passed());
    if (error != cudaSuccess) return error;
  }
  current_ = next;
  used_ = 0;
  return cudaSuccess;
}

}  // namespace saccade
