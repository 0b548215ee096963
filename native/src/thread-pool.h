// Threads that wait for loops: one loop at a time, its items taken from a shared counter.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace saccade {

class ThreadPool {
 public:
  using Body = void (*)(void* context, int64_t item, int32_t worker);

  // `threads` counts the caller; threads - 1 are started, at the first loop.
  explicit ThreadPool(int32_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int32_t threads() const { return threads_; }
  // Whether every thread is at work or spins, so that a loop need not wake any.
  bool isAwake() const { return !workers_.empty() && sleepers_.load(std::memory_order_relaxed) == 0; }

  // Runs body(context, item, worker) for all items and returns when all are done. If a body throws,
  // items not yet begun are dropped and the first exception is thrown here.
  void run(int64_t items, Body body, void* context);

 private:
  struct Loop {
    Body body = nullptr;
    void* context = nullptr;
    int64_t items = 0;
    std::atomic<int64_t> next{0};
  };

  void start();
  void work(int32_t worker);
  void takeItems(int32_t worker);
  bool waitForLoop(uint32_t seen);

  const int32_t threads_;
  std::vector<std::thread> workers_;
  Loop loop_;
  // generation << 32 | open << 31 | workers inside. A worker enters by adding one while the loop is
  // open; the caller closes it and waits for zero, so it never waits for a thread that is asleep.
  std::atomic<uint64_t> state_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<int32_t> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::mutex errorMutex_;
  std::exception_ptr error_;
};

}  // namespace saccade
