// Products of a warpgroup (four neighboring warps, 128 threads) by Hopper's wgmma: 64 rows ×
// COLUMNS, 16 of depth at a time, both operands read from panels in shared memory, or the left one
// from registers. Panels begin at multiples of 1024. Products run on their own: sums and panels may
// be touched again after waitProducts.
//
// The place of sums in a warpgroup's threads is that of multiply() (parts/fragment.cuh): warp w
// holds rows 16·w + g and 16·w + g + 8, of each eight columns 2c and 2c + 1. Only for compute
// capability 9.0; code for other devices has empty bodies, and the host does not launch it there.
#pragma once

#include "fragment.cuh"

#if defined(__CUDACC__)
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SACCADE_HAS_WARPGROUPS 1
#endif
#else
#define SACCADE_HAS_WARPGROUPS 1
#include "warpgroup-emulation.h"
#endif

namespace saccade {

#if defined(SACCADE_HAS_WARPGROUPS) || !defined(__CUDA_ARCH__)
constexpr bool HAS_WARPGROUPS = true;
#else
constexpr bool HAS_WARPGROUPS = false;
#endif

constexpr int WARPGROUP = 128;
// Rows of a warpgroup's product, and the depth of one instruction in elements of 16 bits.
constexpr int GROUP_ROWS = 64;
constexpr int GROUP_DEPTH = 16;

#if defined(__CUDACC__)

// Keeps the compiler from computing what follows from a value earlier than here, and holding it
// since.
__device__ __forceinline__ int32_t notBefore(int32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}
// A value that all lanes of a warp have: the compiler may keep it, and what follows from it, once.
__device__ __forceinline__ int32_t sameInWarp(int32_t value) {
  return __shfl_sync(0xffffffffu, value, 0);
}

// An operand's place in shared memory as the hardware is told it: address and the distance of
// panels across the depth, in units of 16 bytes. The rest never changes: eight rows are 1024 bytes,
// and the swizzle is that of 128 bytes.
struct GroupOperand {
  uint32_t low;
  __device__ __forceinline__ uint64_t descriptor() const {
    return (uint64_t)(1u << 30 | 1024 >> 4) << 32 | low;
  }
};
__device__ __forceinline__ GroupOperand groupOperand(const uint8_t* first, int panelBytes) {
  return {(sharedAddress(first) & 0x3ffffu) >> 4 | (uint32_t)(panelBytes >> 4) << 16};
}
// Rows `row`, … (a multiple of 8) of a panel along the depth, depths 16·step, ….
__device__ __forceinline__ GroupOperand operandAlong(const uint8_t* panel, int row, int step) {
  return groupOperand(panel + row * PANEL_BYTES + step * 32, 16);
}
// Columns of panels across the depth, depths 16·step, …. Each panel has 64 columns and panelBytes.
__device__ __forceinline__ GroupOperand operandAcross(const uint8_t* panels, int step,
                                                      int panelBytes) {
  return groupOperand(panels + step * GROUP_DEPTH * PANEL_BYTES, panelBytes);
}
// The operand so many steps of depth further in panels that lie so many bytes behind its own.
template <Lie LIE>
__device__ __forceinline__ GroupOperand operandAhead(const GroupOperand& operand, int bytes,
                                                     int steps) {
  const int step = LIE == Lie::along ? 32 : GROUP_DEPTH * PANEL_BYTES;
  return {operand.low + (uint32_t)((bytes + steps * step) >> 4)};
}

// Shared memory that this thread wrote, by stores or by copies that have arrived, becomes visible
// to products that begin behind the next barrier.
__device__ __forceinline__ void publishPanels() {
#if defined(SACCADE_HAS_WARPGROUPS)
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
// Registers written so far are seen by the products that follow.
__device__ __forceinline__ void beginProducts() {
#if defined(SACCADE_HAS_WARPGROUPS)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void commitProducts() {
#if defined(SACCADE_HAS_WARPGROUPS)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
// Waits for all but the LEFT latest groups of products.
template <int LEFT>
__device__ __forceinline__ void waitProducts() {
#if defined(SACCADE_HAS_WARPGROUPS)
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
#endif
}
// Keeps the compiler from moving sums around products in flight.
template <int COUNT>
__device__ __forceinline__ void holdSums(float (&sums)[COUNT][4]) {
#pragma unroll
  for (int j = 0; j < COUNT; j++) {
#pragma unroll
    for (int i = 0; i < 4; i++) asm volatile("" : "+f"(sums[j][i])::"memory");
  }
}

#if defined(SACCADE_HAS_WARPGROUPS)

#define SACCADE_SUMS_8(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define SACCADE_SUMS_32(j) \
  SACCADE_SUMS_8(j), SACCADE_SUMS_8(j + 1), SACCADE_SUMS_8(j + 2), SACCADE_SUMS_8(j + 3)
#define SACCADE_SUMS_64(j) SACCADE_SUMS_32(j), SACCADE_SUMS_32(j + 4)
#define SACCADE_SUMS_128(j) SACCADE_SUMS_64(j), SACCADE_SUMS_64(j + 8)
#define SACCADE_SUMS_256(j) SACCADE_SUMS_128(j), SACCADE_SUMS_128(j + 16)
#define SACCADE_NAMES_64 \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23," \
  "%24,%25,%26,%27,%28,%29,%30,%31"
#define SACCADE_NAMES_128 \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23," \
  "%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44," \
  "%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define SACCADE_NAMES_256 \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23," \
  "%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44," \
  "%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65," \
  "%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86," \
  "%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105," \
  "%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122," \
  "%123,%124,%125,%126,%127"

// One instruction for COLUMNS and a type; ACROSS: 1 where an operand lies across the depth.
template <class T, int COLUMNS>
struct GroupProduct;
#define SACCADE_GROUP_PRODUCT_64(T, type) SACCADE_GROUP_PRODUCT(T, type, 64, "%32", "%33", \
  "%34", "%35", "%36", "%37", "%38")
#define SACCADE_GROUP_PRODUCT_128(T, type) SACCADE_GROUP_PRODUCT(T, type, 128, "%64", "%65", \
  "%66", "%67", "%68", "%69", "%70")
#define SACCADE_GROUP_PRODUCT_256(T, type) SACCADE_GROUP_PRODUCT(T, type, 256, "%128", "%129", \
  "%130", "%131", "%132", "%133", "%134")
