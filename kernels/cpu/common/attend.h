// The inner step of attention: some rows of queries meet one block of 64 keys.
//
// A row meets its keys in logical order, in blocks of 64 counted from logical key 0, and all it
// does within a block depends on the row and the block's visible keys alone. Training, decoding,
// packing and shared prefixes differ only in where the keys lie, so they give the same bits.
//
//   m′ = max(m, max_j s_j);  p_j = e^(s_j − m′)
//   l ← l·e^(m−m′) + Σ_j p_j;  o ← o·e^(m−m′) + Σ_j p_j v_j
//
// Keys are packed transposed, so scores run over lanes of keys with one chain over D, and values
// stay rows: lanes over D would need a horizontal sum per score.
#pragma once

#include "math.h"
#include "pack.h"
#include "segments.h"

namespace saccade {
namespace SACCADE_ISA {

constexpr int64_t KEYS = 64;
// Query rows worked on at once; 12, 6 and 4 divide it.
constexpr int64_t QUERY_ROWS = 96;

SACCADE_INLINE int64_t paddedHead(int64_t D) { return roundUp(D, LANES); }

// Walks logical keys block by block and says where each lies.
struct KeyWalk {
  const Run* run;
  const Run* end;
  int64_t used = 0;

  // Passes over the next `count` keys.
  void skip(int64_t count) {
    while (count > 0 && run < end) count -= take(count);
  }

  // Fills `at` with the memory rows of the next `wanted` keys; returns how many there were.
  int64_t next(int64_t wanted, int64_t* at) {
    int64_t found = 0;
    while (found < wanted && run < end) {
      const int64_t start = run->start + used;
      const int64_t count = take(wanted - found);
      for (int64_t i = 0; i < count; i++) at[found + i] = start + i;
      found += count;
    }
    return found;
  }

  // The next `wanted` keys, or all there are, if they lie in one run; else nothing is passed.
  bool nextRun(int64_t wanted, Run* block) {
    while (run < end && run->count == 0) run++;
    if (run == end) return false;
    const int64_t left = run->count - used;
    if (left < wanted && run + 1 < end) return false;
    block->start = run->start + used;
    block->count = take(wanted);
    return true;
  }

