// The class DeviceRuntime of JavaScript: kernels of a library on one device, with memory and a queue.
#pragma once

#include <napi.h>

namespace saccade {

Napi::Function defineDeviceRuntime(Napi::Env env);

// probeDevices(library): its kernels and devices; throws the loader's or the driver's words.
Napi::Value probeDevices(const Napi::CallbackInfo& info);

}  // namespace saccade
