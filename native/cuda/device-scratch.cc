#include "device-scratch.h"

#include <algorithm>

namespace saccade {
namespace {

constexpr int64_t ALIGNMENT = 256;
constexpr int64_t SMALLEST_CHUNK = 1 << 20;

int64_t align(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

}  // namespace

void* DeviceScratch::take(int64_t bytes, cudaError_t* error) {
  const int64_t size = align(std::max<int64_t>(bytes, 1));
  *error = cudaSuccess;
  if (chunks_.empty() || chunks_.back().used + size > chunks_.back().bytes) {
    *error = grow(std::max(size, SMALLEST_CHUNK));
    if (*error != cudaSuccess) return nullptr;
  }
  Chunk& chunk = chunks_.back();
  uint8_t* taken = chunk.memory + chunk.used;
  if (isPoisoned_) *error = cudaMemsetAsync(taken, 0xff, static_cast<size_t>(size), stream_);
  if (*error != cudaSuccess) return nullptr;
  chunk.used += size;
  return taken;
}

cudaError_t DeviceScratch::grow(int64_t bytes) {
  cudaError_t error = cudaSuccess;
  void* memory = memory_.take(bytes, &error);
  if (memory) chunks_.push_back({static_cast<uint8_t*>(memory), bytes, 0});
  return error;
}

cudaError_t DeviceScratch::reset() {
  if (chunks_.size() > 1) {
    int64_t total = 0;
    for (const Chunk& chunk : chunks_) total += chunk.bytes;
    // The pool hands the pieces out again behind the launches that use them.
    const cudaError_t error = clear();
    // Without room for it in one, pieces have to do again.
    if (error == cudaSuccess && grow(total) != cudaSuccess) cudaGetLastError();
    return error;
  }
  for (Chunk& chunk : chunks_) chunk.used = 0;
  return cudaSuccess;
}

cudaError_t DeviceScratch::clear() {
  cudaError_t error = cudaSuccess;
  for (const Chunk& chunk : chunks_) {
    const cudaError_t freed = memory_.give(chunk.memory);
    if (error == cudaSuccess) error = freed;
  }
  chunks_.clear();
  return error;
}

int64_t DeviceScratch::takenBytes() const {
  int64_t total = 0;
  for (const Chunk& chunk : chunks_) total += chunk.used;
  return total;
}

}  // namespace saccade
