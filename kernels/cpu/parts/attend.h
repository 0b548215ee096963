// The inner step of attention: some rows of queries meet one block of 64 keys.
//
// A row meets its keys in logical order, in blocks of 64 counted from logical key 0, and all it
// does within a block depends on the row and the block's visible keys alone. Training, decoding,
// packing and shared prefixes differ only in where the keys lie, so they give the same bits.
//
//   m′ = max_j s_j where that is more than m + 8, else m;  p_j = 2^(s_j − m′)
//   l ← l·2^(m−m′) + Σ_j p_j;  o ← o·2^(m−m′) + Σ_j p_j v_j
//
// Scores are in units of ln 2: log₂e is a factor of the queries. Weights may pass 1 by 2⁸ before a
// row is rescaled, which float32 has room for and which almost never happens after the first block
// (Dao et al.'s conditional rescaling in FlashAttention 4).
//
// Cascade Lake, one thread, cycles for 96 rows × 64 keys at D 128 (24576 is the peak): scores 28000,
// weights 3800, values 30500; at D 32 (peak 6144) 8300, 3800 and 7600. Tried and no faster: asking
// for the next tile's sums in advance, four steps of depth at once.
//
// Keys are packed across, so scores run over lanes of keys with one chain over D, and values lie
// along: lanes over D would need a horizontal sum per score.
#pragma once

#include "key-blocks.h"
#include "math.h"

namespace saccade {
namespace SACCADE_ISA {

// Query rows worked on at once: about 96, whole tiles.
constexpr int64_t QUERY_ROWS = (96 + TILE_ROWS / 2) / TILE_ROWS * TILE_ROWS;
constexpr float LOG2_E = 1.44269504088896341f;
constexpr float LN_2 = 0.693147180559945309f;
// How far a score may pass the maximum a row goes by.
constexpr float HEADROOM = 8.0f;

SACCADE_INLINE int64_t paddedHead(int64_t D) { return roundUp(D, LANES); }

// A row sees keys [from, to) of a block.
struct Sight {
  int32_t from;
  int32_t to;
};

// The range of keys that spans the sights of some rows.
SACCADE_INLINE Sight reachOf(const Sight* sights, int64_t rows) {
  Sight reach = sights[0];
  for (int64_t r = 1; r < rows; r++) {
    if (sights[r].from < reach.from) reach.from = sights[r].from;
    if (sights[r].to > reach.to) reach.to = sights[r].to;
  }
  return reach;
}

// The state of a row between blocks.
struct RowState {
  float* max;
  // [rows][LANES]
  float* sum;
  // [rows][padded]
  float* out;
};

SACCADE_INLINE RowState fromRow(const RowState& state, int64_t row, int64_t padded) {
  return {state.max + row, state.sum + row * LANES, state.out + row * padded};
}

static inline void startRows(const RowState& state, int64_t rows, int64_t padded) {
  for (int64_t r = 0; r < rows; r++) state.max[r] = -__builtin_inff();
  memset(state.sum, 0, (size_t)(rows * LANES) * sizeof(float));
  memset(state.out, 0, (size_t)(rows * padded) * sizeof(float));
}

// Copies a head of D elements to `padded` floats, zero beyond D, times `factor`.
template <class Stored>
SACCADE_INLINE void copyHead(float* out, const Stored* head, int64_t D, float factor) {
  forLanes(D, [&](int64_t d, int64_t width) {
    store(out + d, loadWidth(head + d, width) * splat(factor));
  });
}

// Lane r is the largest lane of rows[r].
SACCADE_INLINE Vec largestOfEach(const Vec (&rows)[TILE_ROWS]) {
#if defined(__AVX512F__)
  constexpr int PAIRS = (TILE_ROWS + 1) / 2;
  __m512 pair[8];
#pragma GCC unroll 8
  for (int i = 0; i < PAIRS; i++) {
    const __m512 a = rows[2 * i], b = rows[2 * i + 1 < TILE_ROWS ? 2 * i + 1 : 2 * i];
    pair[i] = _mm512_max_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  }
  __m512 quad[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    const __m512 a = pair[2 * i < PAIRS ? 2 * i : 0], b = pair[2 * i + 1 < PAIRS ? 2 * i + 1 : 0];
    quad[i] = _mm512_max_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xee));
  }
  // quad[i] holds in each of four blocks a maximum of each of the rows 4i … 4i + 3.
  const __m512 low = _mm512_max_ps(_mm512_shuffle_f32x4(quad[0], quad[1], 0x88),
                                   _mm512_shuffle_f32x4(quad[0], quad[1], 0xdd));
  const __m512 high = _mm512_max_ps(_mm512_shuffle_f32x4(quad[2], quad[3], 0x88),
                                    _mm512_shuffle_f32x4(quad[2], quad[3], 0xdd));
  return _mm512_max_ps(_mm512_shuffle_f32x4(low, high, 0x88),
                       _mm512_shuffle_f32x4(low, high, 0xdd));
#else
  float largest[LANES] = {};
  for (int r = 0; r < TILE_ROWS; r++) largest[r] = maxLanes(rows[r]);
  return load(largest);
#endif
}

