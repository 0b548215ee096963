// x = table[code] · scale of its block of 256 elements; four codes in an int32, lowest byte first.
//
// A thread owns whole blocks.
#include "parts/kernel-entry.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

constexpr int64_t BLOCK = 256;

// Operands: codes, scales, table, x, then x again. Dims: W, K, T, N.
int forward(const SaccadeLaunch* launch) {
  const int64_t blocks = launch->dims[1], N = launch->dims[3];
  const int32_t* codes = ints(*launch, 0);
  const float* scales = floats(*launch, 1);
  const float* table = floats(*launch, 2);
  float* x = floats(*launch, 4);
  parallelFor(*launch, blocks, 1.0 * (double)N, [&](int64_t block, int32_t) {
    const int64_t end = smaller(N, (block + 1) * BLOCK);
    for (int64_t n = block * BLOCK; n < end; n++) {
      const uint32_t word = (uint32_t)codes[n / 4];
      x[n] = table[(word >> (8 * (n % 4))) & 255] * scales[block];
    }
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(dequantizeBlocks, "codes[W]# scales[K]! table[T]! x[N]! -> x[N]!=x",
               SACCADE_FLOAT32(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
