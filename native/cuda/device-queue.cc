#include "device-queue.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "probe.h"

using saccade::DeviceFailure;
using saccade::sizeInWords;
using saccade::wordsOf;

namespace {

// Waking from the driver's own wait takes longer than most copies.
constexpr auto SPIN = std::chrono::microseconds(50);

}  // namespace

SaccadeDeviceQueue::SaccadeDeviceQueue(int32_t index) : index_(index) {
  const int32_t count = saccade::countDevices();
  if (index < 0 || index >= count) {
    throw DeviceFailure{SACCADE_FAILED, "cudaErrorInvalidDevice",
                        "There is no CUDA device " + std::to_string(index) + "; there are " +
                            std::to_string(count) + ", counted from 0."};
  }
  const SaccadeDeviceInfo info = saccade::describeDevice(index);
  if (info.obstacle[0] != '\0') {
    throw DeviceFailure{SACCADE_FAILED, "",
                        "CUDA device " + std::to_string(index) + " (" + info.name +
                            ") cannot be used: " + info.obstacle};
  }
  saccade::expect(cudaSetDevice(index), "Opening the CUDA device");
  saccade::expect(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "Opening a stream");
  try {
    cudaDeviceProp properties;
    saccade::expect(cudaGetDeviceProperties(&properties, index), "Asking for properties");
    memory_ = std::make_unique<saccade::DeviceMemory>(index, stream_);
    scratch_ = std::make_unique<saccade::DeviceScratch>(*memory_, stream_);
    writes_ = std::make_unique<saccade::WriteStaging>(stream_);
    forKernels_.host = this;
    forKernels_.stream = stream_;
    forKernels_.multiprocessors = info.multiprocessors;
    forKernels_.computeCapability = info.computeCapability;
    forKernels_.sharedBytes = static_cast<int64_t>(properties.sharedMemPerBlockOptin);
    forKernels_.fault = static_cast<SaccadeFault*>(allocate(sizeof(SaccadeFault)));
    forKernels_.scratch = scratch;
    clearFault();
  } catch (...) {
    closeStream();
    throw;
  }
}

SaccadeDeviceQueue::~SaccadeDeviceQueue() { closeStream(); }

void SaccadeDeviceQueue::closeStream() {
  // Nothing on a lost device can be freed, so none of these calls need succeed.
  cudaSetDevice(index_);
  cudaStreamSynchronize(stream_);
  if (scratch_) scratch_->clear();
  if (forKernels_.fault) memory_->give(forKernels_.fault);
  cudaStreamSynchronize(stream_);
  reads_.clear();
  writes_.reset();
  memory_.reset();
  cudaStreamDestroy(stream_);
  cudaGetLastError();
}

void SaccadeDeviceQueue::enter() {
  if (isLost_.load(std::memory_order_acquire)) throwLost();
  // Each time: whoever else uses CUDA in this process may have chosen another for this thread.
  expect(cudaSetDevice(index_), "choosing the device");
}

void SaccadeDeviceQueue::expect(cudaError_t error, const std::string& doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  // An error of the device itself is what every call returns from now on.
  const cudaError_t state = cudaStreamQuery(stream_);
  if (state == cudaSuccess || state == cudaErrorNotReady) {
    cudaGetLastError();
    saccade::expect(error, doing.c_str());
  }
  {
    std::lock_guard<std::mutex> lock(lossMutex_);
    if (!isLost_.load()) {
      loss_.driver = cudaGetErrorName(state);
      loss_.message = "The CUDA device was lost; " + doing + " found it so (" + wordsOf(state) +
                      "). What it held is gone. Start a new process: in this one the driver runs "
                      "nothing more on it.";
      isLost_.store(true, std::memory_order_release);
    }
  }
  throwLost();
}

void SaccadeDeviceQueue::throwLost() {
  std::lock_guard<std::mutex> lock(lossMutex_);
  throw DeviceFailure(loss_);
}

void SaccadeDeviceQueue::throwOutOfMemory(const std::string& what, int64_t bytes) {
  size_t freeBytes = 0;
  size_t totalBytes = 0;
  cudaGetLastError();
  expect(cudaMemGetInfo(&freeBytes, &totalBytes), "asking for free memory");
  const cudaError_t error = cudaErrorMemoryAllocation;
  throw DeviceFailure{
      SACCADE_OUT_OF_MEMORY, cudaGetErrorName(error),
      "The CUDA device has no room for " + what + " of " + std::to_string(bytes) + " bytes (" +
          wordsOf(error) + "); " + sizeInWords(static_cast<int64_t>(freeBytes)) + " of " +
          sizeInWords(static_cast<int64_t>(totalBytes)) +
          " are free. Use smaller batches or a smaller model, or end what else runs on it."};
}

