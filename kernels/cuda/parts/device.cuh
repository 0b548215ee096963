// The few machine instructions that kernels need besides CUDA C++, as
// functions. Outside nvcc they are the emulator's, so that every kernel also runs on a CPU.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

#if defined(__CUDACC__)

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace saccade {

extern __shared__ __align__(1024) uint8_t saccadeShared[];
// The launch's shared memory, 1024-byte aligned.
__device__ __forceinline__ uint8_t* sharedMemory() { return saccadeShared; }

__device__ __forceinline__ float wordAsFloat(uint32_t word) { return __uint_as_float(word); }
__device__ __forceinline__ uint32_t floatAsWord(float value) { return __float_as_uint(value); }
__device__ __forceinline__ float halfToFloat(uint16_t bits) {
  return __half2float(__ushort_as_half(bits));
}
__device__ __forceinline__ uint16_t floatToHalf(float value) {
  return __half_as_ushort(__float2half_rn(value));
}
__device__ __forceinline__ uint16_t floatToBf16(float value) {
  return __bfloat16_as_ushort(__float2bfloat16_rn(value));
}
// Rounded to the 10 bits of mantissa that tensor cores read, to the nearest.
__device__ __forceinline__ uint32_t floatToTf32(float value) {
  uint32_t word;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(value));
  return word;
}
// A product that is rounded before it is added to anything, so that two kernels have the same bits:
// the compiler contracts others as it likes.
__device__ __forceinline__ float roundedProduct(float a, float b) { return __fmul_rn(a, b); }
// 2^x within two units in the last place; 0 for very negative x.
__device__ __forceinline__ float powerOfTwo(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 16 bytes at an aligned address, in one instruction.
__device__ __forceinline__ void loadWords(uint32_t (&words)[4], const void* from) {
  const uint4 loaded = *static_cast<const uint4*>(from);
  words[0] = loaded.x;
  words[1] = loaded.y;
  words[2] = loaded.z;
  words[3] = loaded.w;
}
__device__ __forceinline__ void storeWords(void* to, const uint32_t (&words)[4]) {
  *static_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ __forceinline__ void storePairOfWords(void* to, uint32_t first, uint32_t second) {
  *static_cast<uint2*>(to) = make_uint2(first, second);
}

__device__ __forceinline__ void syncBlock() { __syncthreads(); }
__device__ __forceinline__ void syncWarp() { __syncwarp(); }
__device__ __forceinline__ float shuffleXor(float value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
__device__ __forceinline__ int32_t shuffleXor(int32_t value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
__device__ __forceinline__ float shuffleFrom(float value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}

__device__ __forceinline__ int32_t shuffleFrom(int32_t value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}

__device__ __forceinline__ uint32_t sharedAddress(const void* p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}
// 16 bytes to shared memory, zeros unless isPresent; both sides 16-byte aligned.
__device__ __forceinline__ void copyAsync(void* to, const void* from, bool isPresent) {
  const int bytes = isPresent ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(to)), "l"(from),
               "r"(bytes)
               : "memory");
}
// The same of four bytes.
__device__ __forceinline__ void copyWordAsync(void* to, const void* from, bool isPresent) {
  const int bytes = isPresent ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(sharedAddress(to)), "l"(from),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for all but the LEFT latest groups of this thread.
template <int LEFT>
__device__ __forceinline__ void waitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

// Four matrices of 8 rows × 16 bytes; lane i brings the address of row i % 8 of matrix i / 8, and
// gets from each the four bytes at row lane / 4, place lane % 4.
__device__ __forceinline__ void loadMatrices(uint32_t (&words)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(sharedAddress(row))
               : "memory");
}
// The same of matrices of 16-bit elements, each transposed.
__device__ __forceinline__ void loadMatricesTransposed(uint32_t (&words)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(sharedAddress(row))
               : "memory");
}

// c += a·b on tensor cores, c [16,8]: bf16 and f16 a [16,16], b [16,8]; tf32 a [16,8], b [8,8].
__device__ __forceinline__ void multiplyBf16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                             uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiplyF16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                            uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiplyTf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                             uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace saccade

#else

#include "device-emulation.h"

#endif
