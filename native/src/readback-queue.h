// Waits of one opened device: copies to the host in order, waited for on a thread of their own.
//
// The device is told what to do on the owner's thread; only waiting for it happens here.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "device-library.h"
#include "marked-queue.h"

namespace saccade {

class ReadbackQueue : public MarkedQueue {
 public:
  // `onPassed` is called on the queue's thread when marks wait for takePassed().
  ReadbackQueue(const DeviceLibrary& library, SaccadeDeviceQueue* device,
                void (*onPassed)(void* context), void* context);
  ~ReadbackQueue() override { stop(); }

  // Notes work that the device was given beside reads.
  void noteWork() { queued_++; }
  // Throws a DeviceError.
  Ticket read(uint8_t* to, const uint8_t* from, size_t bytes, void* mark) override;
  bool isIdle() const override;
  void takePassed(std::vector<Passed>& into) override;
  // Whatever goes wrong is found by a wait.
  Failure failure() const override { return nullptr; }
  void resume(const Failure& reported) override;
  void stop() override;

 private:
  struct Wait {
    SaccadeReadback* readback;
    uint8_t* to;
    void* mark;
    // Everything queued when it began, and the faults cleared until then.
    Ticket ticket;
    uint64_t cleared;
  };
  void work();
  Failure finish(const Wait& wait);

  const DeviceLibrary& library_;
  SaccadeDeviceQueue* const device_;
  void (*const onPassed_)(void*);
  void* const context_;
  std::thread thread_;

  // The owner's.
  Ticket queued_ = 0;
  uint64_t cleared_ = 0;
  Failure lastReported_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  // Under the mutex.
  std::deque<Wait> waits_;
  std::vector<Passed> passed_;
  Ticket passedTicket_ = 0;
  bool isStopping_ = false;

  // The thread's: the fault seen last, one object for all waits that see it.
  Failure fault_;
  uint64_t faultCleared_ = 0;
};

// The number that a launch gives its faults: it says the kernel and the direction.
uint32_t faultNumber(int32_t kernel, bool backward);
// A fault in a sentence.
std::string faultInWords(const DeviceLibrary& library, const SaccadeFault& fault);

}  // namespace saccade
