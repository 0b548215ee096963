// The calls of cuda_runtime.h on streams, events, pools and memory of the device.
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "stream.h"

namespace saccade {
namespace emulator {
namespace {

// Queues work unless the device is broken.
cudaError_t queue(cudaStream_t stream, std::function<void()> work) {
  Device& device = stream->device;
  if (device.error != cudaSuccess) return note(device.error);
  stream->push([&device, work = std::move(work)] {
    if (device.error == cudaSuccess) work();
  });
  return cudaSuccess;
}

}  // namespace

cudaError_t launch(cudaStream_t stream, std::function<void()> grid) {
  Device& device = stream->device;
  return queue(stream, [&device, grid = std::move(grid)] {
    if (++device.launches == device.brokenBy) device.error = cudaErrorIllegalAddress;
    else grid();
  });
}

}  // namespace emulator
}  // namespace saccade

using namespace saccade::emulator;

struct EmulatedEvent {
  struct State {
    std::mutex mutex;
    std::condition_variable passed;
    // Records queued, and those the stream has come to.
    uint64_t recorded = 0, reached = 0;
    Device* device = nullptr;
  };
  // An event may go before the stream has come to it.
  std::shared_ptr<State> state = std::make_shared<State>();
};

struct EmulatedPool {
  Device& device;
};

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  Device& device = currentDevice();
  if (device.error != cudaSuccess) return note(device.error);
  *stream = new EmulatedStream(device);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stream->wait();
  return note(stream->device.error);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (stream->device.error != cudaSuccess) return note(stream->device.error);
  return stream->isIdle() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new EmulatedEvent();
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const auto state = event->state;
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->recorded++;
    state->device = &stream->device;
  }
  // Broken devices come to it too: whoever waits is told.
  stream->push([state] {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->reached++;
    state->passed.notify_all();
  });
  return note(stream->device.error);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  EmulatedEvent::State& state = *event->state;
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.device && state.device->error != cudaSuccess) return note(state.device->error);
  return state.reached == state.recorded ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  EmulatedEvent::State& state = *event->state;
  std::unique_lock<std::mutex> lock(state.mutex);
  state.passed.wait(lock, [&state] { return state.reached == state.recorded; });
  return state.device ? note(state.device->error) : cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  *pool = new EmulatedPool{deviceAt(properties->location.id)};
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  delete pool;
  return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void** memory, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  if (bytes == 0) return note(cudaErrorInvalidValue);
  if (stream->device.error != cudaSuccess) return note(stream->device.error);
  try {
    *memory = takeMemory(pool->device, bytes);
    return cudaSuccess;
  } catch (const std::bad_alloc&) {
    return note(cudaErrorMemoryAllocation);
  }
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  Device& device = stream->device;
  stream->push([&device, memory] { giveMemory(device, memory); });
  return note(device.error);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  // A real copy from pageable memory would wait, and not show that it does.
  if ((kind == cudaMemcpyHostToDevice && !isPinned(from, bytes)) ||
      (kind == cudaMemcpyDeviceToHost && !isPinned(to, bytes))) {
    return note(cudaErrorInvalidValue);
  }
  return queue(stream, [=] { std::memcpy(to, from, bytes); });
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  return queue(stream, [=] { std::memset(memory, value, bytes); });
}
