// What JavaScript sees: usableInstructionSets(), emulatedInstructionSets(), and a Runtime with launch()
// and memory.
#include <napi.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "dispatch.h"
#include "instruction-sets.h"
#include "memory.h"
#include "probe-peak.h"
#include "queue-promises.h"

namespace saccade {
namespace {

constexpr int64_t MOST_ARGUMENTS = 256;

// An address for operands of zero bytes: present, never read.
alignas(64) uint8_t nothing[64];

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
        queue_ = std::make_unique<QueuePromises>(info.Env(), *runtime_);
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
    if (queue_) queue_->queue().settle();
    return runtime;
  }

  // arguments(): the Float64Array through which launches pass their numbers. One array for all
  // launches: making one per launch cost more than many a kernel.
  Napi::Value argumentArray(const Napi::CallbackInfo& info) {
    open(info.Env());
    if (arguments_.IsEmpty()) {
      const Napi::Float64Array array = Napi::Float64Array::New(info.Env(), MOST_ARGUMENTS);
      arguments_ = Napi::Persistent(array);
      argumentData_ = arguments_.Value().Data();
    }
    return arguments_.Value();
  }

  // launch(kernel, backward, storage, operandCount, dimCount, scalarCount). The arguments hold, for
  // each operand, its memory's id (-1: absent), offset and length in bytes; then the dims; the
  // scalars.
  void launchKernel(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    Runtime& runtime = open(env);
    const int64_t storage = countAt(info, 2), operands = countAt(info, 3), dims = countAt(info, 4),
                  scalars = countAt(info, 5);
    if (info.Length() != 6 || !info[0].IsNumber() || !info[1].IsBoolean() || storage < 0 ||
        operands < 0 || dims < 0 || scalars < 0) {
      throw Napi::TypeError::New(env, "launch takes a kernel index, a boolean, a storage type and "
                                      "three counts.");
    }
    if (!argumentData_ || 3 * operands + dims + scalars > MOST_ARGUMENTS) {
      throw Napi::RangeError::New(env, "launch takes at most " + std::to_string(MOST_ARGUMENTS) +
                                           " numbers, written to arguments() first.");
    }
    request_.kernel = info[0].As<Napi::Number>().Int32Value();
    request_.backward = info[1].As<Napi::Boolean>();
    request_.storage = static_cast<int32_t>(storage);
    const double* next = argumentData_;
    request_.operands.clear();
    for (int64_t i = 0; i < operands; i++, next += 3) {
      request_.operands.push_back(memoryOf(env, next[0], next[1], next[2], i));
    }
    request_.dims.clear();
    for (int64_t i = 0; i < dims; i++, next++) {
      if (!(*next >= 0 && *next < 1e15) || *next != std::floor(*next)) {
        throw Napi::RangeError::New(env, "dims must be non-negative integers.");
      }
      request_.dims.push_back(static_cast<int64_t>(*next));
    }
    request_.scalars.assign(next, next + scalars);
    try {
      check(runtime, request_);
      if (queue_) {
        const Queue::Ticket ticket = queue_->queue().launch(request_);
        for (const double* id = argumentData_; id < argumentData_ + 3 * operands; id += 3) {
          if (Memory* memory = memories_.find(*id)) memory->lastUse = ticket;
        }
      } else {
        run(runtime, request_);
      }
    } catch (const std::invalid_argument& error) {
      throw Napi::TypeError::New(env, error.what());
    } catch (const std::exception& error) {
      throw Napi::Error::New(env, error.what());
    }
  }

  static int64_t countAt(const Napi::CallbackInfo& info, size_t i) {
    if (info.Length() <= i || !info[i].IsNumber()) return -1;
    const double value = info[i].As<Napi::Number>().DoubleValue();
    return value >= 0 && value <= MOST_ARGUMENTS ? static_cast<int64_t>(value) : -1;
  }

  OperandMemory memoryOf(Napi::Env env, double id, double offset, double length, int64_t i) {
    if (id == -1) return {};
    const auto name = [i] { return "operand " + std::to_string(i); };
    const Memory* memory = memories_.find(id);
    if (!memory) {
      throw Napi::RangeError::New(env,
                                  name() + " is in no memory of this Runtime. Allocate it here.");
    }
    const double available = static_cast<double>(memory->bytes);
    if (!(offset >= 0 && length >= 0 && offset + length <= available) ||
        offset != std::floor(offset) || length != std::floor(length)) {
      throw Napi::RangeError::New(env, name() + " reaches beyond its memory of " +
                                           std::to_string(memory->bytes) + " bytes.");
    }
    OperandMemory operand;
    operand.present = true;
    operand.bytes = static_cast<int64_t>(length);
    operand.data = operand.bytes == 0 ? nothing : memory->data + static_cast<size_t>(offset);
    return operand;
  }

  Napi::Value kernels(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const auto& entries = open(env).kernels();
    Napi::Array list = Napi::Array::New(env, entries.size());
    for (size_t i = 0; i < entries.size(); i++) {
      Napi::Object kernel = Napi::Object::New(env);
      kernel.Set("id", entries[i].kernel->id);
      kernel.Set("signature", entries[i].kernel->signature);
      kernel.Set("forward", storagesOf(env, entries[i].kernel->forward));
      kernel.Set("backward", storagesOf(env, entries[i].kernel->backward));
      list.Set(static_cast<uint32_t>(i), kernel);
    }
    return list;
  }

