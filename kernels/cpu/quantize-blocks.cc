// scale = max |x| of each block of 256 elements; code = the nearest entry of the table times scale.
//
// Layout: four codes in an int32, the first in its lowest byte. A thread owns whole blocks, so a word
// has one writer. The 255 midpoints between codes are computed once per launch; a code is found
// among them in eight halvings.
#include <math.h>

#include "parts/kernel-entry.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

constexpr int64_t BLOCK = 256;
constexpr int CODES = 256;

// How many of the ascending midpoints, times scale, lie below x.
int codeOf(float x, float scale, const float* midpoints) {
  int code = 0;
  for (int step = CODES / 2; step > 0; step /= 2) {
    const int next = code + step;
    if (next < CODES && x > midpoints[next - 1] * scale) code = next;
  }
  return code;
}

// Operands: x, table, codes, scales, then codes, scales again.
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], blocks = launch->dims[3];
  const float* x = floats(*launch, 0);
  const float* table = floats(*launch, 1);
  int32_t* codes = stored<int32_t>(*launch, 4);
  float* scales = floats(*launch, 5);
  float midpoints[CODES - 1];
  for (int c = 0; c < CODES - 1; c++) midpoints[c] = 0.5f * (table[c] + table[c + 1]);
  parallelFor(*launch, blocks, 8.0 * (double)N, [&](int64_t block, int32_t) {
    const int64_t first = block * BLOCK, end = smaller(N, first + BLOCK);
    float scale = 0;
    for (int64_t n = first; n < end; n++) scale = fmaxf(scale, fabsf(x[n]));
    scales[block] = scale;
    for (int64_t word = first; word < end; word += 4) {
      uint32_t packed = 0;
      for (int64_t n = word; n < smaller(end, word + 4); n++) {
        packed |= (uint32_t)codeOf(x[n], scale, midpoints) << (8 * (n - word));
      }
      codes[word / 4] = (int32_t)packed;
    }
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(quantizeBlocks,
               "x[N]! table[T]! codes[W]# scales[K]! -> codes[W]#=codes scales[K]!=scales",
               SACCADE_FLOAT32(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
