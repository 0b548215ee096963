// Lets another thread ask for a call on JavaScript's thread.
#pragma once

#include <napi.h>

namespace saccade {

class Wake {
 public:
  // `call(env, context)` runs on JavaScript's thread, inside a handle scope, once or more after each
  // send(); never after this object is gone. It does not keep the process alive unless held.
  Wake(Napi::Env env, void (*call)(Napi::Env env, void* context), void* context);
  ~Wake();
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  // From any thread.
  void send();
  // From JavaScript's thread: whether the process must live on for a call to come.
  void hold(bool on);

 private:
  void (*const call_)(Napi::Env, void*);
  void* const context_;
  const napi_env env_;
  napi_threadsafe_function function_ = nullptr;
};

}  // namespace saccade
