// A queue as JavaScript waits for it: reads and marks are promises, settled in batches.
#pragma once

#include <napi.h>

#include <memory>
#include <vector>

#include "memory.h"
#include "queue.h"
#include "wake.h"

namespace saccade {

class QueuePromises {
 public:
  QueuePromises(Napi::Env env, Runtime& runtime);
  ~QueuePromises();
  QueuePromises(const QueuePromises&) = delete;
  QueuePromises& operator=(const QueuePromises&) = delete;

  Queue& queue() { return queue_; }
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

  Waiter* wait(Napi::Object owner);
  void settlePassed(Napi::Env env);
  void settle(Napi::Env env, const Waiter& waiter, const Queue::Passed& passed);
  static void endWithEnvironment(void* self);

  const napi_env env_;
  std::unique_ptr<Wake> wake_;
  Queue queue_;
  // Promises not settled yet.
  size_t waiting_ = 0;
  bool isEnded_ = false;
  std::vector<Queue::Passed> passed_;
};

}  // namespace saccade
