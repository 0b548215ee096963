// The gradients of attention in one pass over the scores:
//
//   p = e^(s − lse);  δ = Σ_d dout∘out;  ds = p∘(dout·vᵀ − δ)
//   dq = scale·ds·k;  dk = scale·dsᵀ·q;  dv = pᵀ·dout
//
// A thread owns one tree of segments and one key head: it alone adds to that tree's dk and dv, in
// depth-first order, so a prefix shared by many responses collects their gradients in a fixed order
// without atomics. Five products per block; the two-pass form (dq, then dk and dv) takes seven and
// the exponentials twice, and would only help when there are fewer trees × heads than threads.
#pragma once

#include "attend.h"

namespace saccade {
namespace SACCADE_ISA {

struct AttentionShape {
  int64_t T, H, D, G, S, P, ratio;
  float scale;
  bool causal;

  explicit AttentionShape(const SaccadeLaunch& launch)
      : T(launch.dims[0]), H(launch.dims[1]), D(launch.dims[2]), G(launch.dims[3]),
        S(launch.dims[4]), P(launch.dims[5]), ratio(G > 0 ? H / G : 0),
        scale(headScale(launch.scalars[0], D)), causal(launch.scalars[1] != 0) {}

  int check(const SaccadeLaunch& launch) const {
    if (P != 3) {
      return fail(launch, "a segment has %lld numbers, expected start, end, parent. Pass [S, 3].",
                  (long long)P);
    }
    if (G < 1 || H < G || H % G != 0) {
      return fail(launch, "k has %lld heads, q has %lld; q's heads must be a multiple of k's.",
                  (long long)G, (long long)H);
    }
    if (D < 1) return fail(launch, "heads have no elements. Give them at least one.");
    if (T >= INT32_MAX) return fail(launch, "%lld tokens do not fit int32.", (long long)T);
    return 0;
  }

  // A guess for the decision to wake other threads: 64 keys per row.
  double nanoseconds() const { return (double)(T * H) * (double)D * 4.0 * 64.0 / 60.0; }
};

// Query rows a thread holds at once: three arrays of 24 K floats stay in L2.
static inline int64_t chunkRowsOf(int64_t D) { return larger(QUERY_ROWS, 24576 / paddedHead(D)); }

struct BackwardSpace {
  float *queries, *gradOut, *gradQuery;    // [chunkRows][padded]
  float *lse, *delta;                      // [chunkRows]
  float* limitBits;                        // [chunkRows] int32
  float *keysAcross, *valuesAcross;        // KEYS × D packed for scores and for dout·vᵀ
  float *keys;                             // [KEYS][padded]
  float *gradKeys, *gradValues;            // [KEYS][padded]
  float *weights, *gradScores;             // [tileRows][KEYS]

  int32_t* limits() const { return (int32_t*)limitBits; }

  static int64_t floatsFor(int64_t chunkRows, int64_t tileRows, int64_t D) {
    const int64_t padded = paddedHead(D);
    return 3 * chunkRows * padded + 3 * roundUp(chunkRows, LANES) + 5 * KEYS * padded +
           2 * tileRows * KEYS;
  }

  BackwardSpace(float* memory, int64_t chunkRows, int64_t tileRows, int64_t D) {
    const int64_t padded = paddedHead(D);
    float** const parts[] = {&queries,    &gradOut,      &gradQuery, &lse,      &delta,
                             &limitBits,  &keysAcross,   &valuesAcross, &keys,  &gradKeys,
                             &gradValues, &weights,      &gradScores};
    const int64_t rows = roundUp(chunkRows, LANES);
    const int64_t queryFloats = chunkRows * padded, keyFloats = KEYS * padded;
    const int64_t sizes[] = {queryFloats, queryFloats,     queryFloats, rows,      rows,
                             rows,        keyFloats,       keyFloats,   keyFloats, keyFloats,
                             keyFloats,   tileRows * KEYS, tileRows * KEYS};
    for (int i = 0; i < 13; i++) {
      *parts[i] = memory;
      memory += sizes[i];
    }
  }
};

// p and ds of one row from its scores and dout·vᵀ, both in place; keys from `limit` on get 0.
SACCADE_INLINE void differentiateRow(float* scores, float* gradScores, int64_t limit, float lse,
                                     float delta) {
  for (int64_t j = 0; j < KEYS; j += LANES) {
    if (j >= limit) {
      store(scores + j, Vec{});
      store(gradScores + j, Vec{});
      continue;
    }
    const Vec p = exponential(load(scores + j) - splat(lse));
    const Vec ds = p * (load(gradScores + j) - splat(delta));
    const Vec left = splat((float)(limit - j));
    store(scores + j, selectGreater(left, laneIndex(), p, Vec{}));
    store(gradScores + j, selectGreater(left, laneIndex(), ds, Vec{}));
  }
}

struct BackwardTask {
  const AttentionShape& shape;
  const Forest& forest;
  const float *q, *k, *v, *dOut, *out, *lse;
  float *dq, *dk, *dv;

