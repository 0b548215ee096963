// Hand-over of tiles in shared memory from warps that copy to warps that multiply.
//
// A turnstile (an mbarrier) lets waiters of its phase through when as many as it was opened for
// have arrived, and then begins the next phase. Phases are told apart by their parity: 0 for the
// first. Only for compute capability 9.0, as parts/warpgroup.cuh.
#pragma once

#include "device.cuh"

#if !defined(__CUDACC__)
#include "turnstile-emulation.h"
#endif

namespace saccade {

using Turnstile = uint64_t;

#if defined(__CUDACC__)

// By one thread, before a barrier of the block.
__device__ __forceinline__ void openTurnstile(Turnstile* turnstile, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(turnstile)),
               "r"(arrivals)
               : "memory");
}
__device__ __forceinline__ void arrive(Turnstile* turnstile) {
  asm volatile(
      "{\n.reg .b64 phase;\nmbarrier.arrive.shared::cta.b64 phase, [%0];\n}" ::"r"(
          sharedAddress(turnstile))
      : "memory");
}
// Arrives once all copies that this thread has begun are there, without waiting for them.
__device__ __forceinline__ void arriveWithCopies(Turnstile* turnstile) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(
                   sharedAddress(turnstile))
               : "memory");
}
// Whether the phase of this parity is over.
__device__ __forceinline__ bool isTurnstileOpen(Turnstile* turnstile, int parity) {
  int isOpen = 0;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile(
      "{\n.reg .pred isOpen;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 isOpen, [%1], %2;\n"
      "selp.s32 %0, 1, 0, isOpen;\n}"
      : "=r"(isOpen)
      : "r"(sharedAddress(turnstile)), "r"(parity)
      : "memory");
#endif
  return isOpen != 0;
}
// Waits for the end of the latest phase of this parity.
__device__ __forceinline__ void passTurnstile(Turnstile* turnstile, int parity) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile(
      "{\n.reg .pred isOpen;\n"
      "WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 isOpen, [%0], %1;\n"
      "@isOpen bra DONE;\n"
      "bra WAIT;\n"
      "DONE:\n}" ::"r"(sharedAddress(turnstile)),
      "r"(parity)
      : "memory");
#endif
}
// `count` threads of the block, whole warps, meet at barrier `id`, 1 to 15.
__device__ __forceinline__ void syncSome(int id, int count) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}

// Hands registers of the warpgroup over to others of the block, or takes them, up to COUNT each
// thread.
template <int COUNT>
__device__ __forceinline__ void giveRegisters() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}
template <int COUNT>
__device__ __forceinline__ void takeRegisters() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}

#endif

}  // namespace saccade
