// The exports of the library: its kernels and its functions, each behind an outcome.
#include "library.h"

#include <algorithm>
#include <memory>

#include "device-queue.h"
#include "failure.h"
#include "probe.h"

#define KERNEL(id) extern "C" const SaccadeDeviceKernel saccade_cuda_##id;
#include SACCADE_CUDA_CATALOG
#undef KERNEL

namespace {

using saccade::guarded;

const SaccadeDeviceKernel* const kernels[] = {
#define KERNEL(id) &saccade_cuda_##id,
#include SACCADE_CUDA_CATALOG
#undef KERNEL
};

SaccadeOutcome probe(SaccadeDeviceInfo* devices, int32_t most, int32_t* count,
                     SaccadeFailure* failure) {
  return guarded(failure, [&] {
    *count = saccade::countDevices();
    for (int32_t i = 0; i < std::min(most, *count); i++) devices[i] = saccade::describeDevice(i);
  });
}

SaccadeOutcome open(int32_t device, SaccadeDeviceQueue** queue, SaccadeFailure* failure) {
  return guarded(failure, [&] { *queue = new SaccadeDeviceQueue(device); });
}

void close(SaccadeDeviceQueue* queue) { delete queue; }

SaccadeOutcome allocate(SaccadeDeviceQueue* queue, int64_t bytes, void** memory,
                        SaccadeFailure* failure) {
  return guarded(failure, [&] { *memory = queue->allocate(bytes); });
}

SaccadeOutcome release(SaccadeDeviceQueue* queue, void* memory, SaccadeFailure* failure) {
  return guarded(failure, [&] { queue->release(memory); });
}

SaccadeOutcome write(SaccadeDeviceQueue* queue, void* to, const void* from, int64_t bytes,
                     SaccadeFailure* failure) {
  return guarded(failure, [&] { queue->write(to, from, bytes); });
}

SaccadeOutcome launch(SaccadeDeviceQueue* queue, const SaccadeDeviceRequest* request,
                      SaccadeFailure* failure) {
  return guarded(failure, [&] { queue->launch(*request); });
}

SaccadeOutcome read(SaccadeDeviceQueue* queue, const void* from, int64_t bytes,
                    SaccadeReadback** readback, SaccadeFailure* failure) {
  return guarded(failure, [&] { *readback = queue->read(from, bytes).release(); });
}

SaccadeOutcome finish(SaccadeDeviceQueue* queue, SaccadeReadback* readback, void* to,
                      SaccadeFault* fault, SaccadeFailure* failure) {
  std::unique_ptr<SaccadeReadback> owned(readback);
  return guarded(failure, [&] { queue->finish(std::move(owned), to, *fault); });
}

void drop(SaccadeDeviceQueue*, SaccadeReadback* readback) {
  // The copy into it must have ended before its memory goes.
  cudaEventSynchronize(readback->pinned.passed());
  delete readback;
}

SaccadeOutcome clearFault(SaccadeDeviceQueue* queue, SaccadeFailure* failure) {
  return guarded(failure, [&] { queue->clearFault(); });
}

void poisonScratch(SaccadeDeviceQueue* queue, int32_t on) { queue->poisonScratch(on != 0); }

int64_t workspaceBytes(SaccadeDeviceQueue* queue) { return queue->workspaceBytes(); }

const SaccadeDeviceLibrary library = {
    SACCADE_LIBRARY_VERSION,
    kernels,
    static_cast<int32_t>(sizeof kernels / sizeof kernels[0]),
    probe,
    open,
    close,
    allocate,
    release,
    write,
    launch,
    read,
    finish,
    drop,
    clearFault,
    poisonScratch,
    workspaceBytes,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const SaccadeDeviceLibrary*
saccadeDeviceLibrary() {
  return &library;
}
