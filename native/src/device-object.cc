#include "device-object.h"

#include <cmath>
#include <memory>
#include <stdexcept>

#include "device-library.h"
#include "launch-arguments.h"
#include "memory.h"
#include "queue-promises.h"
#include "readback-queue.h"

namespace saccade {
namespace {

// Described by probeDevices at most.
constexpr int32_t MOST_DEVICES = 64;

// Runs `body` and throws what a library or a check says as JavaScript takes it.
template <class Body>
auto forJavaScript(Napi::Env env, const Body& body) {
  try {
    return body();
  } catch (const DeviceError& error) {
    throw errorOf(env, error.fault);
  } catch (const std::invalid_argument& error) {
    throw Napi::TypeError::New(env, error.what());
  } catch (const std::exception& error) {
    throw Napi::Error::New(env, error.what());
  }
}

class DeviceObject : public Napi::ObjectWrap<DeviceObject> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "DeviceRuntime",
                       {InstanceMethod<&DeviceObject::launchKernel>("launch"),
                        InstanceMethod<&DeviceObject::kernels>("kernels"),
                        InstanceMethod<&DeviceObject::allocate>("allocate"),
                        InstanceMethod<&DeviceObject::release>("release"),
                        InstanceMethod<&DeviceObject::write>("write"),
                        InstanceMethod<&DeviceObject::read>("read"),
                        InstanceMethod<&DeviceObject::synchronize>("synchronize"),
                        InstanceMethod<&DeviceObject::argumentArray>("arguments"),
                        InstanceMethod<&DeviceObject::workspaceBytes>("workspaceBytes"),
                        InstanceMethod<&DeviceObject::poisonScratch>("poisonScratch"),
                        InstanceMethod<&DeviceObject::close>("close")});
  }

  explicit DeviceObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<DeviceObject>(info) {
    const double device = numberAt(info, 1);
    if (info.Length() != 2 || !info[0].IsString() || device != std::floor(device) ||
        !(device >= 0 && device < 1e6)) {
      throw Napi::TypeError::New(info.Env(), "DeviceRuntime takes a library's path and the number "
                                             "of a device.");
    }
    const std::string path = info[0].As<Napi::String>();
    forJavaScript(info.Env(), [&] {
      library_ = &DeviceLibrary::open(path);
      expectDone([&](SaccadeFailure* failure) {
        return functions().open(static_cast<int32_t>(device), &device_, failure);
      });
    });
    promises_ = std::make_unique<QueuePromises>(
        info.Env(), [this](void (*onPassed)(void*), void* context) {
          auto queue = std::make_unique<ReadbackQueue>(*library_, device_, onPassed, context);
          queue_ = queue.get();
          return queue;
        });
  }

  ~DeviceObject() override { closeDevice(); }

 private:
  const SaccadeDeviceLibrary& functions() const { return library_->functions(); }

  void expectOpen(Napi::Env env) const {
    if (!device_) throw Napi::Error::New(env, "this DeviceRuntime is closed. Open another.");
  }

  Napi::Value argumentArray(const Napi::CallbackInfo& info) {
    expectOpen(info.Env());
    return arguments_.array(info.Env());
  }

  // launch(kernel, backward, storage, operandCount, dimCount, scalarCount)
  void launchKernel(const Napi::CallbackInfo& info) {
    expectOpen(info.Env());
    LaunchRequest& request = arguments_.read(info, memories_);
    forJavaScript(info.Env(), [&] {
      check(library_->forms(), request);
      const SaccadeDeviceRequest launch{
          library_->kernels()[static_cast<size_t>(request.kernel)],
          request.backward,
          request.storage,
          request.pointers.data(),
          request.dims.data(),
          request.scalars.data(),
          faultNumber(request.kernel, request.backward),
      };
      queue_->noteWork();
      expectDone([&](SaccadeFailure* failure) {
        return functions().launch(device_, &launch, failure);
      });
    });
  }

  Napi::Value kernels(const Napi::CallbackInfo& info) {
    expectOpen(info.Env());
    return kernelList(info.Env(), library_->forms());
  }

  // allocate(bytes): the id of memory whose first byte is 256-byte aligned.
  Napi::Value allocate(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    expectOpen(env);
    const double size = numberAt(info, 0);
    if (info.Length() != 1 || !(size >= 0 && size < 9e15)) {
      throw Napi::RangeError::New(env, "allocate takes a size in bytes.");
    }
    const int64_t bytes = static_cast<int64_t>(size);
    void* memory = nullptr;
    forJavaScript(env, [&] {
      expectDone([&](SaccadeFailure* failure) {
        return functions().allocate(device_, bytes, &memory, failure);
      });
    });
    const size_t id = memories_.add(static_cast<uint8_t*>(memory), bytes);
    return Napi::Number::New(env, static_cast<double>(id));
  }

  // release(id)
  void release(const Napi::CallbackInfo& info) {
    const double id = numberAt(info, 0);
    if (info.Length() != 1 || !memories_.find(id)) {
      throw Napi::RangeError::New(info.Env(), "release takes the id of memory not yet released.");
    }
    const Memory memory = memories_.take(static_cast<size_t>(id));
    forJavaScript(info.Env(), [&] {
      expectDone([&](SaccadeFailure* failure) {
        return functions().release(device_, memory.data, failure);
      });
    });
  }

  // write(id, offset, bytes)
  void write(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (info.Length() != 3 || !info[2].IsTypedArray()) {
      throw Napi::TypeError::New(env, "write takes an id, an offset and a typed array.");
    }
    expectOpen(env);
    const Napi::Uint8Array bytes = info[2].As<Napi::Uint8Array>();
    const size_t length = bytes.ByteLength();
    const Memory& memory = rangeAt(info, memories_, static_cast<double>(length));
    if (length == 0) return;
    uint8_t* to = memory.data + static_cast<size_t>(numberAt(info, 1));
    queue_->noteWork();
    forJavaScript(env, [&] {
      expectDone([&](SaccadeFailure* failure) {
        return functions().write(device_, to, bytes.Data(), static_cast<int64_t>(length), failure);
      });
    });
  }

  // read(id, offset, length): a promise of an ArrayBuffer.
  Napi::Value read(const Napi::CallbackInfo& info) {
    const double length = numberAt(info, 2);
    expectOpen(info.Env());
    Memory& memory = rangeAt(info, memories_, length);
    const uint8_t* from = memory.data + static_cast<size_t>(numberAt(info, 1));
    return forJavaScript(info.Env(), [&] {
      return promises_->read(info.This().As<Napi::Object>(), memory, from,
                             static_cast<size_t>(length));
    });
  }

  // synchronize(): undefined, or a promise of it while work is queued.
  Napi::Value synchronize(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    expectOpen(env);
    if (promises_->isIdle(env)) return env.Undefined();
    return forJavaScript(
        env, [&]() -> Napi::Value { return promises_->synchronize(info.This().As<Napi::Object>()); });
  }

  Napi::Value workspaceBytes(const Napi::CallbackInfo& info) {
    expectOpen(info.Env());
    const int64_t bytes = functions().workspaceBytes(device_);
    return Napi::Number::New(info.Env(), static_cast<double>(bytes));
  }

  void poisonScratch(const Napi::CallbackInfo& info) {
    expectOpen(info.Env());
    functions().poisonScratch(device_, info[0].ToBoolean());
  }

  void close(const Napi::CallbackInfo& info) {
    if (promises_) promises_->close(info.Env());
    closeDevice();
  }

  void closeDevice() {
    queue_ = nullptr;
    promises_.reset();
    memories_.clear();
    if (device_) functions().close(device_);
    device_ = nullptr;
  }

  // Where nobody is left to tell, what goes wrong is no matter.
  void releaseQuietly(uint8_t* memory) {
    SaccadeFailure failure{};
    functions().release(device_, memory, &failure);
  }

  const DeviceLibrary* library_ = nullptr;
  SaccadeDeviceQueue* device_ = nullptr;
  MemoryTable memories_{[this](uint8_t* memory) { releaseQuietly(memory); }};
  std::unique_ptr<QueuePromises> promises_;
  // That of the promises.
  ReadbackQueue* queue_ = nullptr;
  LaunchArguments arguments_;
};

