// scale = max |w| of a group of a row, times 1/limit; code = the nearest multiple of the scale.
//
// Layout: parts/quantized-weight.h. A thread owns 16 rows, whose words lie side by side: codes of a
// row as bytes first, then words. A code is guessed by a product with the inverse and corrected by the
// midpoints on both sides, which are the same on every backend.
#include "parts/math.h"
#include "parts/quantized-weight.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// The largest magnitude of a run.
template <class Stored>
float largestOf(const Stored* values, int64_t count) {
  Vec most{};
  forLanes(count, [&](int64_t i, int64_t width) {
    const Vec v = loadWidth(values + i, width);
    most = maximum(most, maximum(v, Vec{} - v));
  });
  return maxLanes(most);
}

// codes[i] = code of values[i] plus `offset`.
template <class Stored>
void codesOfRun(uint8_t* codes, const Stored* values, int64_t count, float scale, int limit) {
  const float inverse = scale > 0 ? 1.0f / scale : 0.0f;
  const Vec half = splat(0.5f), one = splat(1.0f), most = splat((float)limit);
  forLanes(count, [&](int64_t i, int64_t width) {
    const Vec v = loadWidth(values + i, width);
    const Vec size = maximum(v, Vec{} - v);
    // Rounded by what lies above 2²³; the guess is off by one at most.
    const Vec magic = splat(8388608.0f);
    Vec code = (size * splat(inverse) + magic) - magic;
    code = selectGreater(code, most, most, code);
    code = selectGreater(size, (code + half) * splat(scale), code + one, code);
    code = selectGreater(size, (code - half) * splat(scale), code, code - one);
    code = selectGreater(code, Vec{}, code, Vec{});
    code = selectGreater(code, most, most, code);
    code = selectGreater(Vec{}, v, Vec{} - code, code);
    float out[LANES];
    store(out, code);
    for (int64_t j = 0; j < width; j++) codes[i + j] = (uint8_t)((int)out[j] + limit + 1);
  });
}

// Operands: w, codes, scales, then codes, scales again. Dims: N, K, P, W, L, S.
template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], K = launch->dims[1], blocks = launch->dims[2];
  const WeightForm form = weightForm(N, K, launch->dims[3], launch->dims[5]);
  const Stored* w = stored<Stored>(*launch, 0);
  uint32_t* words = stored<uint32_t>(*launch, 3);
  float* scales = floats(*launch, 4);
  const bool isByte = form.bits == 8;
  const int limit = isByte ? 127 : 7;
  const float inverseLimit = 1.0f / (float)limit;
  const int64_t padded = form.words * form.codesPerWord();
  uint8_t* space = scratchArray<uint8_t>(*launch, launch->runtime->threads * padded);
  parallelFor(*launch, blocks, 1.5 * (double)(N * K), [&](int64_t block, int32_t worker) {
    uint8_t* codes = space + worker * padded;
    for (int64_t lane = 0; lane < ROWS_TOGETHER; lane++) {
      const int64_t n = block * ROWS_TOGETHER + lane;
      memset(codes, limit + 1, (size_t)padded);
      for (int64_t first = 0, g = 0; n < N && first < K; first += form.group, g++) {
        const int64_t count = smaller(form.group, K - first);
        const float scale = largestOf(w + n * K + first, count) * inverseLimit;
        scales[g * N + n] = scale;
        codesOfRun(codes + first, w + n * K + first, count, scale, limit);
      }
      uint32_t* to = words + block * form.words * ROWS_TOGETHER + lane;
      const uint8_t* from = codes;
      for (int64_t i = 0; i < form.words; i++, to += ROWS_TOGETHER) {
        uint32_t word = 0;
        if (isByte) {
          for (int j = 0; j < 4; j++) word |= (uint32_t)from[j] << (8 * j);
          from += 4;
        } else {
          for (int j = 0; j < 4; j++) {
            word |= (uint32_t)from[2 * j] << (4 * j) | (uint32_t)from[2 * j + 1] << (16 + 4 * j);
          }
          from += 8;
        }
        *to = word;
      }
    }
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(quantizeWeight,
               "w[N,K] codes[P,W,L]# scales[S,N]! -> codes[P,W,L]#=codes scales[S,N]!=scales",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
