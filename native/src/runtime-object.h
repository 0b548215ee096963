// The class Runtime of JavaScript: kernels of the processor with their threads, memory and queue.
#pragma once

#include <napi.h>

namespace saccade {

Napi::Function defineRuntime(Napi::Env env);

}  // namespace saccade
