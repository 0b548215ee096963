// The inner step of attention's backward: all rows that meet one block of keys.
//
//   p = e^(s − lse);  δ = Σ_d dout∘out − dlse;  ds = p∘(dout·vᵀ − δ)
//   dq = scale·ds·k;  dk = scale·dsᵀ·q;  dv = pᵀ·dout
//
// Rows go in tiles of 96. A key's gradients are one chain over the rows in their order, a query's
// one chain over the keys in theirs, however the work is cut.
#pragma once

#include "attention-chunks.h"
#include "rows.h"

namespace saccade {
namespace SACCADE_ISA {

// Floats between rows that are read as a matrix of depth × columns: an odd number of cache lines,
// or a column of them would fall into few cache sets.
static inline int64_t spreadHead(int64_t D) {
  const int64_t lines = divideUp(D, 16);
  return (lines % 2 == 0 ? lines + 1 : lines) * 16;
}

// The rows (token, head) of some tokens and one key head: [rows][spread] queries, scaled, and
// gradients of the output.
struct GradientRows {
  float *queries, *gradOut;
  float *lse, *delta;  // in units of ln 2; δ

  static int64_t floatsFor(int64_t rows, int64_t D) {
    return 2 * rows * spreadHead(D) + 2 * roundUp(rows, LANES);
  }
  GradientRows(float* memory, int64_t rows, int64_t D) {
    queries = memory;
    gradOut = queries + rows * spreadHead(D);
    lse = gradOut + rows * spreadHead(D);
    delta = lse + roundUp(rows, LANES);
  }
};

struct BackwardSpace {
  float *keysAcross, *valuesAcross, *keysAlong;  // one block, packed
  float *weights, *gradScores;                   // [QUERY_ROWS][KEYS]
  Sight* sights;                                 // [QUERY_ROWS]

  static int64_t floatsFor(int64_t D) {
    return 2 * acrossFloats(D) + alongFloats(D) + 2 * QUERY_ROWS * KEYS + 2 * QUERY_ROWS;
  }
  BackwardSpace(float* memory, int64_t D) {
    keysAcross = memory;
    valuesAcross = keysAcross + acrossFloats(D);
    keysAlong = valuesAcross + acrossFloats(D);
    weights = keysAlong + alongFloats(D);
    gradScores = weights + QUERY_ROWS * KEYS;
    sights = (Sight*)(gradScores + QUERY_ROWS * KEYS);
  }
};

// p and ds of one row from its scores and dout·vᵀ, both in place; 0 for keys it does not see.
SACCADE_INLINE void differentiateRow(float* scores, float* gradScores, Sight sight, float lse,
                                     float delta) {
  const Vec shift = splat(lse), less = splat(delta);
  if (sight.from == 0 && sight.to == KEYS) {
#pragma GCC unroll 16
    for (int64_t j = 0; j < KEYS; j += LANES) {
      const Vec p = powerOfTwo(load(scores + j) - shift);
      store(gradScores + j, p * (load(gradScores + j) - less));
      store(scores + j, p);
    }
    return;
  }
  const Vec from = splat((float)sight.from), to = splat((float)sight.to);
  for (int64_t j = 0; j < KEYS; j += LANES) {
    Vec p{}, ds{};
    if (j + LANES > sight.from && j < sight.to) {
      const Vec index = laneIndex() + splat((float)j);
      p = powerOfTwo(load(scores + j) - shift);
      ds = p * (load(gradScores + j) - less);
      p = selectGreater(from, index, Vec{}, selectGreater(to, index, p, Vec{}));
      ds = selectGreater(from, index, Vec{}, selectGreater(to, index, ds, Vec{}));
    }
    store(scores + j, p);
    store(gradScores + j, ds);
  }
}

template <class Stored>
struct BackwardTask {
  const AttentionShape& shape;
  const KeyBlocks& blocks;
  // Where each segment's subtree ends.
  const int64_t* subtreeEnds;
  const Stored *q, *k, *v, *dOut, *out;
  const float *lse, *dLse;
  Stored* dq;
  float *dk, *dv;

  // Tokens [from, from + tokens) of key head g, as rows from the place of token `from` on if the
  // rows begin with token `loaded`.
  void loadRows(const GradientRows& rows, int64_t loaded, int64_t from, int64_t tokens,
                int64_t g) const {
    const int64_t D = shape.D, stride = spreadHead(D);
    const float scale = shape.scale * LOG2_E;
    const auto ahead = [&](int64_t t, int64_t h) {
      const int64_t head = (t * shape.H + h) * D;
      prefetchRun(q + head, D);
      if (!dOut) return;
      prefetchRun(dOut + head, D);
      prefetchRun(out + head, D);
    };
    shape.forRows((from - loaded) * shape.ratio, from, tokens, g, ahead,
                  [&](int64_t r, int64_t t, int64_t h) {
      const int64_t head = (t * shape.H + h) * D;
      float* upstream = rows.gradOut + r * stride;
      copyHead(rows.queries + r * stride, q + head, D, scale);
      float delta = dLse ? -dLse[h * shape.T + t] : 0.0f;
      if (dOut) {
        copyHead(upstream, dOut + head, D, 1.0f);
        Vec dot{};
        forLanes(D, [&](int64_t d, int64_t width) {
          dot = fma(loadWidth(out + head + d, width), load(upstream + d), dot);
        });
        delta += sumLanes(dot);
      } else {
        memset(upstream, 0, (size_t)paddedHead(D) * sizeof(float));
      }
      rows.delta[r] = delta;
      rows.lse[r] = lse[h * shape.T + t] * LOG2_E;
    });
  }