// Gives the keys that a row does not see the score −∞, within the vectors of `reach`.
SACCADE_INLINE void hide(float* scores, Sight sight, Sight reach) {
  const Vec from = splat((float)sight.from), to = splat((float)sight.to);
  for (int64_t j = reach.from / LANES * LANES; j < reach.to; j += LANES) {
    const Vec index = laneIndex() + splat((float)j);
    Vec s = selectGreater(to, index, load(scores + j), splat(-__builtin_inff()));
    s = selectGreater(from, index, splat(-__builtin_inff()), s);
    store(scores + j, s);
  }
}

// Turns the scores of 1 … TILE_ROWS rows into weights, 0 for keys of the reach that a row does not
// see. A row must see at least one key. `sum` holds LANES partial sums per row, folded at the end.
static inline void weighRows(int64_t rows, float* scores, const Sight* sights, Sight reach,
                             const RowState& state, int64_t padded) {
  const int64_t begin = reach.from / LANES * LANES, end = roundUp(reach.to, LANES);
  Vec tops[TILE_ROWS];
  for (int64_t r = 0; r < rows; r++) {
    float* row = scores + r * KEYS;
    const Sight sight = sights[r];
    if (sight.from > begin || sight.to < end) hide(row, sight, reach);
    Vec top = load(row + begin);
    for (int64_t j = begin + LANES; j < end; j += LANES) top = maximum(top, load(row + j));
    tops[r] = top;
  }
  for (int64_t r = rows; r < TILE_ROWS; r++) tops[r] = tops[0];
  float next[LANES], shrink[LANES];
  static_assert(TILE_ROWS <= LANES, "the maxima of a tile's rows fit one vector");
  const Vec old = loadFirst(state.max, rows);
  const Vec highest = largestOfEach(tops);
  const Vec chosen = selectGreater(highest, old + splat(HEADROOM), highest, old);
  store(next, chosen);
  store(shrink, powerOfTwo(old - chosen));
  for (int64_t r = 0; r < rows; r++) {
    float* sum = state.sum + r * LANES;
    float* row = scores + r * KEYS;
    Vec total = load(sum);
    if (next[r] != state.max[r]) {
      if (state.max[r] > -__builtin_inff()) {
        const Vec factor = splat(shrink[r]);
        float* out = state.out + r * padded;
        total = total * factor;
        for (int64_t d = 0; d < padded; d += LANES) store(out + d, load(out + d) * factor);
      }
      state.max[r] = next[r];
    }
    const Vec shift = splat(next[r]);
    if (begin == 0 && end == KEYS) {
#pragma GCC unroll 16
      for (int64_t j = 0; j < KEYS; j += LANES) {
        const Vec p = powerOfTwo(load(row + j) - shift);
        total = total + p;
        store(row + j, p);
      }
    } else {
      for (int64_t j = begin; j < end; j += LANES) {
        const Vec p = powerOfTwo(load(row + j) - shift);
        total = total + p;
        store(row + j, p);
      }
    }
    store(sum, total);
  }
}

struct KeyBlock {
  // Packed across, and along.
  const float* keys;
  const float* values;
  // What is read after it, asked for meanwhile: [next, nextEnd).
  const float* next = nullptr;
  const float* nextEnd = nullptr;

  // Asks for the part [done, toDo) / all of what comes next.
  void fetchNext(int64_t done, int64_t toDo, int64_t all) const {
    const int64_t lines = (nextEnd - next) / 16;
    for (int64_t i = done * lines / all; i < toDo * lines / all; i++) prefetch(next + 16 * i);
  }
};

// The keys of a block that each of up to QUERY_ROWS rows sees, and the union for each tile.
struct Look {
  const Sight* sights;
  Sight reach[QUERY_ROWS / TILE_ROWS];

  Look(const Sight* sights, int64_t rows) : sights(sights) {
    for (int64_t i = 0; i < rows; i += TILE_ROWS) {
      reach[i / TILE_ROWS] = reachOf(sights + i, smaller(TILE_ROWS, rows - i));
    }
  }
};

// scores[rows][KEYS] = rows·Bᵀ within each tile's reach, for B packed across. A panel of B serves
// all rows before the next is touched.
static inline void multiplyAcross(int64_t rows, const float* a, int64_t stride, int64_t D,
                                  const float* packed, float* scores, const Look& look) {
  for (int64_t j = 0; j < KEYS; j += PANEL) {
    const Panels panel = panelsAcross(packed + j * D, D);
    for (int64_t i = 0; i < rows; i += TILE_ROWS) {
      const Sight reach = look.reach[i / TILE_ROWS];
      if (reach.to <= j || reach.from >= j + PANEL) continue;
      multiplyPanels<Rows::contiguousDepth>(smaller(TILE_ROWS, rows - i),
                                            smaller(PANEL, roundUp(reach.to - j, LANES)), D,
                                            a + i * stride, stride, panel, scores + i * KEYS + j,
                                            KEYS, Into::overwrite);
    }
  }
}

