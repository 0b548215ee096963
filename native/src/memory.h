// The memory of a Runtime, by id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace saccade {

struct Memory {
  // 64-byte aligned; null for an id that is free.
  uint8_t* data = nullptr;
  int64_t bytes = 0;
  // The last queued task that reads or writes it.
  uint64_t lastUse = 0;
};

class MemoryTable {
 public:
  ~MemoryTable() { clear(); }
  MemoryTable() = default;
  MemoryTable(const MemoryTable&) = delete;
  MemoryTable& operator=(const MemoryTable&) = delete;

  // Throws std::bad_alloc.
  size_t add(int64_t bytes);
  // Null unless `id` is the id of live memory.
  Memory* find(double id);
  // Forgets the id; freeing the memory, with freeMemory, is the caller's.
  Memory take(size_t id);
  // Frees everything.
  void clear();

  static void freeMemory(uint8_t* data);

 private:
  std::vector<Memory> memories_;
  std::vector<size_t> freeIds_;
};

}  // namespace saccade
