#include "read-staging.h"

#include <algorithm>
#include <utility>

namespace saccade {
namespace {

constexpr size_t SMALLEST = 64 << 10;
// A rare giant gives its memory back.
constexpr size_t MOST_KEPT = size_t{64} << 20;

size_t roomFor(size_t bytes) {
  size_t room = SMALLEST;
  while (room < bytes) room *= 2;
  return room;
}

}  // namespace

std::unique_ptr<SaccadeReadback> ReadStaging::take(size_t bytes) {
  const size_t room = roomFor(bytes);
  std::unique_ptr<SaccadeReadback> readback;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto fits = [room](const auto& kept) { return kept->room() == room; };
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(), fits);
    if (found != kept_.rend()) {
      readback = std::move(*found);
      kept_.erase(std::next(found).base());
      keptBytes_ -= room;
    }
  }
  if (!readback) readback = std::make_unique<SaccadeReadback>(room);
  readback->bytes = bytes;
  return readback;
}

void ReadStaging::give(std::unique_ptr<SaccadeReadback> readback) {
  const size_t room = readback->room();
  std::lock_guard<std::mutex> lock(mutex_);
  if (keptBytes_ + room > MOST_KEPT) return;
  keptBytes_ += room;
  kept_.push_back(std::move(readback));
}

void ReadStaging::clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  kept_.clear();
  keptBytes_ = 0;
}

}  // namespace saccade
