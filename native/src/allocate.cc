#include "allocate.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#elif defined(_WIN32)
#include <malloc.h>
#endif

namespace saccade {
namespace {

// Kernels read large memory through from end to end, or rows of it pages apart; large pages spare
// them most look-ups of addresses, which in a virtual machine cost twice.
constexpr int64_t LARGE_PAGE = int64_t{2} << 20;

}  // namespace

uint8_t* allocate(int64_t bytes) {
  const bool isLarge = bytes >= 2 * LARGE_PAGE;
  const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  const size_t alignment = static_cast<size_t>(isLarge ? LARGE_PAGE : ALIGNMENT);
  void* data = nullptr;
#if defined(_WIN32)
  data = _aligned_malloc(size, alignment);
#else
  if (posix_memalign(&data, alignment, size) != 0) data = nullptr;
#endif
  if (data == nullptr) throw std::bad_alloc();
#if defined(__linux__)
  // Advice: where it is not taken, nothing but time is lost.
  if (isLarge) madvise(data, size, MADV_HUGEPAGE);
#endif
  return static_cast<uint8_t*>(data);
}

void deallocate(uint8_t* memory) {
#if defined(_WIN32)
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

}  // namespace saccade