  void storeQueryGradients(const float* gradQuery, int64_t from, int64_t tokens, int64_t g) const {
    const int64_t D = shape.D, padded = paddedHead(D);
    const auto ahead = [&](int64_t t, int64_t h) { prefetchRun(dq + (t * shape.H + h) * D, D); };
    shape.forRows(0, from, tokens, g, ahead, [&](int64_t r, int64_t t, int64_t h) {
      forLanes(D, [&](int64_t d, int64_t width) {
        const Vec sum = load(gradQuery + r * padded + d);
        storeWidth(dq + (t * shape.H + h) * D + d, sum * splat(shape.scale), width);
      });
    });
  }

  // Packs a block; returns how many keys it has.
  int64_t packBlock(const BackwardSpace& space, int64_t block, int64_t g, bool forQueries) const {
    const int64_t D = shape.D, G = shape.G;
    int64_t at[KEYS];
    const int64_t count = blocks.tokens(block, at);
    packAcross(space.keysAcross, k + g * D, G * D, at, count, D);
    packAcross(space.valuesAcross, v + g * D, G * D, at, count, D);
    if (forQueries) packAlong(space.keysAlong, k + g * D, G * D, at, count, D);
    return count;
  }

  // Finds what rows [row, row + count) of tokens from `from` see of a block; false if nothing.
  bool fillSights(const BackwardSpace& space, int64_t block, int64_t keys, int64_t from,
                  int64_t row, int64_t count) const {
    const Forest& forest = blocks.forest;
    const int64_t s = blocks.owner[block], key = blocks.placeOf(block) * KEYS;
    const int64_t ahead = forest.prefix[s] - forest.start(s);
    int64_t t = from + row / shape.ratio, member = row % shape.ratio;
    bool any = false;
    for (int64_t r = 0; r < count; t++, member = 0) {
      // Descendants continue the path of the block's segment, each from its own place.
      int64_t position = t + ahead;
      if (t >= forest.end(s)) position = shape.window == 0 ? key + KEYS : positionOf(t);
      const Sight sight = shape.sight(position, key, keys);
      any |= sight.from < sight.to;
      for (; member < shape.ratio && r < count; member++) space.sights[r++] = sight;
    }
    return any;
  }

  int64_t positionOf(int64_t token) const {
    const Forest& forest = blocks.forest;
    int64_t low = 0, high = forest.count;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      if (forest.start(middle) <= token) low = middle;
      else high = middle;
    }
    return forest.prefix[low] + token - forest.start(low);
  }

  // p and ds of one tile of rows against the block in the workspace.
  void differentiate(const BackwardSpace& space, const GradientRows& rows, int64_t row,
                     int64_t count, const Look& look) const {
    const int64_t D = shape.D, stride = spreadHead(D);
    multiplyAcross(count, rows.queries + row * stride, stride, D, space.keysAcross, space.weights,
                   look);
    multiplyAcross(count, rows.gradOut + row * stride, stride, D, space.valuesAcross,
                   space.gradScores, look);
    for (int64_t r = 0; r < count; r++) {
      differentiateRow(space.weights + r * KEYS, space.gradScores + r * KEYS, space.sights[r],
                       rows.lse[row + r], rows.delta[row + r]);
    }
  }

  // gradient[keys][padded] += weightsᵀ·rows, without the rows before the first that sees a key.
  void addAcross(const BackwardSpace& space, const float* weights, int64_t keys, const float* rows,
                 int64_t count, float* gradient) const {
    const int64_t padded = paddedHead(shape.D), stride = spreadHead(shape.D);
    if (space.sights[0].to >= keys) {
      multiplyPanels<Rows::contiguousRows>(keys, padded, count, weights, KEYS,
                                           {rows, PANEL, stride}, gradient, padded, Into::chain);
      return;
    }
    int64_t first = 0;
    for (int64_t i = 0; i < keys; i += TILE_ROWS) {
      while (first < count && space.sights[first].to <= i) first++;
      if (first == count) return;
      multiplyPanels<Rows::contiguousRows>(smaller(TILE_ROWS, keys - i), padded, count - first,
                                           weights + first * KEYS + i, KEYS,
                                           {rows + first * stride, PANEL, stride},
                                           gradient + i * padded, padded, Into::chain);
    }
  }

