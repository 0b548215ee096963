// The exports to JavaScript: the classes Runtime and DeviceRuntime, and what they can be opened with.
#include <napi.h>

#include "device-object.h"
#include "instruction-sets.h"
#include "launch-arguments.h"
#include "runtime-object.h"

namespace saccade {
namespace {

Napi::Value usable(const Napi::CallbackInfo& info) {
  return listOf(info.Env(), usableInstructionSets());
}

Napi::Value emulated(const Napi::CallbackInfo& info) {
  return listOf(info.Env(), emulatedInstructionSets());
}

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  exports.Set("Runtime", defineRuntime(env));
  exports.Set("DeviceRuntime", defineDeviceRuntime(env));
  exports.Set("usableInstructionSets", Napi::Function::New(env, usable));
  exports.Set("emulatedInstructionSets", Napi::Function::New(env, emulated));
  exports.Set("probeDevices", Napi::Function::New(env, probeDevices));
  return exports;
}

}  // namespace
}  // namespace saccade

Napi::Object initializeSaccade(Napi::Env env, Napi::Object exports) {
  return saccade::initialize(env, exports);
}

NODE_API_MODULE(saccade, initializeSaccade)
