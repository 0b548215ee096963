// Device memory and pinned host memory of the emulator.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>

#include "stream.h"

namespace saccade {
namespace emulator {
namespace {

constexpr size_t ALIGNMENT = 256;
#if defined(__SANITIZE_ADDRESS__)
// The sanitizer's own red zones lie there.
constexpr size_t GUARD = 0;
#else
constexpr size_t GUARD = 256;
#endif
constexpr uint8_t CANARY = 0xa5;

std::mutex mutex;
std::unordered_map<void*, size_t> allocations;
// Begin and size.
std::map<const uint8_t*, size_t> pinned;

void* aligned(size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, ALIGNMENT, bytes > 0 ? bytes : 1) != 0) throw std::bad_alloc();
  return memory;
}

void expectCanaries(const uint8_t* guard, size_t bytes, const char* side) {
  for (size_t i = 0; i < GUARD; i++) {
    if (guard[i] == CANARY) continue;
    std::fprintf(stderr, "Something was written %s device memory of %zu bytes.\n", side, bytes);
    std::abort();
  }
}

}  // namespace

void* takeMemory(Device& device, size_t bytes) {
  if (device.usedBytes.fetch_add(bytes) + bytes > device.memoryBytes) {
    device.usedBytes -= bytes;
    throw std::bad_alloc();
  }
  uint8_t* whole = static_cast<uint8_t*>(aligned(bytes + 2 * GUARD));
  std::memset(whole, CANARY, GUARD);
  std::memset(whole + GUARD, 0xff, bytes);
  std::memset(whole + GUARD + bytes, CANARY, GUARD);
  std::lock_guard<std::mutex> lock(mutex);
  allocations.emplace(whole + GUARD, bytes);
  return whole + GUARD;
}

void giveMemory(Device& device, void* memory) {
  size_t bytes = 0;
  {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = allocations.find(memory);
    if (found == allocations.end()) {
      std::fprintf(stderr, "What is freed is no device memory.\n");
      std::abort();
    }
    bytes = found->second;
    allocations.erase(found);
  }
  uint8_t* data = static_cast<uint8_t*>(memory);
  expectCanaries(data - GUARD, bytes, "before");
  expectCanaries(data + bytes, bytes, "behind");
  std::free(data - GUARD);
  device.usedBytes -= bytes;
}

bool isPinned(const void* memory, size_t bytes) {
  const uint8_t* data = static_cast<const uint8_t*>(memory);
  std::lock_guard<std::mutex> lock(mutex);
  auto after = pinned.upper_bound(data);
  if (after == pinned.begin()) return false;
  --after;
  return data + bytes <= after->first + after->second;
}

}  // namespace emulator
}  // namespace saccade

using namespace saccade::emulator;

cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  try {
    *memory = aligned(bytes);
  } catch (const std::bad_alloc&) {
    return note(cudaErrorMemoryAllocation);
  }
  std::lock_guard<std::mutex> lock(mutex);
  pinned[static_cast<uint8_t*>(*memory)] = bytes;
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (pinned.erase(static_cast<uint8_t*>(memory)) == 0) return note(cudaErrorInvalidValue);
  }
  std::free(memory);
  return cudaSuccess;
}