#define SACCADE_GROUP_PRODUCT(T, type, columns, p0, p1, p2, p3, p4, p5, p6)                          \
  template <>                                                                                      \
  struct GroupProduct<T, columns> {                                                                \
    template <int LEFT_ACROSS, int RIGHT_ACROSS, int ADDS>                                         \
    static __device__ __forceinline__ void shared(float (&d)[columns / 8][4], uint64_t left,       \
                                                  uint64_t right) {                                \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type " {"      \
                   SACCADE_NAMES_##columns "}, " p0 ", " p1 ", " p4 ", 1, 1, " p2 ", " p3 ";"      \
                   : SACCADE_SUMS_##columns(0)                                                     \
                   : "l"(left), "l"(right), "n"(LEFT_ACROSS), "n"(RIGHT_ACROSS), "n"(ADDS));      \
    }                                                                                              \
    template <int RIGHT_ACROSS, int ADDS>                                                          \
    static __device__ __forceinline__ void held(float (&d)[columns / 8][4],                        \
                                                const uint32_t (&a)[4], uint64_t right) {          \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type " {"      \
                   SACCADE_NAMES_##columns "}, {" p0 ", " p1 ", " p2 ", " p3 "}, " p4              \
                   ", " p6 ", 1, 1, " p5 ";"                                                       \
                   : SACCADE_SUMS_##columns(0)                                                     \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(right), "n"(RIGHT_ACROSS),    \
                     "n"(ADDS));                                                                   \
    }                                                                                              \
  };
SACCADE_GROUP_PRODUCT_64(Bf16, "bf16")
SACCADE_GROUP_PRODUCT_64(F16, "f16")
SACCADE_GROUP_PRODUCT_128(Bf16, "bf16")
SACCADE_GROUP_PRODUCT_128(F16, "f16")
SACCADE_GROUP_PRODUCT_256(Bf16, "bf16")
SACCADE_GROUP_PRODUCT_256(F16, "f16")

#endif

// sums += left · right over 16 of depth, both in shared memory; unless ADDS, sums = left · right.
template <class T, Lie LEFT, Lie RIGHT, bool ADDS = true, int COUNT>
__device__ __forceinline__ void multiplyPanels(float (&sums)[COUNT][4], const GroupOperand& left,
                                               const GroupOperand& right) {
#if defined(SACCADE_HAS_WARPGROUPS)
  GroupProduct<T, 8 * COUNT>::template shared<LEFT == Lie::across, RIGHT == Lie::across, ADDS>(
      sums, left.descriptor(), right.descriptor());
#endif
}
// The same for 16 rows of each warp in registers, as chain() or loadAlong() leaves them.
template <class T, Lie RIGHT, bool ADDS = true, int COUNT>
__device__ __forceinline__ void multiplyHeld(float (&sums)[COUNT][4], const Fragment<T>& left,
                                             const GroupOperand& right) {
#if defined(SACCADE_HAS_WARPGROUPS)
  GroupProduct<T, 8 * COUNT>::template held<RIGHT == Lie::across, ADDS>(sums, left.words,
                                                                        right.descriptor());
#endif
}

#endif

}  // namespace saccade
