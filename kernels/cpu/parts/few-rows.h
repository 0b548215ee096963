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

#include "kernel-entry.h"
#include "rows-of-a.h"

namespace saccade {
namespace SACCADE_ISA {

// Rows at most: a sum of each in registers beside what is turned. Of floats with AVX-512 fewer, since tiles of two
// vectors load less for each multiply-add; pairs need half as many. On AVX2 a tile has six rows, so that eight
// would be two tiles of four.
//
// Zen 3, two threads, float32, `npm run bench -- table --rows 3b --filter "decode: gate"`: 8 rows 5.15 ms, in tiles
// 7.93.
template <class Stored>
constexpr int64_t FEW_OF = WordsOf<Stored>::value == Words::pairs ? 16 : LANES == 8 ? 8 : 4;

// Whether so many weights are more than stays in a cache.
template <class Stored>
SACCADE_INLINE bool comeFromMemory(int64_t weights) {
  return weights * (int64_t)sizeof(Stored) >= int64_t{2} << 20;
}

// Whether so many rows meet weights that come from memory. Those in the cache are better in tiles, too: one
// chain of each row would wait for itself.
template <class Stored>
SACCADE_INLINE bool streams(int64_t rows, int64_t weights) {
  return rows <= FEW_OF<Stored> && comeFromMemory<Stored>(weights);
}

// LANES columns at most that lie along the depth, column c at data[c · stride], `depth` elements long, and
// the columns as far apart that are read after them.
template <class Stored>
struct StreamedColumns {
  const Stored* data;
  int64_t stride, count, depth;
  const Stored* next;
};

// The few rows as chains read them: word k of row i at [k · rows + i]. In place where that is how a row lies,
// else copied once.
template <Words WORDS, class Stored>
static inline const float* fewRowsOfA(const SaccadeLaunch& launch, const Source<Stored>& a,
                                      int64_t rows, int64_t depth) {
  static_assert(FEW_OF<Stored> <= LANES, "a vector has a word of each row");
  const bool isAlone = rows == 1 && a.depthStride == 1;
  const float* own = isAlone ? rowsInPlace<WORDS>(a.data, a.stride, depth) : nullptr;
  if (own) return own;
  // Whole vectors are stored, each over the zeros of the one before it.
  float* copy = scratchFloats(launch, wordsIn<WORDS>(depth) * rows + LANES);
  if (a.depthStride == 1) {
    packColumns<WORDS>(copy, rows, rows, depth, [&](int r) { return a.data + r * a.stride; });
  } else {
    copyAcross<WORDS>(copy, rows, a.data, a.depthStride, rows, depth);
  }
  return copy;
}

// sums[i], i < rows ≤ FEW_OF, of the elements [from, to) of depth. `from` is even where words are pairs.
// `x` is where the words of the rows begin that meet element `from`.
void chainOfFew(int64_t rows, const float* x, const StreamedColumns<float>& columns, int64_t from,
                int64_t to, Vec* sums);
void chainOfFew(int64_t rows, const float* x, const StreamedColumns<Bf16>& columns, int64_t from,
                int64_t to, Vec* sums);

}  // namespace SACCADE_ISA
}  // namespace saccade
