// A queue as JavaScript waits for it: reads and marks are promises, settled in batches.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <vector>

#include "marked-queue.h"
#include "memory.h"
#include "wake.h"

namespace saccade {

class QueuePromises {
 public:
  // `open` makes the queue, which calls onPassed(context), on a thread of its own, when marks wait for
  // takePassed().
  using Open = std::function<std::unique_ptr<MarkedQueue>(void (*onPassed)(void*), void* context)>;
  QueuePromises(Napi::Env env, const Open& open);
  ~QueuePromises();
  QueuePromises(const QueuePromises&) = delete;
  QueuePromises& operator=(const QueuePromises&) = delete;

  // True if nothing is under way. Throws the failure of a launch that is not reported yet.
  bool isIdle(Napi::Env env);
  // A promise of an ArrayBuffer with the memory's bytes at `from`. `owner` stays alive until then.
  Napi::Promise read(Napi::Object owner, Memory& memory, const uint8_t* from, size_t bytes);
  // A promise of undefined.
  Napi::Promise synchronize(Napi::Object owner);
  // Stops the queue and rejects what still waits, with errors whose `code` is `closed`.
  void close(Napi::Env env);

 private:
  struct Waiter;

  std::unique_ptr<Waiter> wait(Napi::Object owner);
  Napi::Promise promiseOf(std::unique_ptr<Waiter> waiter);
  void settlePassed(Napi::Env env);
  void settle(Napi::Env env, const Waiter& waiter, const MarkedQueue::Passed& passed);
  static void endWithEnvironment(void* self);

  const napi_env env_;
  std::unique_ptr<Wake> wake_;
  std::unique_ptr<MarkedQueue> queue_;
  // Promises not settled yet.
  size_t waiting_ = 0;
  bool isEnded_ = false;
  std::vector<MarkedQueue::Passed> passed_;
};

// A failure as JavaScript gets it; one of the driver's has its name as `driver`, and `isLost`.
Napi::Error errorOf(Napi::Env env, const Fault& fault);

}  // namespace saccade
