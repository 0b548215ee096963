#include "stream.h"

#include <utility>

namespace {

// Launches that a device takes before the host has to wait; about what drivers have.
constexpr size_t MOST_QUEUED = 1024;

}  // namespace

EmulatedStream::~EmulatedStream() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    isStopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void EmulatedStream::push(std::function<void()> work) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.wait(lock, [this] { return queued_.size() < MOST_QUEUED; });
  queued_.push_back(std::move(work));
  changed_.notify_all();
}

void EmulatedStream::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return queued_.empty() && !isRunning_; });
}

bool EmulatedStream::isIdle() {
  std::lock_guard<std::mutex> lock(mutex_);
  return queued_.empty() && !isRunning_;
}

void EmulatedStream::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return isStopping_ || !queued_.empty(); });
    if (queued_.empty()) return;
    const std::function<void()> work = std::move(queued_.front());
    queued_.pop_front();
    isRunning_ = true;
    lock.unlock();
    work();
    lock.lock();
    isRunning_ = false;
    changed_.notify_all();
  }
}
