// The C interface of a kernel: how the addon finds it, checks a launch and calls it.
//
// A kernel says its operands in a signature, written as the op's declaration reads:
//
//   "x[M,K]' w[N,K]+~ b[N]+~? -> y[M,N]' ; eps"
//
//   '     differentiable             +     differentiable, with a float32 gradient
//   #     int32                      !     float32
//   ?     may be absent (null)       ~     a weight: bf16 in a launch of mixed storage
//   =into the output shares the memory of the input `into`
//
// Operands marked neither # nor ! have the launch's storage type, as have their gradients unless
// marked +. A kernel has one function per storage type and direction; in both it sums in float32.
//
// The addon derives everything else from it: the order and byte length of every operand of a
// forward (inputs, outputs) and of a backward (gradients of the differentiable outputs, inputs,
// outputs, gradients of the differentiable inputs), the order of the dims (axis letters as they
// first appear) and the number of scalars. A launch that does not fit never reaches the kernel, so
// a kernel checks only what lengths cannot say: index values and relations between dims.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The services of the host that a kernel may use while it runs.
typedef struct SaccadeRuntime {
  void* host;
  // Threads that may work at once, the caller included.
  int32_t threads;
  // Work estimated to take less than this stays on the calling thread.
  double handOverNanoseconds;
  // Runs body(context, item, worker) for every item in [0, items), in no order, and waits for all.
  // worker is in [0, threads). Not to be called from inside a body.
  void (*parallelFor)(void* host, int64_t items, void (*body)(void*, int64_t, int32_t),
                      void* context);
  // 64-byte aligned uninitialized memory, valid until the launch returns. Not from inside a body.
  void* (*scratch)(void* host, int64_t bytes);
} SaccadeRuntime;

enum { SACCADE_ERROR_CHARS = 512 };

// The storage type of a launch's operands, where the signature leaves it open.
typedef enum SaccadeStorage {
  SACCADE_F32 = 0,
  // The upper half of a float32.
  SACCADE_BF16 = 1,
  // IEEE half precision; no CPU kernel has it.
  SACCADE_F16 = 2,
  // Float32, but bf16 for the operands marked ~: activations beside frozen weights. No device kernel
  // has it.
  SACCADE_MIXED = 3,
  SACCADE_STORAGES = 4
} SaccadeStorage;

typedef struct SaccadeLaunch {
  // Null where an optional operand, an output gradient or an unwanted input gradient is absent.
  void* const* operands;
  const int64_t* dims;
  const double* scalars;
  const SaccadeRuntime* runtime;
  // Room for one sentence of SACCADE_ERROR_CHARS, written when the kernel returns non-zero.
  char* error;
} SaccadeLaunch;

// Returns 0, or 1 with `error` filled and no promise about the outputs.
typedef int (*SaccadeRun)(const SaccadeLaunch* launch);

typedef struct SaccadeKernel {
  const char* id;
  const char* signature;
  // By storage type; null where the kernel has none for it.
  SaccadeRun forward[SACCADE_STORAGES];
  SaccadeRun backward[SACCADE_STORAGES];
} SaccadeKernel;

#ifdef __cplusplus
}
#endif
