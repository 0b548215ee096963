// Launches, copies and releases of one Runtime, run in order by a thread of the queue's own.
//
// One thread fills the queue, its owner's; all public functions are called there. The queue's thread
// is the one that calls the thread pool, so it counts among the threads that compute.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "dispatch.h"
#include "marked-queue.h"
#include "runtime.h"

namespace saccade {

class Queue : public MarkedQueue {
 public:
  // `onPassed` is called on the queue's thread when marks wait for takePassed().
  Queue(Runtime& runtime, void (*onPassed)(void* context), void* context);
  ~Queue() override { stop(); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Queues a launch that check() has let through. Takes the contents of `request` and leaves those
  // of an old one, for its memory.
  Ticket launch(LaunchRequest& request);
  // Queues a copy of `bytes` bytes at `from`, which may change once this returns.
  Ticket write(uint8_t* to, const uint8_t* from, size_t bytes);
  Ticket read(uint8_t* to, const uint8_t* from, size_t bytes, void* mark) override;
  // Frees memory from allocate() once everything queued has run.
  void release(uint8_t* memory);

  bool hasPassed(Ticket ticket) const { return passed_.load(std::memory_order_acquire) >= ticket; }
  bool isIdle() const override { return hasPassed(queued_.load(std::memory_order_relaxed)); }

  void takePassed(std::vector<Passed>& into) override;
  Failure failure() const override { return failure_; }
  void resume(const Failure& reported) override;

  // Waits until the queue is idle. Until something is queued, the pool and the scratch memory are
  // the caller's.
  void settle();
  void stop() override;

 private:
  struct Task {
    enum class Kind { launch, copy, release, resume };
    Kind kind = Kind::copy;
    LaunchRequest request;
    uint8_t* to = nullptr;
    const uint8_t* from = nullptr;
    size_t bytes = 0;
    void* mark = nullptr;
    // The bytes of a write.
    std::vector<uint8_t> staged;
  };
  using Tasks = std::vector<std::unique_ptr<Task>>;

  std::unique_ptr<Task> spare(Task::Kind kind);
  Ticket push(std::unique_ptr<Task> task);
  void work();
  bool takeBatch();
  void perform(Task& task);
  void announce(Passed passed);

  Runtime& runtime_;
  void (*const onPassed_)(void*);
  void* const context_;
  std::thread thread_;
  // Tasks queued, counted by the owner's thread, and run, counted by the queue's.
  std::atomic<Ticket> queued_{0};
  std::atomic<Ticket> passed_{0};
  std::atomic<bool> isStopping_{false};

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable settled_;
  // Under the mutex: what is queued, what may be used again, what was passed.
  Tasks incoming_;
  Tasks done_;
  std::vector<Passed> announced_;
  bool isSleeping_ = false;

  // The queue's thread's: tasks taken out at once, [next_, end) still to run.
  Tasks batch_;
  size_t next_ = 0;
  // Read by the owner's while the queue is idle.
  Failure failure_;
  // The owner's.
  Tasks spares_;
  Failure lastReported_;
};

}  // namespace saccade