  // Rows (token, head) of one chunk of a segment into the workspace.
  void loadChunk(const BackwardSpace& space, int64_t g, int64_t token, int64_t rows) const {
    const int64_t D = shape.D, padded = paddedHead(D);
    for (int64_t r = 0, t = token; r < rows; t++) {
      for (int64_t h = g * shape.ratio; h < (g + 1) * shape.ratio; h++, r++) {
        const int64_t head = t * shape.H + h;
        packRows(space.queries + r * padded, q, D, &head, 1, D, padded, shape.scale);
        packRows(space.gradOut + r * padded, dOut, D, &head, 1, D, padded, 1.0f);
        const float* upstream = space.gradOut + r * padded;
        Vec dot{};
        forLanes(D, [&](int64_t d, int64_t width) {
          dot = fma(loadWidth(out + head * D + d, width), load(upstream + d), dot);
        });
        space.delta[r] = sumLanes(dot);
        space.lse[r] = lse[h * shape.T + t];
      }
    }
    memset(space.gradQuery, 0, (size_t)(rows * padded) * sizeof(float));
  }

  // One tile of rows against the block of keys in the workspace.
  void meetBlock(const BackwardSpace& space, int64_t first, int64_t rows, int64_t count) const {
    const int64_t D = shape.D, padded = paddedHead(D);
    const float* queries = space.queries + first * padded;
    const float* gradOut = space.gradOut + first * padded;
    const int64_t columns = roundUp(count, LANES);
    multiplyPanels<Rows::contiguousDepth>(rows, columns, D, queries, padded,
                                          {space.keysAcross, D * PANEL, PANEL}, space.weights, KEYS,
                                          Into::overwrite);
    multiplyPanels<Rows::contiguousDepth>(rows, columns, D, gradOut, padded,
                                          {space.valuesAcross, D * PANEL, PANEL}, space.gradScores,
                                          KEYS, Into::overwrite);
    for (int64_t r = 0; r < rows; r++) {
      differentiateRow(space.weights + r * KEYS, space.gradScores + r * KEYS,
                       space.limits()[first + r], space.lse[first + r], space.delta[first + r]);
    }
    if (dq) {
      multiplyPanels<Rows::contiguousDepth>(rows, padded, count, space.gradScores, KEYS,
                                            {space.keys, PANEL, padded},
                                            space.gradQuery + first * padded, padded, Into::chain);
    }
    if (dk) {
      multiplyPanels<Rows::contiguousRows>(count, padded, rows, space.gradScores, KEYS,
                                           {queries, PANEL, padded}, space.gradKeys, padded,
                                           Into::chain);
    }
    if (dv) {
      multiplyPanels<Rows::contiguousRows>(count, padded, rows, space.weights, KEYS,
                                           {gradOut, PANEL, padded}, space.gradValues, padded,
                                           Into::chain);
    }
  }

