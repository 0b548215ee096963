// The emulated devices, and the calls of cuda_runtime.h that choose one or name its errors.
#include <cstdio>
#include <utility>

#include "stream.h"

namespace saccade {
namespace emulator {
namespace {

Device devices[] = {
    {"Emulated GPU", 80, size_t{2} << 30, 0},
    {"Emulated GPU with 4 MiB of memory", 80, 4 << 20, 0},
    {"Emulated GPU that breaks at its third launch", 90, size_t{2} << 30, 3},
    {"Emulated GPU of an older kind", 75, size_t{2} << 30, 0},
    {"Emulated GPU with warpgroups", 90, size_t{2} << 30, 0},
};
constexpr int DEVICES = sizeof devices / sizeof devices[0];

thread_local int chosen = 0;
thread_local cudaError_t lastError = cudaSuccess;

struct ErrorText {
  cudaError_t error;
  const char *name, *sentence;
};
const ErrorText TEXTS[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
};

const ErrorText& textOf(cudaError_t error) {
  for (const ErrorText& text : TEXTS) {
    if (text.error == error) return text;
  }
  return TEXTS[1];
}

}  // namespace

Device& deviceAt(int index) { return devices[index]; }

Device& currentDevice() { return devices[chosen]; }

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) lastError = error;
  return error;
}

}  // namespace emulator
}  // namespace saccade

using namespace saccade::emulator;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = DEVICES;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int index) {
  if (index < 0 || index >= DEVICES) return note(cudaErrorInvalidDevice);
  const Device& device = devices[index];
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "%s", device.name);
  properties->totalGlobalMem = device.memoryBytes;
  properties->sharedMemPerBlockOptin = (device.computeCapability >= 90 ? 227 : 163) << 10;
  properties->major = device.computeCapability / 10;
  properties->minor = device.computeCapability % 10;
  properties->multiProcessorCount = 4;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 1;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= DEVICES) return note(cudaErrorInvalidDevice);
  chosen = device;
  return note(devices[device].error);
}

cudaError_t cudaMemGetInfo(size_t* freeBytes, size_t* totalBytes) {
  const Device& device = currentDevice();
  *totalBytes = device.memoryBytes;
  *freeBytes = device.memoryBytes - device.usedBytes;
  return note(device.error);
}

const char* cudaGetErrorName(cudaError_t error) { return textOf(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return textOf(error).sentence; }

cudaError_t cudaGetLastError() { return std::exchange(lastError, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return lastError; }