  // The tokens that meet a block: its segment's from the first that sees a key, and those of all
  // descendants if it is full.
  void tokensOf(int64_t block, int64_t* from, int64_t* end) const {
    const Forest& forest = blocks.forest;
    const int64_t s = blocks.owner[block];
    const int64_t begin = blocks.placeOf(block) * KEYS - forest.prefix[s];
    *from = forest.start(s) + (shape.causal ? larger(0, begin) : 0);
    *end = blocks.keysIn(block) == KEYS ? subtreeEnds[s] : forest.end(s);
  }

  // One block and the rows that meet it among those of tokens [loaded, loadedEnd), with which the
  // rows begin and end. gradQuery may be null; gradKeys and gradValues go on from what they are.
  void runBlock(const BackwardSpace& space, const GradientRows& rows, int64_t loaded,
                int64_t loadedEnd, float* gradQuery, int64_t block, int64_t g, float* gradKeys,
                float* gradValues) const {
    const int64_t padded = paddedHead(shape.D), stride = spreadHead(shape.D);
    int64_t from, end;
    tokensOf(block, &from, &end);
    from = larger(from, loaded);
    end = smaller(end, loadedEnd);
    if (from >= end) return;
    const int64_t count = packBlock(space, block, g, gradQuery);
    const int64_t rowEnd = (end - loaded) * shape.ratio;
    for (int64_t row = (from - loaded) * shape.ratio; row < rowEnd; row += QUERY_ROWS) {
      const int64_t tile = smaller(QUERY_ROWS, rowEnd - row);
      if (!fillSights(space, block, count, loaded, row, tile)) continue;
      const Look look(space.sights, tile);
      differentiate(space, rows, row, tile, look);
      if (gradQuery) {
        addAlong(tile, space.gradScores, padded, space.keysAlong, gradQuery + row * padded, padded,
                 look);
      }
      if (dk) {
        addAcross(space, space.gradScores, count, rows.queries + row * stride, tile, gradKeys);
      }
      if (dv) {
        addAcross(space, space.weights, count, rows.gradOut + row * stride, tile, gradValues);
      }
    }
  }

  // The queries of one chunk and all blocks they meet, of rows that begin with token 0.
  void runQueries(const BackwardSpace& space, const GradientRows& rows, float* gradQuery,
                  const Chunk& chunk, int64_t g) const {
    const Forest& forest = blocks.forest;
    const int64_t padded = paddedHead(shape.D), ratio = shape.ratio;
    const int64_t begin = chunk.token * ratio, end = begin + chunk.tokens * ratio;
    memset(gradQuery, 0, (size_t)((end - begin) * padded) * sizeof(float));
    const int64_t before = forest.prefix[chunk.segment] + chunk.token - forest.start(chunk.segment);
    const int64_t keys = keysOf(shape, forest, chunk);
    for (int64_t place = shape.firstPlace(before); place * KEYS < keys; place++) {
      const int64_t block = blocks.onPath(chunk.segment, place);
      const int64_t count = packBlock(space, block, g, true);
      for (int64_t row = begin; row < end; row += QUERY_ROWS) {
        const int64_t tile = smaller(QUERY_ROWS, end - row);
        if (!fillSights(space, block, count, 0, row, tile)) continue;
        const Look look(space.sights, tile);
        differentiate(space, rows, row, tile, look);
        addAlong(tile, space.gradScores, padded, space.keysAlong,
                 gradQuery + (row - begin) * padded, padded, look);
      }
    }
    storeQueryGradients(gradQuery, chunk.token, chunk.tokens, g);
  }

  // Adds what a block gathered, as dk and dv, to its tokens.
  void addKeyGradients(const float* gathered, int64_t block, int64_t g) const {
    const int64_t D = shape.D, padded = paddedHead(D);
    int64_t at[KEYS];
    const int64_t count = blocks.tokens(block, at);
    for (int64_t j = 0; j < count; j++) {
      const int64_t to = (at[j] * shape.G + g) * D;
      const int64_t ahead = (at[smaller(j + 6, count - 1)] * shape.G + g) * D;
      if (dk) prefetchRun(dk + ahead, D);
      if (dv) prefetchRun(dv + ahead, D);
      if (dk) addScaled(dk + to, gathered + j * padded, LN_2, D);
      if (dv) addScaled(dv + to, gathered + (KEYS + j) * padded, 1.0f, D);
    }
  }

  SACCADE_INLINE static void addScaled(float* to, const float* from, float factor, int64_t D) {
    forLanes(D, [&](int64_t d, int64_t width) {
      storeWidth(to + d, fma(load(from + d), splat(factor), loadWidth(to + d, width)), width);
    });
  }
};

}  // namespace SACCADE_ISA
}  // namespace saccade
