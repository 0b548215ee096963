// An opened device: memory, and launches and copies that run on its one stream in order.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "device-memory.h"
#include "device-scratch.h"
#include "failure.h"
#include "library.h"
#include "read-staging.h"
#include "write-staging.h"

// Everything throws DeviceFailure. One thread uses it, the owner's; finish() and drop() may be called
// on any.
struct SaccadeDeviceQueue {
 public:
  explicit SaccadeDeviceQueue(int32_t index);
  // Waits for what is queued.
  ~SaccadeDeviceQueue();
  SaccadeDeviceQueue(const SaccadeDeviceQueue&) = delete;
  SaccadeDeviceQueue& operator=(const SaccadeDeviceQueue&) = delete;

  void* allocate(int64_t bytes);
  void release(void* memory);
  void write(void* to, const void* from, int64_t bytes);
  void launch(const SaccadeDeviceRequest& request);
  std::unique_ptr<SaccadeReadback> read(const void* from, int64_t bytes);
  void finish(std::unique_ptr<SaccadeReadback> readback, void* to, SaccadeFault& fault);
  void clearFault();
  void poisonScratch(bool on) { scratch_->poison(on); }
  int64_t workspaceBytes() const { return scratch_->takenBytes(); }

 private:
  // Makes the device the calling thread's; throws if it is lost.
  void enter();
  // Throws unless the call succeeded, and finds out whether the device is lost.
  void expect(cudaError_t error, const std::string& doing);
  [[noreturn]] void throwOutOfMemory(const std::string& what, int64_t bytes);
  [[noreturn]] void throwLost();
  // The same memory as take, after everything that is kept has been given up if need be.
  void* takeMemory(int64_t bytes, cudaError_t* error);
  static void* scratch(void* self, int64_t bytes);
  void closeStream();

  const int32_t index_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<saccade::DeviceMemory> memory_;
  std::unique_ptr<saccade::DeviceScratch> scratch_;
  std::unique_ptr<saccade::WriteStaging> writes_;
  saccade::ReadStaging reads_;
  SaccadeDevice forKernels_{};
  // The error of a workspace in the launch being queued.
  cudaError_t scratchError_ = cudaSuccess;
  int64_t scratchAsked_ = 0;

  std::atomic<bool> isLost_{false};
  std::mutex lossMutex_;
  saccade::DeviceFailure loss_{SACCADE_LOST, "", ""};
};