  // The names of the storage types a kernel has a function for.
  static Napi::Array storagesOf(Napi::Env env, const SaccadeRun (&runs)[SACCADE_STORAGES]) {
    static const char* const NAMES[SACCADE_STORAGES] = {"f32", "bf16"};
    Napi::Array names = Napi::Array::New(env);
    for (int storage = 0; storage < SACCADE_STORAGES; storage++) {
      if (runs[storage]) names.Set(names.Length(), NAMES[storage]);
    }
    return names;
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
      return Napi::Number::New(env,
                               static_cast<double>(memories_.add(static_cast<int64_t>(size))));
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
    if (hasPassed(memory)) MemoryTable::freeMemory(memory.data);
    else queue_->queue().release(memory.data);
  }

  // The bytes [offset, offset + length) of memory `id`, the first arguments of a call.
  Memory& rangeAt(const Napi::CallbackInfo& info, double length) {
    open(info.Env());
    Memory* memory = memories_.find(numberAt(info, 0));
    const double offset = numberAt(info, 1);
    if (!memory || !(offset >= 0 && length >= 0) || offset != std::floor(offset) ||
        length != std::floor(length) || offset + length > static_cast<double>(memory->bytes)) {
      throw Napi::RangeError::New(info.Env(),
                                  "read and write take the id of memory not yet released, and "
                                  "bytes that lie inside it.");
    }
    return *memory;
  }

  static double numberAt(const Napi::CallbackInfo& info, size_t i) {
    return info.Length() > i && info[i].IsNumber() ? info[i].As<Napi::Number>().DoubleValue() : NAN;
  }

  // True if nothing queued touches the memory.
  bool hasPassed(const Memory& memory) const {
    return !queue_ || queue_->queue().hasPassed(memory.lastUse);
  }

  // write(id, offset, bytes)
  void write(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (info.Length() != 3 || !info[2].IsTypedArray()) {
      throw Napi::TypeError::New(env, "write takes an id, an offset and a typed array.");
    }
    const Napi::Uint8Array bytes = info[2].As<Napi::Uint8Array>();
    const size_t length = bytes.ByteLength();
    Memory& memory = rangeAt(info, static_cast<double>(length));
    if (length == 0) return;
    uint8_t* to = memory.data + static_cast<size_t>(numberAt(info, 1));
    if (hasPassed(memory)) {
      std::memcpy(to, bytes.Data(), length);
      return;
    }
    try {
      memory.lastUse = queue_->queue().write(to, bytes.Data(), length);
    } catch (const std::bad_alloc&) {
      throw Napi::Error::New(env, "out of memory for a copy of " + std::to_string(length) +
                                      " bytes to write. Synchronize before the write.");
    }
  }

  // read(id, offset, length): an ArrayBuffer, or a promise of one while work is queued.
  Napi::Value read(const Napi::CallbackInfo& info) {
    const double length = numberAt(info, 2);
    Memory& memory = rangeAt(info, length);
    const uint8_t* from = memory.data + static_cast<size_t>(numberAt(info, 1));
    const size_t bytes = static_cast<size_t>(length);
    if (queue_ && !queue_->isIdle(info.Env())) {
      return queue_->read(info.This().As<Napi::Object>(), memory, from, bytes);
    }
    Napi::ArrayBuffer copy = Napi::ArrayBuffer::New(info.Env(), bytes);
    if (bytes > 0) std::memcpy(copy.Data(), from, bytes);
    return copy;
  }

  // synchronize(): undefined, or a promise of it while work is queued.
  Napi::Value synchronize(const Napi::CallbackInfo& info) {
    open(info.Env());
    if (!queue_ || queue_->isIdle(info.Env())) return info.Env().Undefined();
    return queue_->synchronize(info.This().As<Napi::Object>());
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
    if (queue_) queue_->close(info.Env());
    queue_.reset();
    runtime_.reset();
    memories_.clear();
  }

  // In this order: the queue uses the other two until it is gone.
  MemoryTable memories_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<QueuePromises> queue_;
  Napi::Reference<Napi::Float64Array> arguments_;
  double* argumentData_ = nullptr;
  // Kept between launches for its vectors' memory.
  LaunchRequest request_;
};

Napi::Value listOf(Napi::Env env, const std::vector<std::string>& names) {
  Napi::Array list = Napi::Array::New(env, names.size());
  for (size_t i = 0; i < names.size(); i++) list.Set(static_cast<uint32_t>(i), names[i]);
  return list;
}

Napi::Value usable(const Napi::CallbackInfo& info) {
  return listOf(info.Env(), usableInstructionSets());
}

Napi::Value emulated(const Napi::CallbackInfo& info) {
  return listOf(info.Env(), emulatedInstructionSets());
}

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  exports.Set("Runtime", RuntimeObject::define(env));
  exports.Set("usableInstructionSets", Napi::Function::New(env, usable));
  exports.Set("emulatedInstructionSets", Napi::Function::New(env, emulated));
  return exports;
}

}  // namespace
}  // namespace saccade

Napi::Object initialiseSaccade(Napi::Env env, Napi::Object exports) {
  return saccade::initialise(env, exports);
}

NODE_API_MODULE(saccade, initialiseSaccade)
