// The inner step of attention for few rows: keys and values are read where they lie.
//
// Packing pays where many rows meet a block; the heads of one token are too few. Keys are
// transposed in registers and meet the queries at once, with the chain over D of the packed path,
// and values are rows already. So the bits are those of attendBlock. AVX2 has too few registers to
// transpose in; it takes keys as broadcasts and turns the queries instead.
#pragma once

#include "attend.h"

namespace saccade {
namespace SACCADE_ISA {

// Rows that meet a key together.
constexpr int64_t FEW_ROWS = 8;

// One key head of a cache: key or value `slot` is the D elements at data[slot · stride].
template <class Stored>
struct CacheHead {
  const Stored* keys;
  const Stored* values;
  int64_t stride;
};

// attendBlock for 1 … FEW_ROWS rows that all have the same sight of the keys in slots `at`. `ahead`
// is null or the slots of the KEYS keys that come next. Compiled once for all kernels, like the
// tiles.
template <class Stored>
void attendFew(int64_t rows, const float* queries, int64_t D, const CacheHead<Stored>& cache,
               const int64_t* at, Sight sight, const int64_t* ahead, const RowState& state,
               float* scores);
extern template void attendFew(int64_t, const float*, int64_t, const CacheHead<float>&,
                               const int64_t*, Sight, const int64_t*, const RowState&, float*);
extern template void attendFew(int64_t, const float*, int64_t, const CacheHead<Bf16>&,
                               const int64_t*, Sight, const int64_t*, const RowState&, float*);

}  // namespace SACCADE_ISA
}  // namespace saccade
