// Emulated devices, and streams as threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "cuda_runtime.h"

namespace saccade {
namespace emulator {

struct Device {
  const char* name;
  int computeCapability;
  size_t memoryBytes;
  // The launch that breaks it; 0: none.
  uint64_t brokenBy;
  std::atomic<size_t> usedBytes{0};
  std::atomic<uint64_t> launches{0};
  // The error that every call on it returns once it is broken.
  std::atomic<cudaError_t> error{cudaSuccess};

  Device(const char* name, int computeCapability, size_t memoryBytes, uint64_t brokenBy)
      : name(name), computeCapability(computeCapability), memoryBytes(memoryBytes),
        brokenBy(brokenBy) {}
};

// An emulated device, by its number below that of cudaGetDeviceCount.
Device& deviceAt(int index);
// The device that cudaSetDevice chose on this thread.
Device& currentDevice();
// Remembers an error for cudaGetLastError; returns it.
cudaError_t note(cudaError_t error);

// Throws std::bad_alloc beyond the device's memory.
void* takeMemory(Device& device, size_t bytes);
void giveMemory(Device& device, void* memory);
bool isPinned(const void* memory, size_t bytes);

}  // namespace emulator
}  // namespace saccade

struct EmulatedStream {
 public:
  explicit EmulatedStream(saccade::emulator::Device& device) : device(device) {}
  // Runs what is queued to its end.
  ~EmulatedStream();

  // Queues work, which a broken device skips; waits while too much is queued.
  void push(std::function<void()> work);
  void wait();
  bool isIdle();

  saccade::emulator::Device& device;

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queued_;
  bool isRunning_ = false;
  bool isStopping_ = false;
  std::thread thread_;
};
