// The queue that promises wait for: it passes marks and copies to the host in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace saccade {

// An error, with its message as a sentence.
struct Fault {
  std::string message;
  // The driver's name of it; empty where a kernel refused its data.
  std::string driver;
  // Nothing runs any more.
  bool isLost = false;
};

// One thread uses it, its owner's.
class MarkedQueue {
 public:
  // Place in the order; 0 is before everything.
  using Ticket = uint64_t;
  // One object per failure, so that it is reported once.
  using Failure = std::shared_ptr<const Fault>;

  // A mark the queue has passed, or dropped when it was stopped.
  struct Passed {
    void* mark;
    bool isDropped;
    // Not yet reported when the queue passed the mark; null if there was none.
    Failure failure;
  };

  virtual ~MarkedQueue() = default;
  // Queues a copy to `to`, which stays the queue's until `mark` comes out of takePassed().
  virtual Ticket read(uint8_t* to, const uint8_t* from, size_t bytes, void* mark) = 0;
  Ticket mark(void* mark) { return read(nullptr, nullptr, 0, mark); }
  virtual bool isIdle() const = 0;
  // Puts the marks passed or dropped since the last call into `into`, in order.
  virtual void takePassed(std::vector<Passed>& into) = 0;
  // The failure that no wait has been told of; to be asked only while the queue is idle.
  virtual Failure failure() const = 0;
  // Launches queued from here on run again; those before have been skipped, or may be wrong.
  virtual void resume(const Failure& reported) = 0;
  // Waits for what runs and drops the rest; the queue takes nothing afterwards.
  virtual void stop() = 0;
};

}  // namespace saccade
