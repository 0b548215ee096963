// The queries of a forest in chunks of about 96 rows (token, head), each of one segment.
#pragma once

#include "attention-shape.h"

namespace saccade {
namespace SACCADE_ISA {

struct Chunk {
  int32_t segment;
  int32_t token;
  int32_t tokens;
};

// The keys the rows of a chunk walk past: those its last token sees, and before.
static inline int64_t keysOf(const AttentionShape& shape, const Forest& forest,
                             const Chunk& chunk) {
  const int64_t s = chunk.segment, end = chunk.token + chunk.tokens - forest.start(s);
  return forest.prefix[s] + (shape.causal ? end : forest.length(s));
}

// Tokens of a chunk: about QUERY_ROWS rows, whole tiles of them where the heads allow.
static inline int64_t chunkTokens(int64_t tokens, int64_t ratio) {
  const int64_t most = larger(1, QUERY_ROWS / ratio);
  const int64_t parts = larger(1, (tokens + most / 2) / most);
  const int64_t even = divideUp(tokens, parts);
  return ratio < TILE_ROWS && TILE_ROWS % ratio == 0 ? roundUp(even, TILE_ROWS / ratio) : even;
}

// The most tokens chunkTokens gives.
static inline int64_t chunkMost(int64_t ratio) {
  return larger(1, QUERY_ROWS / ratio) * 3 / 2 + 1 + TILE_ROWS;
}

struct Chunks {
  const Chunk* at;
  int64_t count;
};

// All chunks, those that meet the most blocks first, so that threads finish together.
static inline Chunks planChunks(const SaccadeLaunch& launch, const AttentionShape& shape,
                                const Forest& forest) {
  int64_t count = 0, most = 0;
  const auto forAll = [&](const auto& body) {
    for (int64_t s = 0; s < forest.count; s++) {
      const int64_t tokens = forest.length(s), step = chunkTokens(tokens, shape.ratio);
      for (int64_t i = 0; i < tokens; i += step) {
        const Chunk chunk{(int32_t)s, (int32_t)(forest.start(s) + i),
                          (int32_t)smaller(step, tokens - i)};
        const int64_t unseen = shape.firstPlace(forest.prefix[s] + i);
        body(chunk, divideUp(keysOf(shape, forest, chunk), KEYS) - unseen);
      }
    }
  };
  forAll([&](Chunk, int64_t blocks) {
    count++;
    most = larger(most, blocks);
  });
  int64_t* next = scratchArray<int64_t>(launch, most + 2);
  memset(next, 0, (size_t)(most + 2) * sizeof(int64_t));
  forAll([&](Chunk, int64_t blocks) { next[most - blocks + 1]++; });
  for (int64_t b = 0; b < most; b++) next[b + 1] += next[b];
  Chunk* chunks = scratchArray<Chunk>(launch, count);
  forAll([&](Chunk chunk, int64_t blocks) { chunks[next[most - blocks]++] = chunk; });
  return {chunks, count};
}

}  // namespace SACCADE_ISA
}  // namespace saccade
