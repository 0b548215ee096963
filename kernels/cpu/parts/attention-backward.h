// The gradients of attention over a forest, with the scores recomputed (attend-backward.h).
//
// A thread owns one tree of segments and one key head. It takes as many rows as L2 holds, and for
// them the blocks of keys one after another (key-blocks.h): the rows that meet a block go on with
// its dk and dv, so those of a shared prefix collect the rows of all responses in depth-first order,
// without atomics, and dq collects over the blocks in theirs. That is five products per pair of
// tile and block. Rows that stay while blocks pass are read and written far less from memory than
// blocks that stay while rows pass: a row is three heads, a block's gradients change in cache.
//
// Where trees × heads would leave threads idle, dk and dv are made block by block and dq row by
// row, all on their own: seven products, but the same chains of additions and so the same bits.
#pragma once

#include "attend-backward.h"
#include "attention-chunks.h"

namespace saccade {
namespace SACCADE_ISA {

struct Trees {
  // The tokens and blocks of tree i: from [i] up to [i + 1].
  int64_t *tokens, *blocks;
  int64_t count;
  // The most tokens and the most blocks of one.
  int64_t longest, mostBlocks;
};

static inline Trees planTrees(const SaccadeLaunch& launch, const KeyBlocks& blocks) {
  const Forest& forest = blocks.forest;
  Trees trees{scratchArray<int64_t>(launch, forest.count + 1),
              scratchArray<int64_t>(launch, forest.count + 1), 0, 0, 0};
  for (int64_t s = 0; s < forest.count; s++) {
    if (forest.parent(s) >= 0) continue;
    trees.tokens[trees.count] = forest.start(s);
    trees.blocks[trees.count++] = blocks.first[s];
  }
  trees.tokens[trees.count] = forest.count > 0 ? forest.end(forest.count - 1) : 0;
  trees.blocks[trees.count] = blocks.count();
  for (int64_t i = 0; i < trees.count; i++) {
    trees.longest = larger(trees.longest, trees.tokens[i + 1] - trees.tokens[i]);
    trees.mostBlocks = larger(trees.mostBlocks, trees.blocks[i + 1] - trees.blocks[i]);
  }
  return trees;
}

static inline int64_t* subtreeEndsOf(const SaccadeLaunch& launch, const Forest& forest) {
  int64_t* ends = scratchArray<int64_t>(launch, forest.count);
  for (int64_t s = 0; s < forest.count; s++) ends[s] = forest.end(s);
  // Children come after their parents, so walking backwards every child is complete.
  for (int64_t s = forest.count - 1; s >= 0; s--) {
    const int64_t parent = forest.parent(s);
    if (parent >= 0) ends[parent] = larger(ends[parent], ends[s]);
  }
  return ends;
}

// Floats that a block accumulates: dk and dv of its keys.
static inline int64_t gatheredFloats(int64_t D) { return 2 * KEYS * paddedHead(D); }

// Tokens whose rows, with what they gather, take half of a 1 MiB L2.
static inline int64_t stretchTokens(const AttentionShape& shape) {
  const int64_t rows = (1 << 17) / (2 * spreadHead(shape.D) + paddedHead(shape.D));
  return larger(QUERY_ROWS / shape.ratio, rows / shape.ratio) + 1;
}

// One thread per tree and key head.
template <class Stored>
static inline void differentiateTrees(const SaccadeLaunch& launch, const BackwardTask<Stored>& task,
                                      const Trees& trees, double nanoseconds) {
  const AttentionShape& shape = task.shape;
  const int64_t D = shape.D, stretch = smaller(stretchTokens(shape), trees.longest);
  const int64_t rowsMost = stretch * shape.ratio, blockFloats = gatheredFloats(D);
  const int64_t rowFloats = roundUp(GradientRows::floatsFor(rowsMost, D), LANES);
  const int64_t queryFloats = rowsMost * paddedHead(D);
  const int64_t spaceFloats = roundUp(BackwardSpace::floatsFor(D) + rowFloats + queryFloats, LANES);
  float* spaces = scratchFloats(launch, launch.runtime->threads * spaceFloats);
  float* gathered = scratchFloats(launch, launch.runtime->threads * trees.mostBlocks * blockFloats);
  parallelFor(launch, trees.count * shape.G, nanoseconds, [&](int64_t item, int32_t worker) {
    const int64_t tree = item / shape.G, g = item % shape.G;
    const int64_t first = trees.blocks[tree], last = trees.blocks[tree + 1];
    float* memory = spaces + worker * spaceFloats;
    const GradientRows rows(memory, rowsMost, D);
    float* gradQuery = task.dq ? memory + rowFloats : nullptr;
    const BackwardSpace space(memory + rowFloats + queryFloats, D);
    float* sums = gathered + worker * trees.mostBlocks * blockFloats;
    memset(sums, 0, (size_t)((last - first) * blockFloats) * sizeof(float));
    for (int64_t from = trees.tokens[tree]; from < trees.tokens[tree + 1]; from += stretch) {
      const int64_t end = smaller(from + stretch, trees.tokens[tree + 1]);
      task.loadRows(rows, from, from, end - from, g);
      if (gradQuery) {
        const int64_t floats = (end - from) * shape.ratio * paddedHead(D);
        memset(gradQuery, 0, (size_t)floats * sizeof(float));
      }
      for (int64_t block = first; block < last; block++) {
        float* sum = sums + (block - first) * blockFloats;
        task.runBlock(space, rows, from, end, gradQuery, block, g, sum, sum + blockFloats / 2);
      }
      if (gradQuery) task.storeQueryGradients(gradQuery, from, end - from, g);
    }
    for (int64_t block = first; block < last; block++) {
      task.addKeyGradients(sums + (block - first) * blockFloats, block, g);
    }
  });
}

// Blocks and chunks of rows on all threads.
template <class Stored>
static inline void differentiateParts(const SaccadeLaunch& launch, const BackwardTask<Stored>& task,
                                      const Trees& trees, double nanoseconds) {
  const AttentionShape& shape = task.shape;
  const KeyBlocks& blocks = task.blocks;
  const int64_t D = shape.D, G = shape.G, padded = paddedHead(D), threads = launch.runtime->threads;
  const int64_t rowFloats = roundUp(GradientRows::floatsFor(shape.T * shape.ratio, D), LANES);
  float* loaded = scratchFloats(launch, G * rowFloats);
  const auto rowsOf = [&](int64_t g) {
    return GradientRows(loaded + g * rowFloats, shape.T * shape.ratio, D);
  };
  constexpr int64_t STEP = 64;
  parallelFor(launch, divideUp(shape.T, STEP) * G, 0.1 * nanoseconds, [&](int64_t item, int32_t) {
    const int64_t from = item / G * STEP;
    task.loadRows(rowsOf(item % G), 0, from, smaller(STEP, shape.T - from), item % G);
  });
  const Chunks chunks = planChunks(launch, shape, blocks.forest);
  const int64_t chunkFloats = chunkMost(shape.ratio) * shape.ratio * padded;
  const int64_t spaceFloats = roundUp(BackwardSpace::floatsFor(D) + chunkFloats, LANES);
  float* spaces = scratchFloats(launch, threads * spaceFloats);
  const auto spaceOf = [&](int32_t worker) {
    return BackwardSpace(spaces + worker * spaceFloats + chunkFloats, D);
  };

  if (task.dk || task.dv) {
    const int64_t blockFloats = gatheredFloats(D);
    float* gathered = scratchFloats(launch, blocks.count() * G * blockFloats);
    parallelFor(launch, blocks.count() * G, nanoseconds, [&](int64_t item, int32_t worker) {
      float* sum = gathered + item * blockFloats;
      memset(sum, 0, (size_t)blockFloats * sizeof(float));
      task.runBlock(spaceOf(worker), rowsOf(item % G), 0, shape.T, nullptr, item / G, item % G, sum,
                    sum + blockFloats / 2);
    });
    // Blocks of different segments meet in the keys of their ancestors: in depth-first order.
    parallelFor(launch, trees.count * G, 0.1 * nanoseconds, [&](int64_t item, int32_t) {
      const int64_t tree = item / G, g = item % G;
      for (int64_t block = trees.blocks[tree]; block < trees.blocks[tree + 1]; block++) {
        task.addKeyGradients(gathered + (block * G + g) * blockFloats, block, g);
      }
    });
  }
  if (!task.dq) return;
  parallelFor(launch, chunks.count * G, nanoseconds, [&](int64_t item, int32_t worker) {
    task.runQueries(spaceOf(worker), rowsOf(item % G), spaces + worker * spaceFloats,
                    chunks.at[item / G], item % G);
  });
}

// Operands: dout, dlse, q, k, v, segments, out, lse, dq, dk, dv.
template <class Stored>
static inline int attentionBackward(const SaccadeLaunch* launch) {
  const AttentionShape shape(*launch);
  if (shape.check(*launch)) return 1;
  Stored* dq = stored<Stored>(*launch, 8);
  Stored* dk = stored<Stored>(*launch, 9);
  Stored* dv = stored<Stored>(*launch, 10);
  const int64_t keyFloats = shape.T * shape.G * shape.D;
  const Stored* dOut = stored<Stored>(*launch, 0);
  const float* dLse = floats(*launch, 1);
  if (!dOut && !dLse) {
    zero(dq, shape.T * shape.H * shape.D);
    zero(dk, keyFloats);
    zero(dv, keyFloats);
    return 0;
  }
  Forest forest;
  if (readForest(*launch, ints(*launch, 5), shape.S, shape.T, &forest)) return 1;
  float* keySums = sumsOf(*launch, dk, keyFloats);
  float* valueSums = sumsOf(*launch, dv, keyFloats);
  zero(keySums, keyFloats);
  zero(valueSums, keyFloats);
  const KeyBlocks blocks = planBlocks(*launch, forest);
  const Trees trees = planTrees(*launch, blocks);
  const BackwardTask<Stored> task{shape,
                                  blocks,
                                  subtreeEndsOf(*launch, forest),
                                  stored<Stored>(*launch, 2),
                                  stored<Stored>(*launch, 3),
                                  stored<Stored>(*launch, 4),
                                  dOut,
                                  stored<Stored>(*launch, 6),
                                  floats(*launch, 7),
                                  dLse,
                                  dq,
                                  keySums,
                                  valueSums};
  const double nanoseconds = 2.5 * shape.nanoseconds(forest);
  const int64_t threads = launch->runtime->threads, items = trees.count * shape.G;
  // Five products by the busiest thread against seven shared out evenly.
  if (5 * divideUp(items, threads) * threads > 7 * items) {
    differentiateParts(*launch, task, trees, nanoseconds);
  } else {
    differentiateTrees(*launch, task, trees, nanoseconds);
  }
  roundSums(*launch, dk, keySums, keyFloats);
  roundSums(*launch, dv, valueSums, keyFloats);
  return 0;
}

}  // namespace SACCADE_ISA
}  // namespace saccade