  // Passes over up to `most` keys of the current run; returns how many.
  int64_t take(int64_t most) {
    const int64_t count = smaller(most, run->count - used);
    used += count;
    if (used == run->count) {
      run++;
      used = 0;
    }
    return count;
  }
};

// Packs `count` rows of `source` (row i at source + at[i]·stride) as columns in panels, each
// [D][PANEL]; whole vectors of columns, zero beyond `count`.
static inline void packKeys(float* out, const float* source, int64_t stride, const int64_t* at,
                            int64_t count, int64_t D) {
  for (int64_t first = 0; first < count; first += LANES) {
    float* panel = out + first / PANEL * (D * PANEL) + first % PANEL;
    packColumns(panel, PANEL, count - first, D,
                [&](int c) { return source + at[first + c] * stride; });
  }
}

// Copies `count` rows of D floats to rows of `padded` floats, zero beyond D, times `factor`.
static inline void packRows(float* out, const float* source, int64_t stride, const int64_t* at,
                            int64_t count, int64_t D, int64_t padded, float factor) {
  for (int64_t i = 0; i < count; i++) {
    const float* row = source + at[i] * stride;
    for (int64_t d = 0; d < padded; d += LANES) {
      store(out + i * padded + d, loadWidth(row + d, smaller(LANES, D - d)) * splat(factor));
    }
  }
}

struct KeyBlock {
  // KEYS × D floats from packKeys, and [KEYS][padded] values.
  float* keys;
  float* values;
  int64_t count;
};

// What a row carries from block to block.
struct RowState {
  float* max;
  // [rows][LANES]
  float* sum;
  // [rows][padded]
  float* out;
};

static inline void startRows(const RowState& state, int64_t rows, int64_t padded) {
  for (int64_t r = 0; r < rows; r++) state.max[r] = -__builtin_inff();
  memset(state.sum, 0, (size_t)(rows * LANES) * sizeof(float));
  memset(state.out, 0, (size_t)(rows * padded) * sizeof(float));
}

// Turns the scores of a row into weights relative to its new maximum; keys from `limit` on get 0.
// `sum` holds LANES partial sums, folded when the row is finished.
SACCADE_INLINE void weighRow(float* scores, int64_t limit, float* max, float* sum, float* out,
                             int64_t padded) {
  constexpr int VECS = KEYS / LANES;
  Vec s[VECS];
#pragma GCC unroll 16
  for (int i = 0; i < VECS; i++) s[i] = load(scores + i * LANES);
  if (limit < KEYS) {
    const Vec end = splat((float)limit);
    for (int i = 0; i < VECS; i++) {
      const Vec index = laneIndex() + splat((float)(i * LANES));
      s[i] = selectGreater(end, index, s[i], splat(-__builtin_inff()));
    }
  }
  Vec most = s[0];
#pragma GCC unroll 16
  for (int i = 1; i < VECS; i++) most = maximum(most, s[i]);
  const float highest = maxLanes(most);
  const float next = *max > highest ? *max : highest;
  const Vec shift = splat(next);
  Vec total = load(sum);
  if (next != *max) {
    const Vec shrink = exponential(splat(*max - next));
    total = total * shrink;
    for (int64_t d = 0; d < padded; d += LANES) store(out + d, load(out + d) * shrink);
    *max = next;
  }
#pragma GCC unroll 16
  for (int i = 0; i < VECS; i++) {
    const Vec p = exponential(s[i] - shift);
    total = total + p;
    store(scores + i * LANES, p);
  }
  store(sum, total);
}

// How many keys of a block each row sees: rows (token, head) of a tile whose first token sees
// `first` keys of it, or fewer than none; all alike without a causal mask. Returns the first row
// that sees any.
static inline int64_t fillLimits(int32_t* limits, int64_t tokens, int64_t ratio, int64_t first,
                                 int64_t count, bool causal) {
  int64_t blind = 0;
  for (int64_t i = 0; i < tokens; i++) {
    const int64_t seen = causal ? smaller(count, larger(0, first + i)) : count;
    if (seen == 0) blind += ratio;
    for (int64_t h = 0; h < ratio; h++) limits[i * ratio + h] = (int32_t)seen;
  }
  return blind;
}

// Rows meet the values of a block whose scores they have: scores become weights, and out takes
// Σ_j p_j v_j. Row r sees limits[r] keys, at least 1 and not falling with r; value j is the `padded`
// floats at values[j·stride]. All arrays begin at the first of the rows.
static inline void addValues(int64_t rows, int64_t padded, const float* values, int64_t stride,
                             const RowState& state, float* scores, const int32_t* limits) {
  for (int64_t r = 0; r < rows; r++) {
    weighRow(scores + r * KEYS, limits[r], &state.max[r], state.sum + r * LANES,
             state.out + r * padded, padded);
  }
  multiplyPanels<Rows::contiguousDepth>(rows, padded, limits[rows - 1], scores, KEYS,
                                        {values, PANEL, stride}, state.out, padded, Into::chain);
}

SACCADE_INLINE RowState fromRow(const RowState& state, int64_t row, int64_t padded) {
  return {state.max + row, state.sum + row * LANES, state.out + row * padded};
}

// Rows [first, rows) of `queries` ([rows][padded], already scaled) meet one block, of which row r
// sees limits[r] keys, at least 1 and not falling with r. `scores`: [rows][KEYS].
static inline void attendBlock(int64_t first, int64_t rows, const float* queries, int64_t D,
                               const KeyBlock& block, const RowState& state, float* scores,
                               const int32_t* limits) {
  if (first >= rows) return;
  const int64_t padded = paddedHead(D);
  const int64_t count = rows - first;
  const int64_t deepest = limits[rows - 1];
  multiplyPanels<Rows::contiguousDepth>(count, roundUp(deepest, LANES), D,
                                        queries + first * padded, padded,
                                        {block.keys, D * PANEL, PANEL}, scores, KEYS,
                                        Into::overwrite);
  addValues(count, padded, block.values, padded, fromRow(state, first, padded), scores,
            limits + first);
}

// out = o / l for row r, 0 where it saw nothing; returns l.
SACCADE_INLINE float finishRow(float* out, const RowState& state, int64_t r, int64_t D) {
  const float sum = sumLanes(load(state.sum + r * LANES));
  const float* accumulated = state.out + r * paddedHead(D);
  const Vec scale = splat(sum > 0.0f || sum != sum ? 1.0f / sum : 0.0f);
  forLanes(D, [&](int64_t d, int64_t width) {
    storeWidth(out + d, load(accumulated + d) * scale, width);
  });
  return sum;
}

// Workspace of one worker for attendBlock over up to `rows` rows.
struct AttendSpace {
  float* queries;
  float* scores;
  int32_t* limits;
  RowState state;
  KeyBlock block;

  static int64_t floatsFor(int64_t rows, int64_t D) {
    const int64_t padded = paddedHead(D);
    return rows * (2 * padded + KEYS + LANES) + 2 * roundUp(rows, LANES) + 2 * KEYS * padded;
  }

  AttendSpace(float* memory, int64_t rows, int64_t D) {
    const int64_t padded = paddedHead(D);
    queries = memory;
    scores = queries + rows * padded;
    state.out = scores + rows * KEYS;
    block.keys = state.out + rows * padded;
    block.values = block.keys + KEYS * padded;
    state.sum = block.values + KEYS * padded;
    state.max = state.sum + rows * LANES;
    limits = (int32_t*)(state.max + roundUp(rows, LANES));
    block.count = 0;
  }
};

SACCADE_INLINE float headScale(double scale, int64_t D) {
  return (float)(scale == 0 ? 1.0 / __builtin_sqrt((double)D) : scale);
}

}  // namespace SACCADE_ISA
}  // namespace saccade
