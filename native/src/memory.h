// The memory of a runtime, by id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace saccade {

struct Memory {
  // Its address, perhaps on a device; null for an id that is free.
  uint8_t* data = nullptr;
  int64_t bytes = 0;
  // The last queued task that reads or writes it.
  uint64_t lastUse = 0;
};

class MemoryTable {
 public:
  // `release` takes memory back where clear() finds it.
  explicit MemoryTable(std::function<void(uint8_t*)> release) : release_(std::move(release)) {}
  ~MemoryTable() { clear(); }
  MemoryTable(const MemoryTable&) = delete;
  MemoryTable& operator=(const MemoryTable&) = delete;

  // The id of memory, which is the table's from now on.
  size_t add(uint8_t* data, int64_t bytes);
  // Null unless `id` is the id of live memory.
  Memory* find(double id);
  // Forgets the id; releasing the memory is the caller's.
  Memory take(size_t id);
  // Releases everything.
  void clear();

 private:
  const std::function<void(uint8_t*)> release_;
  std::vector<Memory> memories_;
  std::vector<size_t> freeIds_;
};

}  // namespace saccade
