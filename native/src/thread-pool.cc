// See thread-pool.h. Waiting spins for some 30 µs and then sleeps: the cores are shared with
// whatever else the machine runs, and the kernels of one step follow one another within that time.
#include "thread-pool.h"

#include "spin.h"

namespace saccade {
namespace {

constexpr uint64_t OPEN = uint64_t{1} << 31;
constexpr auto SPIN = std::chrono::microseconds(30);

uint32_t generationOf(uint64_t state) { return static_cast<uint32_t>(state >> 32); }
uint64_t insideOf(uint64_t state) { return state & (OPEN - 1); }

}  // namespace

ThreadPool::ThreadPool(int32_t threads) : threads_(threads) {}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_.store(true);
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::start() {
  workers_.reserve(static_cast<size_t>(threads_) - 1);
  while (static_cast<int32_t>(workers_.size()) < threads_ - 1) {
    const int32_t worker = static_cast<int32_t>(workers_.size()) + 1;
    workers_.emplace_back([this, worker] { work(worker); });
  }
}

void ThreadPool::takeItems(int32_t worker) {
  try {
    for (;;) {
      const int64_t item = loop_.next.fetch_add(1, std::memory_order_relaxed);
      if (item >= loop_.items) return;
      loop_.body(loop_.context, item, worker);
    }
  } catch (...) {
    loop_.next.store(loop_.items);
    std::lock_guard<std::mutex> lock(errorMutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void ThreadPool::run(int64_t items, Body body, void* context) {
  if (items <= 0) return;
  if (threads_ > 1 && items > 1 && workers_.empty()) start();
  loop_.body = body;
  loop_.context = context;
  loop_.items = items;
  loop_.next.store(0, std::memory_order_relaxed);
  error_ = nullptr;
  const uint64_t generation = uint64_t{generationOf(state_.load()) + 1} << 32;
  state_.store(generation | OPEN);
  if (items > 1 && sleepers_.load() > 0) {
    // Taking the lock orders this with a worker between its last look and its sleep.
    { std::lock_guard<std::mutex> lock(mutex_); }
    wake_.notify_all();
  }
  takeItems(0);
  state_.fetch_and(~OPEN);
  const auto done = [this] { return insideOf(state_.load()) == 0; };
  while (!spinUntil(done, SPIN)) std::this_thread::yield();
  if (error_) std::rethrow_exception(error_);
}

// False when the pool is stopping.
bool ThreadPool::waitForLoop(uint32_t seen) {
  const auto ready = [&] {
    const uint64_t state = state_.load();
    return stopping_.load() || (generationOf(state) != seen && (state & OPEN) != 0);
  };
  if (!spinUntil(ready, SPIN)) {
    std::unique_lock<std::mutex> lock(mutex_);
    sleepers_.fetch_add(1);
    wake_.wait(lock, ready);
    sleepers_.fetch_sub(1);
  }
  return !stopping_.load();
}

void ThreadPool::work(int32_t worker) {
  uint32_t seen = 0;
  while (waitForLoop(seen)) {
    uint64_t state = state_.load();
    if ((state & OPEN) == 0) continue;
    if (!state_.compare_exchange_strong(state, state + 1)) continue;
    seen = generationOf(state);
    takeItems(worker);
    state_.fetch_sub(1);
  }
}

}  // namespace saccade
