#include "runtime-object.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "allocate.h"
#include "dispatch.h"
#include "instruction-sets.h"
#include "launch-arguments.h"
#include "memory.h"
#include "probe-peak.h"
#include "queue-promises.h"
#include "queue.h"

namespace saccade {
namespace {

class RuntimeObject : public Napi::ObjectWrap<RuntimeObject> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Runtime",
                       {InstanceMethod<&RuntimeObject::launchKernel>("launch"),
                        InstanceMethod<&RuntimeObject::kernels>("kernels"),
                        InstanceMethod<&RuntimeObject::allocate>("allocate"),
                        InstanceMethod<&RuntimeObject::release>("release"),
                        InstanceMethod<&RuntimeObject::write>("write"),
                        InstanceMethod<&RuntimeObject::read>("read"),
                        InstanceMethod<&RuntimeObject::synchronize>("synchronize"),
                        InstanceMethod<&RuntimeObject::argumentArray>("arguments"),
                        InstanceMethod<&RuntimeObject::probeThreads>("probeThreads"),
                        InstanceMethod<&RuntimeObject::peak>("probePeak"),
                        InstanceMethod<&RuntimeObject::workspaceBytes>("workspaceBytes"),
                        InstanceMethod<&RuntimeObject::poisonScratch>("poisonScratch"),
                        InstanceMethod<&RuntimeObject::setHandOver>("setHandOver"),
                        InstanceMethod<&RuntimeObject::close>("close")});
  }

  explicit RuntimeObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<RuntimeObject>(info) {
    if (info.Length() != 3 || !info[0].IsString() || !info[1].IsNumber() || !info[2].IsBoolean()) {
      throw Napi::TypeError::New(info.Env(), "Runtime takes an instruction set, a thread count "
                                             "and whether launches are queued.");
    }
    const std::string name = info[0].As<Napi::String>();
    const double threads = info[1].As<Napi::Number>().DoubleValue();
    if (!(threads >= 1 && threads <= 1024) || threads != std::floor(threads)) {
      throw Napi::RangeError::New(info.Env(), "threads must be an integer from 1 to 1024.");
    }
    for (const auto& names : {usableInstructionSets(), emulatedInstructionSets()}) {
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      runtime_ = std::make_unique<Runtime>(name, static_cast<int32_t>(threads));
      if (info[2].As<Napi::Boolean>()) {
        promises_ = std::make_unique<QueuePromises>(
            info.Env(), [this](void (*onPassed)(void*), void* context) {
              auto queue = std::make_unique<Queue>(*runtime_, onPassed, context);
              queue_ = queue.get();
              return queue;
            });
      }
      return;
    }
    throw Napi::RangeError::New(info.Env(), "instruction set '" + name + "' cannot run here.");
  }

 private:
  Runtime& open(Napi::Env env) {
    if (!runtime_) throw Napi::Error::New(env, "this Runtime is closed. Open another.");
    return *runtime_;
  }

  // The Runtime with nothing under way, so that its pool and scratch memory are the caller's.
  Runtime& idle(Napi::Env env) {
    Runtime& runtime = open(env);
    if (queue_) queue_->settle();
    return runtime;
  }

  Napi::Value argumentArray(const Napi::CallbackInfo& info) {
    open(info.Env());
    return arguments_.array(info.Env());
  }

  // launch(kernel, backward, storage, operandCount, dimCount, scalarCount)
  void launchKernel(const Napi::CallbackInfo& info) {
    Runtime& runtime = open(info.Env());
    LaunchRequest& request = arguments_.read(info, memories_);
    try {
      check(runtime.forms(), request);
      if (queue_) arguments_.noteUse(memories_, queue_->launch(request));
      else run(runtime, request);
    } catch (const std::invalid_argument& error) {
      throw Napi::TypeError::New(info.Env(), error.what());
    } catch (const std::exception& error) {
      throw Napi::Error::New(info.Env(), error.what());
    }
  }

  Napi::Value kernels(const Napi::CallbackInfo& info) {
    return kernelList(info.Env(), open(info.Env()).forms());
  }

  // allocate(bytes): the id of memory whose first byte is 64-byte aligned.
  Napi::Value allocate(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    open(env);
    const double size = numberAt(info, 0);
    if (info.Length() != 1 || !(size >= 0 && size < 9e15)) {
      throw Napi::RangeError::New(env, "allocate takes a size in bytes.");
    }
    try {
      const int64_t bytes = static_cast<int64_t>(size);
      const size_t id = memories_.add(saccade::allocate(bytes), bytes);
      return Napi::Number::New(env, static_cast<double>(id));
    } catch (const std::bad_alloc&) {
      throw Napi::RangeError::New(env, "out of memory for " +
                                           std::to_string(static_cast<int64_t>(size)) +
                                           " bytes. Use a smaller model or smaller batches.");
    }
  }

  // release(id)
  void release(const Napi::CallbackInfo& info) {
    const double id = numberAt(info, 0);
    if (info.Length() != 1 || !memories_.find(id)) {
      throw Napi::RangeError::New(info.Env(), "release takes the id of memory not yet released.");
    }
    const Memory memory = memories_.take(static_cast<size_t>(id));
    if (hasPassed(memory)) deallocate(memory.data);
    else queue_->release(memory.data);
  }

  // True if nothing queued touches the memory.
  bool hasPassed(const Memory& memory) const {
    return !queue_ || queue_->hasPassed(memory.lastUse);
  }

  // write(id, offset, bytes)
  void write(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (info.Length() != 3 || !info[2].IsTypedArray()) {
      throw Napi::TypeError::New(env, "write takes an id, an offset and a typed array.");
    }
    const Napi::Uint8Array bytes = info[2].As<Napi::Uint8Array>();
    const size_t length = bytes.ByteLength();
    open(env);
    Memory& memory = rangeAt(info, memories_, static_cast<double>(length));
    if (length == 0) return;
    uint8_t* to = memory.data + static_cast<size_t>(numberAt(info, 1));
    if (hasPassed(memory)) {
      std::memcpy(to, bytes.Data(), length);
      return;
    }
    try {
      memory.lastUse = queue_->write(to, bytes.Data(), length);
    } catch (const std::bad_alloc&) {
      throw Napi::Error::New(env, "out of memory for a copy of " + std::to_string(length) +
                                      " bytes to write. Synchronize before the write.");
    }
  }

  // read(id, offset, length): an ArrayBuffer, or a promise of one while work is queued.
  Napi::Value read(const Napi::CallbackInfo& info) {
    const double length = numberAt(info, 2);
    open(info.Env());
    Memory& memory = rangeAt(info, memories_, length);
    const uint8_t* from = memory.data + static_cast<size_t>(numberAt(info, 1));
    const size_t bytes = static_cast<size_t>(length);
    if (promises_ && !promises_->isIdle(info.Env())) {
      return promises_->read(info.This().As<Napi::Object>(), memory, from, bytes);
    }
    Napi::ArrayBuffer copy = Napi::ArrayBuffer::New(info.Env(), bytes);
    if (bytes > 0) std::memcpy(copy.Data(), from, bytes);
    return copy;
  }

  // synchronize(): undefined, or a promise of it while work is queued.
  Napi::Value synchronize(const Napi::CallbackInfo& info) {
    open(info.Env());
    if (!promises_ || promises_->isIdle(info.Env())) return info.Env().Undefined();
    return promises_->synchronize(info.This().As<Napi::Object>());
  }

  // probeThreads(items, failAt): how often each item ran; throws inside item `failAt` if >= 0.
  Napi::Value probeThreads(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    struct Probe {
      std::vector<int32_t> visits;
      int64_t failAt;
    } probe;
    probe.visits.resize(info[0].As<Napi::Number>().Uint32Value());
    probe.failAt = info[1].As<Napi::Number>().Int64Value();
    try {
      idle(env).pool().run(
          static_cast<int64_t>(probe.visits.size()),
          [](void* context, int64_t item, int32_t) {
            Probe& p = *static_cast<Probe*>(context);
            p.visits[static_cast<size_t>(item)]++;
            if (item == p.failAt) {
              throw std::runtime_error("item " + std::to_string(item) + " failed");
            }
          },
          &probe);
    } catch (const std::exception& error) {
      throw Napi::Error::New(env, error.what());
    }
    Napi::Int32Array visits = Napi::Int32Array::New(env, probe.visits.size());
    for (size_t i = 0; i < probe.visits.size(); i++) visits[i] = probe.visits[i];
    return visits;
  }

  // probePeak(bytes): { f32, bf16, readBytes } per second.
  Napi::Value peak(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const double bytes = numberAt(info, 0);
    if (info.Length() != 1 || !(bytes >= 1 && bytes < 9e15)) {
      throw Napi::RangeError::New(env, "probePeak takes a number of bytes to read, at least 1.");
    }
    Runtime& runtime = idle(env);
    const Peaks peaks = probePeak(runtime.instructionSet(), runtime.pool().threads(),
                                  static_cast<int64_t>(bytes));
    Napi::Object result = Napi::Object::New(env);
    result.Set("f32", peaks.f32);
    result.Set("bf16", peaks.bf16);
    result.Set("readBytes", peaks.readBytes);
    return result;
  }

  Napi::Value workspaceBytes(const Napi::CallbackInfo& info) {
    const int64_t bytes = idle(info.Env()).scratch().takenBytes();
    return Napi::Number::New(info.Env(), static_cast<double>(bytes));
  }

  void poisonScratch(const Napi::CallbackInfo& info) {
    idle(info.Env()).scratch().poison(info[0].ToBoolean());
  }

  void setHandOver(const Napi::CallbackInfo& info) {
    const double microseconds = info.Length() == 1 && info[0].IsNumber()
                                    ? info[0].As<Napi::Number>().DoubleValue()
                                    : -1;
    if (!(microseconds >= 0)) {
      throw Napi::RangeError::New(info.Env(), "setHandOver takes a time in microseconds.");
    }
    idle(info.Env()).setHandOver(microseconds * 1000);
  }

  void close(const Napi::CallbackInfo& info) {
    if (promises_) promises_->close(info.Env());
    queue_ = nullptr;
    promises_.reset();
    runtime_.reset();
    memories_.clear();
  }

  // In this order: the queue uses the other two until it is gone.
  MemoryTable memories_{deallocate};
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<QueuePromises> promises_;
  // That of the promises; null where launches are not queued.
  Queue* queue_ = nullptr;
  LaunchArguments arguments_;
};

}  // namespace

Napi::Function defineRuntime(Napi::Env env) { return RuntimeObject::define(env); }

}  // namespace saccade