void* SaccadeDeviceQueue::takeMemory(int64_t bytes, cudaError_t* error) {
  void* memory = memory_->take(bytes, error);
  if (*error != cudaErrorMemoryAllocation) return memory;
  cudaGetLastError();
  *error = cudaStreamSynchronize(stream_);
  if (*error != cudaSuccess) return nullptr;
  memory_->trim();
  return memory_->take(bytes, error);
}

void* SaccadeDeviceQueue::allocate(int64_t bytes) {
  enter();
  cudaError_t error = cudaSuccess;
  void* memory = memory_->take(bytes, &error);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    expect(scratch_->clear(), "freeing workspaces");
    memory = takeMemory(bytes, &error);
  }
  if (error == cudaErrorMemoryAllocation) throwOutOfMemory("an array", bytes);
  expect(error, "allocating memory");
  return memory;
}

void SaccadeDeviceQueue::release(void* memory) {
  enter();
  expect(memory_->give(memory), "freeing memory");
}

void SaccadeDeviceQueue::write(void* to, const void* from, int64_t bytes) {
  enter();
  expect(writes_->write(static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from),
                        static_cast<size_t>(bytes)),
         "copying to the device");
}

void* SaccadeDeviceQueue::scratch(void* self, int64_t bytes) {
  SaccadeDeviceQueue& queue = *static_cast<SaccadeDeviceQueue*>(self);
  cudaError_t& error = queue.scratchError_;
  void* memory = queue.scratch_->take(bytes, &error);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    error = cudaStreamSynchronize(queue.stream_);
    queue.memory_->trim();
    if (error == cudaSuccess) memory = queue.scratch_->take(bytes, &error);
  }
  queue.scratchAsked_ = bytes;
  return memory;
}

void SaccadeDeviceQueue::launch(const SaccadeDeviceRequest& request) {
  enter();
  const std::string id = request.kernel->id;
  expect(scratch_->reset(), "freeing workspaces");
  scratchError_ = cudaSuccess;
  const auto& runs = request.backward ? request.kernel->backward : request.kernel->forward;
  char error[SACCADE_ERROR_CHARS] = "";
  const SaccadeDeviceLaunch launch{request.operands, request.dims, request.scalars,
                                   &forKernels_,     request.number, error};
  const int refused = runs[request.storage](&launch);
  if (scratchError_ == cudaErrorMemoryAllocation) {
    throwOutOfMemory(id + "'s workspace", scratchAsked_);
  }
  expect(scratchError_, "taking a workspace for " + id);
  expect(cudaGetLastError(), "launching " + id);
  if (refused != 0) throw DeviceFailure{SACCADE_REFUSED, "", id + ": " + error};
}

std::unique_ptr<SaccadeReadback> SaccadeDeviceQueue::read(const void* from, int64_t bytes) {
  enter();
  const size_t size = static_cast<size_t>(bytes);
  std::unique_ptr<SaccadeReadback> readback = reads_.take(size);
  uint8_t* fault = readback->pinned.data();
  cudaError_t error = cudaMemcpyAsync(fault, forKernels_.fault, sizeof(SaccadeFault),
                                      cudaMemcpyDeviceToHost, stream_);
  if (error == cudaSuccess && size > 0) {
    error = cudaMemcpyAsync(readback->data(), from, size, cudaMemcpyDeviceToHost, stream_);
  }
  if (error == cudaSuccess) error = cudaEventRecord(readback->pinned.passed(), stream_);
  if (error != cudaSuccess) {
    // Part of it may be under way.
    cudaStreamSynchronize(stream_);
    expect(error, "copying to the host");
  }
  return readback;
}

void SaccadeDeviceQueue::finish(std::unique_ptr<SaccadeReadback> readback, void* to,
                                SaccadeFault& fault) {
  const cudaEvent_t passed = readback->pinned.passed();
  const auto end = std::chrono::steady_clock::now() + SPIN;
  cudaError_t error = cudaErrorNotReady;
  try {
    enter();
    while (error == cudaErrorNotReady && std::chrono::steady_clock::now() < end) {
      error = cudaEventQuery(passed);
    }
    cudaGetLastError();
    if (error == cudaErrorNotReady) error = cudaEventSynchronize(passed);
    expect(error, "waiting for the device");
  } catch (...) {
    // Nothing runs on a lost device; on any other the copy may still be under way.
    if (!isLost_.load()) cudaEventSynchronize(passed);
    throw;
  }
  std::memcpy(&fault, readback->pinned.data(), sizeof fault);
  if (readback->bytes > 0) std::memcpy(to, readback->data(), readback->bytes);
  reads_.give(std::move(readback));
}

void SaccadeDeviceQueue::clearFault() {
  enter();
  expect(cudaMemsetAsync(forKernels_.fault, 0, sizeof(SaccadeFault), stream_),
         "clearing the record of faults");
}
