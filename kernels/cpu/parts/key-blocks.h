// The blocks of 64 logical keys that the rows of a forest meet, each packed once.
//
// A row meets its keys in blocks counted from logical key 0 of its path. The block that ends within
// a segment's own keys is the segment's: if it is full, all descendants meet that very block, and
// if it begins before the segment, it repeats the last keys of the ancestors. What is left at the
// end of a segment is a block for its own rows; children have those keys in blocks of their own.
#pragma once

#include "pack.h"
#include "segments.h"

namespace saccade {
namespace SACCADE_ISA {

constexpr int64_t KEYS = 64;

struct KeyBlocks {
  const Forest& forest;
  // Blocks of segment s: [first[s], first[s + 1]), in logical order.
  const int64_t* first;
  // The segment of each block.
  const int32_t* owner;

  int64_t count() const { return first[forest.count]; }
  // The place in logical order of the first block of segment s.
  int64_t place(int64_t s) const { return forest.prefix[s] / KEYS; }
  int64_t placeOf(int64_t block) const {
    return place(owner[block]) + block - first[owner[block]];
  }
  int64_t keysIn(int64_t block) const {
    const int64_t s = owner[block];
    return smaller(KEYS, forest.prefix[s] + forest.length(s) - placeOf(block) * KEYS);
  }
  // The block at `place` on the path to segment s.
  int64_t onPath(int64_t s, int64_t place) const {
    while (place < this->place(s)) s = forest.parent(s);
    return first[s] + place - this->place(s);
  }
  // The tokens of the keys of a block; returns how many.
  int64_t tokens(int64_t block, int64_t* at) const {
    const int64_t begin = placeOf(block) * KEYS, count = keysIn(block);
    int64_t s = owner[block];
    for (int64_t key = count - 1; key >= 0; key--) {
      while (begin + key < forest.prefix[s]) s = forest.parent(s);
      at[key] = forest.start(s) + begin + key - forest.prefix[s];
    }
    return count;
  }
};

static inline KeyBlocks planBlocks(const SaccadeLaunch& launch, const Forest& forest) {
  int64_t* first = scratchArray<int64_t>(launch, forest.count + 1);
  int64_t blocks = 0;
  for (int64_t s = 0; s < forest.count; s++) {
    first[s] = blocks;
    if (forest.length(s) == 0) continue;
    blocks += divideUp(forest.prefix[s] + forest.length(s), KEYS) - forest.prefix[s] / KEYS;
  }
  first[forest.count] = blocks;
  int32_t* owner = scratchArray<int32_t>(launch, blocks);
  for (int64_t s = 0; s < forest.count; s++) {
    for (int64_t b = first[s]; b < first[s + 1]; b++) owner[b] = (int32_t)s;
  }
  return {forest, first, owner};
}

// Packs `count` rows of `source` (row i at source + at[i]·stride) as columns in panels, each
// [D][PANEL]; whole vectors of columns, zero beyond `count`.
template <class Stored>
static inline void packAcross(float* out, const Stored* source, int64_t stride, const int64_t* at,
                              int64_t count, int64_t D) {
  for (int64_t i = 0; i < count; i++) prefetchRun(source + at[i] * stride, D);
  for (int64_t first = 0; first < count; first += LANES) {
    float* panel = out + first / PANEL * (D * PANEL) + first % PANEL;
    packColumns(panel, PANEL, count - first, D,
                [&](int c) { return source + at[first + c] * stride; });
  }
}

// Packs the same rows as rows in panels, each [KEYS][PANEL]; whole vectors, zero beyond D.
template <class Stored>
static inline void packAlong(float* out, const Stored* source, int64_t stride, const int64_t* at,
                             int64_t count, int64_t D) {
  for (int64_t i = 0; i < count; i++) prefetchRun(source + at[i] * stride, D);
  for (int64_t d = 0; d < D; d += LANES) {
    float* column = out + d / PANEL * (KEYS * PANEL) + d % PANEL;
    const int64_t width = smaller(LANES, D - d);
    if (width == LANES) {
      for (int64_t i = 0; i < count; i++) {
        store(column + i * PANEL, load(source + at[i] * stride + d));
      }
    } else {
      for (int64_t i = 0; i < count; i++) {
        store(column + i * PANEL, loadFirst(source + at[i] * stride + d, width));
      }
    }
  }
}

SACCADE_INLINE int64_t acrossFloats(int64_t D) { return KEYS * D; }
SACCADE_INLINE int64_t alongFloats(int64_t D) { return KEYS * roundUp(D, PANEL); }

// Packed along, depth being the keys from `key` on.
SACCADE_INLINE Panels panelsAlong(const float* packed, int64_t key) {
  return {packed + key * PANEL, KEYS * PANEL, PANEL};
}
// Packed across, depth being D.
SACCADE_INLINE Panels panelsAcross(const float* packed, int64_t D) {
  return {packed, D * PANEL, PANEL};
}

}  // namespace SACCADE_ISA
}  // namespace saccade