  // All keys a chunk of one segment sees.
  void runChunk(const BackwardSpace& space, Run* path, int64_t s, int64_t g, int64_t token,
                int64_t tokens) const {
    const int64_t D = shape.D, G = shape.G, ratio = shape.ratio, padded = paddedHead(D);
    const int64_t rows = tokens * ratio;
    const int64_t before = forest.prefix[s] + token - forest.start(s);
    const int64_t keys = shape.causal ? before + tokens : forest.prefix[s] + forest.length(s);
    loadChunk(space, g, token, rows);
    KeyWalk walk{path, path + pathRuns(forest, s, path)};
    const int64_t tileRows = larger(1, QUERY_ROWS / ratio) * ratio;
    for (int64_t key = 0; key < keys; key += KEYS) {
      int64_t at[KEYS];
      const int64_t count = walk.next(smaller(KEYS, keys - key), at);
      packKeys(space.keysAcross, k + g * D, G * D, at, count, D);
      packKeys(space.valuesAcross, v + g * D, G * D, at, count, D);
      packRows(space.keys, k + g * D, G * D, at, count, D, padded, 1.0f);
      memset(space.gradKeys, 0, (size_t)(2 * KEYS * padded) * sizeof(float));
      int64_t first = fillLimits(space.limits(), tokens, ratio, before + 1 - key, count,
                                 shape.causal);
      for (; first < rows; first += tileRows) {
        meetBlock(space, first, smaller(tileRows, rows - first), count);
      }
      for (int64_t j = 0; j < count; j++) {
        const int64_t to = (at[j] * G + g) * D;
        if (dk) addRow(dk + to, space.gradKeys + j * padded, D);
        if (dv) addRow(dv + to, space.gradValues + j * padded, D);
      }
    }
    if (!dq) return;
    for (int64_t r = 0, t = token; r < rows; t++) {
      for (int64_t h = g * ratio; h < (g + 1) * ratio; h++, r++) {
        forLanes(D, [&](int64_t d, int64_t width) {
          const Vec sum = load(space.gradQuery + r * padded + d);
          storeWidth(dq + (t * shape.H + h) * D + d, sum * splat(shape.scale), width);
        });
      }
    }
  }

  SACCADE_INLINE static void addRow(float* to, const float* from, int64_t D) {
    forLanes(D, [&](int64_t d, int64_t width) {
      storeWidth(to + d, loadWidth(to + d, width) + load(from + d), width);
    });
  }
};

// Operands: dout, q, k, v, segments, out, lse, dq, dk, dv.
static inline int attentionBackward(const SaccadeLaunch* launch) {
  const AttentionShape shape(*launch);
  if (shape.check(*launch)) return 1;
  float* dq = floats(*launch, 7);
  float* dk = floats(*launch, 8);
  float* dv = floats(*launch, 9);
  const int64_t queryBytes = shape.T * shape.H * shape.D * (int64_t)sizeof(float);
  const int64_t keyBytes = shape.T * shape.G * shape.D * (int64_t)sizeof(float);
  if (dk) memset(dk, 0, (size_t)keyBytes);
  if (dv) memset(dv, 0, (size_t)keyBytes);
  const float* dOut = floats(*launch, 0);
  if (!dOut) {
    if (dq) memset(dq, 0, (size_t)queryBytes);
    return 0;
  }
  Forest forest;
  if (readForest(*launch, ints(*launch, 4), shape.S, shape.T, &forest)) return 1;
  int64_t* roots = scratchArray<int64_t>(*launch, shape.S + 1);
  int64_t trees = 0;
  for (int64_t s = 0; s < shape.S; s++) {
    if (forest.parent(s) < 0) roots[trees++] = s;
  }
  roots[trees] = shape.S;

  const int64_t threads = launch->runtime->threads;
  const int64_t tileRows = larger(1, QUERY_ROWS / shape.ratio) * shape.ratio;
  const int64_t chunkTokens = larger(1, chunkRowsOf(shape.D) / shape.ratio);
  const int64_t chunkRows = chunkTokens * shape.ratio;
  const int64_t spaceFloats =
      roundUp(BackwardSpace::floatsFor(chunkRows, tileRows, shape.D), LANES);
  float* spaces = scratchFloats(*launch, threads * spaceFloats);
  Run* runs = scratchArray<Run>(*launch, threads * shape.S);
  const BackwardTask task{shape, forest, floats(*launch, 1), floats(*launch, 2),
                          floats(*launch, 3), dOut, floats(*launch, 5), floats(*launch, 6),
                          dq, dk, dv};
  parallelFor(*launch, trees * shape.G, 2.5 * shape.nanoseconds(),
              [&](int64_t item, int32_t worker) {
    const int64_t tree = item / shape.G, g = item % shape.G;
    const BackwardSpace space(spaces + worker * spaceFloats, chunkRows, tileRows, shape.D);
    for (int64_t s = roots[tree]; s < roots[tree + 1]; s++) {
      for (int64_t t = forest.start(s); t < forest.end(s); t += chunkTokens) {
        task.runChunk(space, runs + worker * shape.S, s, g, t,
                      smaller(chunkTokens, forest.end(s) - t));
      }
    }
  });
  return 0;
}

}  // namespace SACCADE_ISA
}  // namespace saccade
