#include "queue-promises.h"

namespace saccade {

Napi::Error errorOf(Napi::Env env, const Fault& fault) {
  const Napi::Error error = Napi::Error::New(env, fault.message);
  if (!fault.driver.empty()) {
    error.Value().Set("driver", fault.driver);
    error.Value().Set("isLost", fault.isLost);
  }
  return error;
}

struct QueuePromises::Waiter {
  Napi::Promise::Deferred deferred;
  // A promise that waits keeps its Runtime, whose memory the queue reads and writes.
  Napi::ObjectReference owner;
  // Empty for a plain mark.
  Napi::Reference<Napi::ArrayBuffer> copy;
};

QueuePromises::QueuePromises(Napi::Env env, const Open& open)
    : env_(env),
      wake_(std::make_unique<Wake>(
          env,
          [](Napi::Env callEnv, void* self) {
            static_cast<QueuePromises*>(self)->settlePassed(callEnv);
          },
          this)),
      queue_(open([](void* self) { static_cast<QueuePromises*>(self)->wake_->send(); }, this)) {
  napi_add_env_cleanup_hook(env_, endWithEnvironment, this);
}

QueuePromises::~QueuePromises() {
  if (!isEnded_) napi_remove_env_cleanup_hook(env_, endWithEnvironment, this);
  queue_->stop();
}

// Hooks run last in, first out: this one before that of `wake_`, which the queue's thread calls.
void QueuePromises::endWithEnvironment(void* pointer) {
  QueuePromises& self = *static_cast<QueuePromises*>(pointer);
  self.isEnded_ = true;
  self.queue_->stop();
  self.queue_->takePassed(self.passed_);
  for (const MarkedQueue::Passed& passed : self.passed_) delete static_cast<Waiter*>(passed.mark);
  self.wake_.reset();
}

bool QueuePromises::isIdle(Napi::Env env) {
  if (!queue_->isIdle()) return false;
  if (const MarkedQueue::Failure failure = queue_->failure()) {
    queue_->resume(failure);
    throw errorOf(env, *failure);
  }
  return true;
}

Napi::Promise QueuePromises::read(Napi::Object owner, Memory& memory, const uint8_t* from,
                                  size_t bytes) {
  Napi::ArrayBuffer copy = Napi::ArrayBuffer::New(env_, bytes);
  std::unique_ptr<Waiter> waiter = wait(owner);
  waiter->copy = Napi::Persistent(copy);
  memory.lastUse = queue_->read(static_cast<uint8_t*>(copy.Data()), from, bytes, waiter.get());
  return promiseOf(std::move(waiter));
}

Napi::Promise QueuePromises::synchronize(Napi::Object owner) {
  std::unique_ptr<Waiter> waiter = wait(owner);
  queue_->mark(waiter.get());
  return promiseOf(std::move(waiter));
}

std::unique_ptr<QueuePromises::Waiter> QueuePromises::wait(Napi::Object owner) {
  return std::unique_ptr<Waiter>(
      new Waiter{Napi::Promise::Deferred::New(env_), Napi::Persistent(owner), {}});
}

// The promise of a queued waiter: the queue gives it back.
Napi::Promise QueuePromises::promiseOf(std::unique_ptr<Waiter> waiter) {
  if (waiting_++ == 0) wake_->hold(true);
  return waiter.release()->deferred.Promise();
}

void QueuePromises::settlePassed(Napi::Env env) {
  queue_->takePassed(passed_);
  waiting_ -= passed_.size();
  if (waiting_ == 0) wake_->hold(false);
  for (const MarkedQueue::Passed& passed : passed_) {
    const std::unique_ptr<Waiter> waiter(static_cast<Waiter*>(passed.mark));
    try {
      settle(env, *waiter, passed);
    } catch (const Napi::Error&) {
      // The environment is being terminated and runs no JavaScript: nobody waits any more.
    }
  }
  passed_.clear();
}

void QueuePromises::settle(Napi::Env env, const Waiter& waiter, const MarkedQueue::Passed& passed) {
  if (passed.isDropped) {
    const Napi::Error error =
        Napi::Error::New(env, "this Runtime was closed before it was done. Wait before closing.");
    error.Value().Set("code", "closed");
    waiter.deferred.Reject(error.Value());
  } else if (passed.failure) {
    queue_->resume(passed.failure);
    waiter.deferred.Reject(errorOf(env, *passed.failure).Value());
  } else if (waiter.copy.IsEmpty()) {
    waiter.deferred.Resolve(env.Undefined());
  } else {
    waiter.deferred.Resolve(waiter.copy.Value());
  }
}

void QueuePromises::close(Napi::Env env) {
  queue_->stop();
  settlePassed(env);
}

}  // namespace saccade
