// out = softmax(scale·q·kᵀ + mask)·v over a forest of segments, never holding a T × T array.
//
// Layout: q, out [T,H,D]; k, v [T,G,D]; segments [S,3]; lse [H,T]. H/G query heads share a key head
// and are worked on together, as rows (token, head).
// First every block of 64 logical keys is packed, once for all rows that meet it
// (parts/key-blocks.h). Then a thread owns about 96 rows of one segment and one key head and walks
// the blocks on their path (parts/attend.h), the rows with the most keys first. A tile of 12 rows
// stops at the last key that one of them sees.
// The backward is in parts/attention-backward.h.
#include "parts/attention-backward.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
struct ForwardTask {
  const AttentionShape& shape;
  const KeyBlocks& blocks;
  const Stored* q;
  const float* packed;
  Stored* out;
  float* lse;

  // Block b, after which comes block `next`, or none where that is negative.
  KeyBlock block(int64_t b, int64_t next, int64_t g) const {
    const int64_t across = acrossFloats(shape.D), all = across + alongFloats(shape.D);
    const float* keys = packed + (b * shape.G + g) * all;
    if (!FETCHES_PANELS || next < 0) return {keys, keys + across};
    const float* following = packed + (next * shape.G + g) * all;
    return {keys, keys + across, following, following + all};
  }

  void loadRows(const AttendSpace& space, const Chunk& chunk, int64_t g) const {
    const int64_t D = shape.D, padded = paddedHead(D);
    const float scale = shape.scale * LOG2_E;
    const auto ahead = [&](int64_t t, int64_t h) { prefetchRun(q + (t * shape.H + h) * D, D); };
    shape.forRows(0, chunk.token, chunk.tokens, g, ahead, [&](int64_t r, int64_t t, int64_t h) {
      copyHead(space.queries + r * padded, q + (t * shape.H + h) * D, D, scale);
    });
  }

  void storeRows(const AttendSpace& space, const Chunk& chunk, int64_t g) const {
    const int64_t D = shape.D;
    const auto ahead = [&](int64_t t, int64_t h) { prefetchRun(out + (t * shape.H + h) * D, D); };
    shape.forRows(0, chunk.token, chunk.tokens, g, ahead, [&](int64_t r, int64_t t, int64_t h) {
      finishRow(out + (t * shape.H + h) * D, space.state, r, D);
    });
    const float* sums = logSums(space.state, chunk.tokens * shape.ratio);
    shape.forRows(0, chunk.token, chunk.tokens, g,
                  [&](int64_t r, int64_t t, int64_t h) { lse[h * shape.T + t] = sums[r]; });
  }

  void run(const Chunk& chunk, int64_t g, const AttendSpace& space) const {
    const Forest& forest = blocks.forest;
    const int64_t s = chunk.segment, ratio = shape.ratio, rows = chunk.tokens * ratio;
    const int64_t padded = paddedHead(shape.D);
    const int64_t before = forest.prefix[s] + chunk.token - forest.start(s);
    const int64_t keys = keysOf(shape, forest, chunk);
    loadRows(space, chunk, g);
    startRows(space.state, rows, padded);
    for (int64_t place = shape.firstPlace(before); place * KEYS < keys; place++) {
      const int64_t count = smaller(KEYS, keys - place * KEYS);
      // The rows that see something of the block follow one another.
      int64_t first = rows, end = 0;
      for (int64_t i = 0; i < chunk.tokens; i++) {
        const Sight sight = shape.sight(before + i, place * KEYS, count);
        for (int64_t r = i * ratio; r < (i + 1) * ratio; r++) space.sights[r] = sight;
        if (sight.to <= sight.from) continue;
        first = smaller(first, i * ratio);
        end = (i + 1) * ratio;
      }
      const int64_t next = (place + 1) * KEYS < keys ? blocks.onPath(s, place + 1) : -1;
      attendBlock(end - first, space.queries + first * padded, shape.D,
                  block(blocks.onPath(s, place), next, g), fromRow(space.state, first, padded),
                  space.scores, space.sights + first);
    }
    storeRows(space, chunk, g);
  }
};

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const AttentionShape shape(*launch);
  if (shape.check(*launch)) return 1;
  const int64_t D = shape.D, G = shape.G;
  Forest forest;
  if (readForest(*launch, ints(*launch, 3), shape.S, shape.T, &forest)) return 1;
  const KeyBlocks blocks = planBlocks(*launch, forest);
  const int64_t blockFloats = acrossFloats(D) + alongFloats(D);
  float* packed = scratchFloats(*launch, blocks.count() * G * blockFloats);
  const Stored* k = stored<Stored>(*launch, 1);
  const Stored* v = stored<Stored>(*launch, 2);
  const double nanoseconds = shape.nanoseconds(forest);
  parallelFor(*launch, blocks.count(), 0.05 * nanoseconds, [&](int64_t block, int32_t) {
    int64_t at[KEYS];
    const int64_t count = blocks.tokens(block, at);
    for (int64_t g = 0; g < G; g++) {
      float* keys = packed + (block * G + g) * blockFloats;
      packAcross(keys, k + g * D, G * D, at, count, D);
      packAlong(keys + acrossFloats(D), v + g * D, G * D, at, count, D);
    }
  });

  const Chunks chunks = planChunks(*launch, shape, forest);
  const int64_t rowsMost = chunkMost(shape.ratio) * shape.ratio;
  const int64_t spaceFloats = roundUp(AttendSpace::floatsFor(rowsMost, D), LANES);
  float* spaces = scratchFloats(*launch, launch->runtime->threads * spaceFloats);
  const ForwardTask<Stored> task{shape,  blocks, stored<Stored>(*launch, 0),
                                 packed, stored<Stored>(*launch, 4), floats(*launch, 5)};
  parallelFor(*launch, chunks.count * G, nanoseconds, [&](int64_t item, int32_t worker) {
    task.run(chunks.at[item / G], item % G,
             AttendSpace(spaces + worker * spaceFloats, rowsMost, D));
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(attention,
               "q[T,H,D]' k[T,G,D]' v[T,G,D]' segments[S,P]# -> out[T,H,D]' lse[H,T]'! ; "
               "scale causal window",
               SACCADE_STORED(forward), SACCADE_STORED(attentionBackward))

}  // namespace SACCADE_ISA
}  // namespace saccade