// c[rows][cStride] += weights·B within each tile's reach, for B packed along.
static inline void addAlong(int64_t rows, const float* weights, int64_t padded,
                            const float* packed, float* c, int64_t cStride, const Look& look) {
  for (int64_t d = 0; d < padded; d += PANEL) {
    for (int64_t i = 0; i < rows; i += TILE_ROWS) {
      const Sight reach = look.reach[i / TILE_ROWS];
      if (reach.to <= reach.from) continue;
      multiplyPanels<Rows::contiguousDepth>(
          smaller(TILE_ROWS, rows - i), smaller(PANEL, padded - d), reach.to - reach.from,
          weights + i * KEYS + reach.from, KEYS, panelsAlong(packed + d * KEYS, reach.from),
          c + i * cStride + d, cStride, Into::chain);
    }
  }
}

// Rows that pass through a block together. Those of a small head go two tiles at a time, with all
// they touch in L1; a large head's block fills L1 alone, and many rows share its panels. AVX2's tiles
// are so low that rows of any head fit L1, and a panel streams by better than they do.
SACCADE_INLINE int64_t passRows(int64_t D) {
  return LANES == 8 || D <= 48 ? 2 * TILE_ROWS : QUERY_ROWS;
}

// Rows of `queries` ([rows][padded], scaled) meet one block, of which row r sees sights[r], at
// least one key. `scores`: [QUERY_ROWS][KEYS].
static inline void attendBlock(int64_t rows, const float* queries, int64_t D, const KeyBlock& block,
                               const RowState& state, float* scores, const Sight* sights) {
  const int64_t padded = paddedHead(D), most = passRows(D);
  for (int64_t first = 0; first < rows; first += most) {
    const int64_t count = smaller(most, rows - first);
    const RowState own = fromRow(state, first, padded);
    const Look look(sights + first, count);
    block.fetchNext(first, first + count, rows);
    multiplyAcross(count, queries + first * padded, padded, D, block.keys, scores, look);
    for (int64_t i = 0; i < count; i += TILE_ROWS) {
      weighRows(smaller(TILE_ROWS, count - i), scores + i * KEYS, look.sights + i,
                look.reach[i / TILE_ROWS], fromRow(own, i, padded), padded);
    }
    addAlong(count, scores, padded, block.values, own.out, padded, look);
  }
}

// out = o / l for row r, 0 where it saw nothing. l is left in the first of its partial sums.
template <class Stored>
SACCADE_INLINE void finishRow(Stored* out, const RowState& state, int64_t r, int64_t D) {
  const float sum = sumLanes(load(state.sum + r * LANES));
  const float* accumulated = state.out + r * paddedHead(D);
  const Vec scale = splat(sum > 0.0f || sum != sum ? 1.0f / sum : 0.0f);
  forLanes(D, [&](int64_t d, int64_t width) {
    storeWidth(out + d, load(accumulated + d) * scale, width);
  });
  state.sum[r * LANES] = sum;
}

// ln Σ_j e^s of finished rows, −∞ for one that saw nothing; replaces their maxima.
static inline const float* logSums(const RowState& state, int64_t rows) {
  for (int64_t r = 0; r < rows; r += LANES) {
    const int64_t count = smaller(LANES, rows - r);
    float sums[LANES] = {};
    for (int64_t i = 0; i < count; i++) sums[i] = state.sum[(r + i) * LANES];
    const Vec sum = load(sums);
    const Vec lse = fma(loadFirst(state.max + r, count), splat(LN_2), logarithm(sum));
    // NaN stays NaN, which the logarithm does not see to.
    storeFirst(state.max + r, lse + sum * splat(0.0f), count);
  }
  return state.max;
}

// Workspace of one worker for attendBlock over up to `rows` rows.
struct AttendSpace {
  float* queries;
  float* scores;
  Sight* sights;
  RowState state;

  static int64_t floatsFor(int64_t rows, int64_t D) {
    return rows * (2 * paddedHead(D) + LANES) + QUERY_ROWS * KEYS + 3 * roundUp(rows, LANES);
  }

  AttendSpace(float* memory, int64_t rows, int64_t D) {
    const int64_t padded = paddedHead(D);
    queries = memory;
    scores = queries + rows * padded;
    state.out = scores + QUERY_ROWS * KEYS;
    state.sum = state.out + rows * padded;
    state.max = state.sum + rows * LANES;
    sights = (Sight*)(state.max + roundUp(rows, LANES));
  }
};

static inline int checkWindow(const SaccadeLaunch& launch, double window) {
  if (window >= 0 && window < INT32_MAX && window == (double)(int64_t)window) return 0;
  return fail(launch, "window is %g, expected a number of keys, or 0 for all before the query.",
              window);
}

SACCADE_INLINE float headScale(double scale, int64_t D) {
  return (float)(scale == 0 ? 1.0 / __builtin_sqrt((double)D) : scale);
}

}  // namespace SACCADE_ISA
}  // namespace saccade
