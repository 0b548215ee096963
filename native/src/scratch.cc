#include "scratch.h"

#include <algorithm>
#include <cstring>

#include "allocate.h"

namespace saccade {
namespace {

constexpr int64_t SMALLEST_CHUNK = 1 << 20;
// Kept between launches; a rare giant gives its memory back.
constexpr int64_t MOST_KEPT = int64_t{256} << 20;

int64_t align(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

}  // namespace

void Scratch::Free::operator()(uint8_t* memory) const { deallocate(memory); }

void Scratch::grow(int64_t bytes) {
  const int64_t size = std::max(align(bytes), SMALLEST_CHUNK);
  Chunk chunk;
  chunk.memory.reset(allocate(size));
  chunk.size = size;
  chunks_.push_back(std::move(chunk));
}

void* Scratch::take(int64_t bytes) {
  const int64_t size = align(std::max<int64_t>(bytes, 1));
  if (chunks_.empty() || chunks_.back().used + size > chunks_.back().size) grow(size);
  Chunk& chunk = chunks_.back();
  uint8_t* memory = chunk.memory.get() + chunk.used;
  chunk.used += size;
  if (poisoned_) std::memset(memory, 0xff, static_cast<size_t>(size));
  return memory;
}

void Scratch::reset() {
  const int64_t total = heldBytes();
  if (chunks_.size() > 1 || total > MOST_KEPT) {
    chunks_.clear();
    if (total <= MOST_KEPT) grow(total);
  }
  for (Chunk& chunk : chunks_) chunk.used = 0;
}

int64_t Scratch::takenBytes() const {
  int64_t total = 0;
  for (const Chunk& chunk : chunks_) total += chunk.used;
  return total;
}

int64_t Scratch::heldBytes() const {
  int64_t total = 0;
  for (const Chunk& chunk : chunks_) total += chunk.size;
  return total;
}

}  // namespace saccade