Napi::Object describe(Napi::Env env, const SaccadeDeviceInfo& info) {
  Napi::Object device = Napi::Object::New(env);
  device.Set("name", info.name);
  device.Set("computeCapability", info.computeCapability / 10.0);
  device.Set("multiprocessors", info.multiprocessors);
  device.Set("memoryBytes", static_cast<double>(info.memoryBytes));
  if (info.obstacle[0] != '\0') device.Set("obstacle", info.obstacle);
  return device;
}

}  // namespace

Napi::Function defineDeviceRuntime(Napi::Env env) { return DeviceObject::define(env); }

Napi::Value probeDevices(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (info.Length() != 1 || !info[0].IsString()) {
    throw Napi::TypeError::New(env, "probeDevices takes a library's path.");
  }
  const std::string path = info[0].As<Napi::String>();
  std::vector<SaccadeDeviceInfo> devices(MOST_DEVICES);
  int32_t count = 0;
  const DeviceLibrary* library = nullptr;
  forJavaScript(env, [&] {
    library = &DeviceLibrary::open(path);
    expectDone([&](SaccadeFailure* failure) {
      return library->functions().probe(devices.data(), MOST_DEVICES, &count, failure);
    });
  });
  Napi::Array list = Napi::Array::New(env);
  for (int32_t i = 0; i < std::min(count, MOST_DEVICES); i++) {
    list.Set(static_cast<uint32_t>(i), describe(env, devices[static_cast<size_t>(i)]));
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("kernels", kernelList(env, library->forms()));
  result.Set("devices", list);
  return result;
}

}  // namespace saccade
