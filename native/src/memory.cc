#include "memory.h"

#include <cmath>

namespace saccade {

size_t MemoryTable::add(uint8_t* data, int64_t bytes) {
  size_t id = memories_.size();
  if (freeIds_.empty()) {
    memories_.emplace_back();
  } else {
    id = freeIds_.back();
    freeIds_.pop_back();
  }
  memories_[id] = {data, bytes, 0};
  return id;
}

Memory* MemoryTable::find(double id) {
  if (!(id >= 0 && id < static_cast<double>(memories_.size())) || id != std::floor(id)) {
    return nullptr;
  }
  Memory& memory = memories_[static_cast<size_t>(id)];
  return memory.data ? &memory : nullptr;
}

Memory MemoryTable::take(size_t id) {
  const Memory memory = memories_[id];
  memories_[id] = {};
  freeIds_.push_back(id);
  return memory;
}

void MemoryTable::clear() {
  for (const Memory& memory : memories_) {
    if (memory.data) release_(memory.data);
  }
  memories_.clear();
  freeIds_.clear();
}

}  // namespace saccade
