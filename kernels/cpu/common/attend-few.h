// The inner step of attention for few rows: keys and values are read where they lie.
//
// Packing pays where many rows meet a block; one token's heads are too few. Keys are transposed in
// registers and meet the queries at once, with the chain over D of the packed path, and values are
// rows already. So the bits are those of attendBlock.
#pragma once

#include "attend.h"

namespace saccade {
namespace SACCADE_ISA {

// Rows up to which this is faster than packing.
constexpr int64_t FEW_ROWS = 4;

// scores[r·KEYS + j] = ⟨query r, key j⟩ for ROWS queries and `count` keys `stride` floats apart;
// zero beyond `count` in its last vector.
template <int ROWS>
static inline void scoreKeys(const float* queries, int64_t padded, const float* keys,
                             int64_t stride, int64_t count, int64_t D, float* scores) {
  for (int64_t first = 0; first < count; first += LANES) {
    Vec sum[ROWS] = {};
    for (int64_t d = 0; d < D; d += LANES) {
      const int64_t width = smaller(LANES, D - d);
      const float* block = keys + first * stride + d;
      Vec rows[LANES];
      for (int c = 0; c < LANES; c++) {
        rows[c] = first + c < count ? loadWidth(block + c * stride, width) : Vec{};
      }
      transpose(rows);
      const float* query = queries + d;
      for (int i = 0; i < LANES && i < width; i++) {
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++) sum[r] = fma(splat(query[r * padded + i]), rows[i], sum[r]);
      }
    }
    for (int r = 0; r < ROWS; r++) store(scores + r * KEYS + first, sum[r]);
  }
}

// Whether `attendFew` can read values of this head size in place.
SACCADE_INLINE bool canReadInPlace(int64_t D) { return D % LANES == 0; }

// attendBlock for 1 … FEW_ROWS rows that all see the whole block of `count` keys and values, which
// lie `stride` floats apart.
static inline void attendFew(int64_t rows, const float* queries, int64_t D, const float* keys,
                             const float* values, int64_t stride, int64_t count,
                             const RowState& state, float* scores, const int32_t* limits) {
  switch (rows) {
    case 1: scoreKeys<1>(queries, D, keys, stride, count, D, scores); break;
    case 2: scoreKeys<2>(queries, D, keys, stride, count, D, scores); break;
    case 3: scoreKeys<3>(queries, D, keys, stride, count, D, scores); break;
    default: scoreKeys<4>(queries, D, keys, stride, count, D, scores); break;
  }
  addValues(rows, D, values, stride, state, scores, limits);
}

// Asks for memory that is needed soon.
static inline void prefetchFloats(const float* floats, int64_t count) {
  for (int64_t i = 0; i < count; i += 16) __builtin_prefetch(floats + i, 0, 2);
}

}  // namespace SACCADE_ISA
}  // namespace saccade
