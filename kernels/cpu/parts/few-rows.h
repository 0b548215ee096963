// One chain of sums of few rows with columns that lie along the depth, as decoding needs it: four words of
// LANES columns at a time are turned in registers and meet all rows there, so that a weight is read from
// memory once and copied nowhere. The sums are those of tile.h, factor by factor.
//
// Columns are streams of their own, often pages apart, which the hardware follows too late, so each line
// is asked for eight lines ahead, and the first lines of the columns that a thread takes next while it
// ends those at hand.
//
// What it gives: `npm run bench -- decode`, in bench/README.md.
#pragma once

#include "storage.h"

namespace saccade {
namespace SACCADE_ISA {

// Rows at most: beyond, panels that are packed once serve more rows than packing costs.
constexpr int64_t FEW_ROWS = 32;

// LANES columns at most that lie along the depth, column c at data[c · stride], `depth` elements long, and
// the columns as far apart that are read after them.
template <class Stored>
struct StreamedColumns {
  const Stored* data;
  int64_t stride, count, depth;
  const Stored* next;
};

// sums[i], i < rows ≤ FEW_ROWS, of the elements [from, to) of depth. `from` is even where words are pairs.
// `x` is where the words of the rows begin that meet element `from`, `stride` words apart.
void chainOfFew(int64_t rows, const float* x, int64_t stride, const StreamedColumns<float>& columns,
                int64_t from, int64_t to, Vec* sums);
void chainOfFew(int64_t rows, const float* x, int64_t stride, const StreamedColumns<Bf16>& columns,
                int64_t from, int64_t to, Vec* sums);

}  // namespace SACCADE_ISA
}  // namespace saccade
