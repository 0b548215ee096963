#include "wake.h"

namespace saccade {

Wake::Wake(Napi::Env env, void (*call)(Napi::Env, void*), void* context)
    : call_(call), context_(context), env_(env) {
  const auto onCall = [](napi_env callEnv, napi_value, void* self, void*) {
    // Without an environment it is too late to call anything, and `self` may be gone.
    if (!callEnv) return;
    const Wake& wake = *static_cast<const Wake*>(self);
    wake.call_(callEnv, wake.context_);
  };
  const napi_status status = napi_create_threadsafe_function(
      env, nullptr, nullptr, Napi::String::New(env, "saccade"), 0, 1, nullptr, nullptr, this,
      onCall, &function_);
  if (status != napi_ok) throw Napi::Error::New(env);
  hold(false);
}

// Calls that are on their way come without an environment.
Wake::~Wake() { napi_release_threadsafe_function(function_, napi_tsfn_abort); }

void Wake::send() { napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking); }

void Wake::hold(bool on) {
  if (on) napi_ref_threadsafe_function(env_, function_);
  else napi_unref_threadsafe_function(env_, function_);
}

}  // namespace saccade
