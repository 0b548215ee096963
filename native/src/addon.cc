// What JavaScript sees: usableInstructionSets(), and a Runtime with launch() and memory.
#include <napi.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "dispatch.h"
#include "instruction-sets.h"

namespace saccade {
namespace {

// An address for operands of zero bytes: present, never read.
alignas(64) uint8_t nothing[64];

class RuntimeObject : public Napi::ObjectWrap<RuntimeObject> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Runtime",
                       {InstanceMethod<&RuntimeObject::launchKernel>("launch"),
                        InstanceMethod<&RuntimeObject::kernels>("kernels"),
                        InstanceMethod<&RuntimeObject::allocate>("allocate"),
                        InstanceMethod<&RuntimeObject::probeThreads>("probeThreads"),
                        InstanceMethod<&RuntimeObject::poisonScratch>("poisonScratch"),
                        InstanceMethod<&RuntimeObject::setHandOver>("setHandOver"),
                        InstanceMethod<&RuntimeObject::close>("close")});
  }

  explicit RuntimeObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<RuntimeObject>(info) {
    if (info.Length() != 2 || !info[0].IsString() || !info[1].IsNumber()) {
      throw Napi::TypeError::New(info.Env(), "Runtime takes an instruction set and a thread count.");
    }
    const std::string name = info[0].As<Napi::String>();
    const double threads = info[1].As<Napi::Number>().DoubleValue();
    if (!(threads >= 1 && threads <= 1024) || threads != std::floor(threads)) {
      throw Napi::RangeError::New(info.Env(), "threads must be an integer from 1 to 1024.");
    }
    for (const std::string& usable : usableInstructionSets()) {
      if (usable == name) {
        runtime_ = std::make_unique<Runtime>(name, static_cast<int32_t>(threads));
        return;
      }
    }
    throw Napi::RangeError::New(info.Env(), "instruction set '" + name + "' cannot run here.");
  }

 private:
  Runtime& open(Napi::Env env) {
    if (!runtime_) throw Napi::Error::New(env, "this Runtime is closed. Open another.");
    return *runtime_;
  }

  // launch(kernel, backward, operands: (Uint8Array | undefined)[], ranges: Float64Array of offset
  // and length in bytes per operand, dims: Float64Array, scalars: Float64Array)
  void launchKernel(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    Runtime& runtime = open(env);
    if (info.Length() != 6 || !info[0].IsNumber() || !info[1].IsBoolean() || !info[2].IsArray()) {
      throw Napi::TypeError::New(
          env, "launch takes a kernel index, a boolean, operands, ranges, dims and scalars.");
    }
    LaunchRequest request;
    request.kernel = info[0].As<Napi::Number>().Int32Value();
    request.backward = info[1].As<Napi::Boolean>();
    const Napi::Array operands = info[2].As<Napi::Array>();
    const std::vector<double> ranges = numbers(info[3], "ranges");
    if (ranges.size() != size_t{operands.Length()} * 2) {
      throw Napi::TypeError::New(env, "ranges must hold an offset and a length per operand.");
    }
    for (uint32_t i = 0; i < operands.Length(); i++) {
      const Napi::Value operand = operands[i];
      request.operands.push_back(
          memoryOf(operand, ranges[size_t{i} * 2], ranges[size_t{i} * 2 + 1], i));
    }
    for (const double dim : numbers(info[4], "dims")) {
      if (!(dim >= 0 && dim < 1e15) || dim != std::floor(dim)) {
        throw Napi::RangeError::New(env, "dims must be non-negative integers.");
      }
      request.dims.push_back(static_cast<int64_t>(dim));
    }
    request.scalars = numbers(info[5], "scalars");
    try {
      saccade::launch(runtime, request);
    } catch (const std::bad_alloc&) {
      throw Napi::Error::New(env, "out of memory for the kernel's workspace. Use smaller batches.");
    } catch (const std::invalid_argument& error) {
      throw Napi::TypeError::New(env, error.what());
    } catch (const std::exception& error) {
      throw Napi::Error::New(env, error.what());
    }
  }

  static std::vector<double> numbers(const Napi::Value& value, const char* name) {
    if (value.IsTypedArray()) {
      const Napi::TypedArray array = value.As<Napi::TypedArray>();
      if (array.TypedArrayType() == napi_float64_array) {
        Napi::Float64Array doubles = value.As<Napi::Float64Array>();
        if (doubles.ElementLength() == 0) return {};
        return std::vector<double>(doubles.Data(), doubles.Data() + doubles.ElementLength());
      }
    }
    throw Napi::TypeError::New(value.Env(), std::string(name) + " must be a Float64Array.");
  }

  static OperandMemory memoryOf(const Napi::Value& value, double offset, double length, uint32_t i) {
    if (value.IsUndefined() || value.IsNull()) return {};
    const std::string name = "operand " + std::to_string(i);
    if (!value.IsTypedArray() ||
        value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
      throw Napi::TypeError::New(value.Env(), name + " must be a Uint8Array or undefined.");
    }
    Napi::Uint8Array array = value.As<Napi::Uint8Array>();
    const double available = static_cast<double>(array.ByteLength());
    if (!(offset >= 0 && length >= 0 && offset + length <= available) ||
        offset != std::floor(offset) || length != std::floor(length)) {
      throw Napi::RangeError::New(value.Env(), name + " reaches beyond its memory of " +
                                                   std::to_string(array.ByteLength()) + " bytes.");
    }
    OperandMemory memory;
    memory.present = true;
    memory.bytes = static_cast<int64_t>(length);
    memory.data = memory.bytes == 0 ? nothing : array.Data() + static_cast<size_t>(offset);
    return memory;
  }

  Napi::Value kernels(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const auto& entries = open(env).kernels();
    Napi::Array list = Napi::Array::New(env, entries.size());
    for (size_t i = 0; i < entries.size(); i++) {
      Napi::Object kernel = Napi::Object::New(env);
      kernel.Set("id", entries[i].kernel->id);
      kernel.Set("signature", entries[i].kernel->signature);
      kernel.Set("hasBackward", entries[i].kernel->backward != nullptr);
      list.Set(static_cast<uint32_t>(i), kernel);
    }
    return list;
  }

  // A Uint8Array whose first byte is 64-byte aligned. Zeroed, as all ArrayBuffers are.
  Napi::Value allocate(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const double size = info.Length() == 1 && info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : -1;
    if (!(size >= 0 && size < 9e15)) throw Napi::RangeError::New(env, "allocate takes a size in bytes.");
    const size_t bytes = static_cast<size_t>(size);
    Napi::ArrayBuffer buffer = Napi::ArrayBuffer::New(env, bytes + 64);
    const size_t address = reinterpret_cast<size_t>(buffer.Data());
    return Napi::Uint8Array::New(env, bytes, buffer, (64 - address % 64) % 64);
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
      open(env).pool().run(
          static_cast<int64_t>(probe.visits.size()),
          [](void* context, int64_t item, int32_t) {
            Probe& p = *static_cast<Probe*>(context);
            p.visits[static_cast<size_t>(item)]++;
            if (item == p.failAt) throw std::runtime_error("item " + std::to_string(item) + " failed");
          },
          &probe);
    } catch (const std::exception& error) {
      throw Napi::Error::New(env, error.what());
    }
    Napi::Int32Array visits = Napi::Int32Array::New(env, probe.visits.size());
    for (size_t i = 0; i < probe.visits.size(); i++) visits[i] = probe.visits[i];
    return visits;
  }

  void poisonScratch(const Napi::CallbackInfo& info) {
    open(info.Env()).scratch().poison(info[0].ToBoolean());
  }

  void setHandOver(const Napi::CallbackInfo& info) {
    const double microseconds = info.Length() == 1 && info[0].IsNumber()
                                    ? info[0].As<Napi::Number>().DoubleValue()
                                    : -1;
    if (!(microseconds >= 0)) {
      throw Napi::RangeError::New(info.Env(), "setHandOver takes a time in microseconds.");
    }
    open(info.Env()).setHandOver(microseconds * 1000);
  }

  void close(const Napi::CallbackInfo&) { runtime_.reset(); }

  std::unique_ptr<Runtime> runtime_;
};

Napi::Value instructionSets(const Napi::CallbackInfo& info) {
  const std::vector<std::string> names = usableInstructionSets();
  Napi::Array list = Napi::Array::New(info.Env(), names.size());
  for (size_t i = 0; i < names.size(); i++) list.Set(static_cast<uint32_t>(i), names[i]);
  return list;
}

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  exports.Set("Runtime", RuntimeObject::define(env));
  exports.Set("usableInstructionSets", Napi::Function::New(env, instructionSets));
  return exports;
}

}  // namespace
}  // namespace saccade

Napi::Object initialiseSaccade(Napi::Env env, Napi::Object exports) {
  return saccade::initialise(env, exports);
}

NODE_API_MODULE(saccade, initialiseSaccade)
