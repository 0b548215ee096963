// The C interface of a kernel that runs on a GPU: how its host side is called.
//
// The signature is the one of kernel.h, and everything derived from it holds here too. What differs:
// operands lie in device memory, a function queues its work on the device's stream and returns at
// once, and what a kernel finds wrong with its data while it runs goes into the device's fault.
#pragma once

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

// The first index out of its range since the host last looked; in device memory. A kernel that finds
// one sets `launch` from 0 to its launch's number with a compare-and-swap and, if it won, the rest.
// It goes on with some index in range, so that nothing out of range is read or written.
typedef struct SaccadeFault {
  uint32_t launch;
  // Place among the launch's operands, and in the operand.
  int32_t operand;
  int64_t index;
  int64_t value, lowest, bound;
} SaccadeFault;

// The services that the host side of a kernel may use while it queues work.
typedef struct SaccadeDevice {
  void* host;
  // A cudaStream_t.
  void* stream;
  int32_t multiprocessors;
  // 80 for compute capability 8.0.
  int32_t computeCapability;
  // Shared memory that one block may ask for.
  int64_t sharedBytes;
  SaccadeFault* fault;
  // Device memory for the launch, 256-byte aligned and uninitialized; work queued later may use it
  // again. Null where there is none left; the function then returns 1.
  void* (*scratch)(void* host, int64_t bytes);
} SaccadeDevice;

typedef struct SaccadeDeviceLaunch {
  // Null where an optional operand, an output gradient or an unwanted input gradient is absent.
  void* const* operands;
  const int64_t* dims;
  const double* scalars;
  const SaccadeDevice* device;
  // Not 0; what a fault names.
  uint32_t number;
  // Room for one sentence of SACCADE_ERROR_CHARS, written when the function returns non-zero.
  char* error;
} SaccadeDeviceLaunch;

// Queues the work and returns 0, or 1 with `error` filled and nothing promised about the outputs.
typedef int (*SaccadeDeviceRun)(const SaccadeDeviceLaunch* launch);

typedef struct SaccadeDeviceKernel {
  const char* id;
  const char* signature;
  // By storage type; null where the kernel has none for it.
  SaccadeDeviceRun forward[SACCADE_STORAGES];
  SaccadeDeviceRun backward[SACCADE_STORAGES];
} SaccadeDeviceKernel;

#ifdef __cplusplus
}
#endif
