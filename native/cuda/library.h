// The C interface between the addon and a library of kernels for one kind of device.
//
// The addon opens such a library when it is asked for, so that it loads where the library, the
// driver or the device is missing. A function that can fail returns an outcome and, unless it is
// SACCADE_DONE, fills `failure`.
#pragma once

#include "device-kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  // Changes with every change of this file.
  SACCADE_LIBRARY_VERSION = 1,
  SACCADE_DRIVER_CHARS = 64,
  SACCADE_FAILURE_CHARS = 1024,
  SACCADE_NAME_CHARS = 256,
};

typedef enum SaccadeOutcome {
  SACCADE_DONE = 0,
  // The host side of a kernel found its launch wrong.
  SACCADE_REFUSED = 1,
  SACCADE_OUT_OF_MEMORY = 2,
  // The driver refused this call; the device goes on.
  SACCADE_FAILED = 3,
  // Nothing runs on the device any more.
  SACCADE_LOST = 4,
} SaccadeOutcome;

typedef struct SaccadeFailure {
  // The driver's name of the error, such as cudaErrorMemoryAllocation; empty if it made none.
  char driver[SACCADE_DRIVER_CHARS];
  // The fact with the driver's words, then the remedy.
  char message[SACCADE_FAILURE_CHARS];
} SaccadeFailure;

typedef struct SaccadeDeviceInfo {
  char name[SACCADE_NAME_CHARS];
  // 80 for compute capability 8.0.
  int32_t computeCapability;
  int32_t multiprocessors;
  int64_t memoryBytes;
  // Why it cannot be opened, in one sentence; empty if it can.
  char obstacle[SACCADE_FAILURE_CHARS];
} SaccadeDeviceInfo;

// An opened device: memory, and one stream on which everything runs in the order of the calls.
typedef struct SaccadeDeviceQueue SaccadeDeviceQueue;
// A copy to the host on its way.
typedef struct SaccadeReadback SaccadeReadback;

typedef struct SaccadeDeviceRequest {
  const SaccadeDeviceKernel* kernel;
  int32_t backward;
  int32_t storage;
  void* const* operands;
  const int64_t* dims;
  const double* scalars;
  // Not 0; what a fault names.
  uint32_t number;
} SaccadeDeviceRequest;

typedef struct SaccadeDeviceLibrary {
  int32_t version;
  const SaccadeDeviceKernel* const* kernels;
  int32_t kernelCount;

  // How many devices there are; describes the first `most` of them. Fails where there is no driver.
  SaccadeOutcome (*probe)(SaccadeDeviceInfo* devices, int32_t most, int32_t* count,
                          SaccadeFailure* failure);
  SaccadeOutcome (*open)(int32_t device, SaccadeDeviceQueue** queue, SaccadeFailure* failure);
  // Waits for what is queued and frees everything but the memory from allocate().
  void (*close)(SaccadeDeviceQueue* queue);

  // All of these are called on one thread, but `finish` and `drop` on any.

  // 256-byte aligned and uninitialized.
  SaccadeOutcome (*allocate)(SaccadeDeviceQueue* queue, int64_t bytes, void** memory,
                             SaccadeFailure* failure);
  // Queued work may still use the memory.
  SaccadeOutcome (*release)(SaccadeDeviceQueue* queue, void* memory, SaccadeFailure* failure);
  // Queues a copy to the device; the bytes are the caller's again at once.
  SaccadeOutcome (*write)(SaccadeDeviceQueue* queue, void* to, const void* from, int64_t bytes,
                          SaccadeFailure* failure);
  SaccadeOutcome (*launch)(SaccadeDeviceQueue* queue, const SaccadeDeviceRequest* request,
                           SaccadeFailure* failure);
  // Queues a copy to the host, and of the fault as it is then.
  SaccadeOutcome (*read)(SaccadeDeviceQueue* queue, const void* from, int64_t bytes,
                         SaccadeReadback** readback, SaccadeFailure* failure);
  // Waits for the copy and hands it over; the readback is used up, whatever the outcome.
  SaccadeOutcome (*finish)(SaccadeDeviceQueue* queue, SaccadeReadback* readback, void* to,
                           SaccadeFault* fault, SaccadeFailure* failure);
  // Uses a readback up without waiting for it; only `close` may follow.
  void (*drop)(SaccadeDeviceQueue* queue, SaccadeReadback* readback);
  // Launches queued from here on may record a fault again.
  SaccadeOutcome (*clearFault)(SaccadeDeviceQueue* queue, SaccadeFailure* failure);
  // Whether workspaces are filled with NaN before kernels get them.
  void (*poisonScratch)(SaccadeDeviceQueue* queue, int32_t on);
  // Workspace that the latest launch took.
  int64_t (*workspaceBytes)(SaccadeDeviceQueue* queue);
} SaccadeDeviceLibrary;

typedef const SaccadeDeviceLibrary* (*SaccadeDeviceLibraryEntry)(void);

#ifdef __cplusplus
}
#endif

// The one function that a library exports.
#define SACCADE_LIBRARY_ENTRY "saccadeDeviceLibrary"
