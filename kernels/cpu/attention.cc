// out = softmax(scale·q·kᵀ + mask)·v over a forest of segments, never holding a T × T array.
//
// Layout: q, out [T,H,D]; k, v [T,G,D]; segments [S,3]; lse [H,T]. H/G query heads share a key head
// and are worked on together, as rows (token, head), so a block of keys is packed once for all.
// A thread owns a tile of up to 96 such rows of one segment and one key head, and walks the path
// from the root to them in blocks of 64 logical keys (common/attend.h).
// Keys are packed per tile rather than once per segment: tiles stay independent, and against 96
// rows of products the packing is small.
// The backward is in attention-backward.h.
#include <math.h>

#include "common/attention-backward.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

struct Tile {
  int32_t segment;
  int32_t token;
};

int forward(const SaccadeLaunch* launch) {
  const AttentionShape shape(*launch);
  if (shape.check(*launch)) return 1;
  const int64_t T = shape.T, H = shape.H, D = shape.D, G = shape.G, ratio = shape.ratio;
  const float* q = floats(*launch, 0);
  const float* k = floats(*launch, 1);
  const float* v = floats(*launch, 2);
  float* out = floats(*launch, 4);
  float* lse = floats(*launch, 5);
  Forest forest;
  if (readForest(*launch, ints(*launch, 3), shape.S, T, &forest)) return 1;

  const int64_t tileTokens = larger(1, QUERY_ROWS / ratio);
  const int64_t rowsMost = tileTokens * ratio;
  Tile* tiles = scratchArray<Tile>(*launch, shape.S + T / tileTokens + 1);
  int64_t tileCount = 0;
  for (int64_t s = 0; s < forest.count; s++) {
    for (int64_t t = forest.start(s); t < forest.end(s); t += tileTokens) {
      tiles[tileCount++] = {(int32_t)s, (int32_t)t};
    }
  }
  const int64_t threads = launch->runtime->threads;
  const int64_t spaceFloats = roundUp(AttendSpace::floatsFor(rowsMost, D), LANES);
  float* spaces = scratchFloats(*launch, threads * spaceFloats);
  Run* runs = scratchArray<Run>(*launch, threads * shape.S);
  const int64_t padded = paddedHead(D);
  const float scale = shape.scale;
  const bool causal = shape.causal;

  parallelFor(*launch, tileCount * G, shape.nanoseconds(), [&](int64_t item, int32_t worker) {
    const Tile tile = tiles[item / G];
    const int64_t g = item % G;
    const int64_t s = tile.segment;
    const int64_t tokens = smaller(tileTokens, forest.end(s) - tile.token);
    const int64_t rows = tokens * ratio;
    const int64_t before = forest.prefix[s] + tile.token - forest.start(s);
    const int64_t keys = causal ? before + tokens : forest.prefix[s] + forest.length(s);
    AttendSpace space(spaces + worker * spaceFloats, rowsMost, D);
    Run* path = runs + worker * shape.S;
    KeyWalk walk{path, path + pathRuns(forest, s, path)};

    for (int64_t i = 0; i < tokens; i++) {
      const int64_t first = (tile.token + i) * H + g * ratio;
      for (int64_t h = 0; h < ratio; h++) {
        const int64_t head = first + h;
        packRows(space.queries + (i * ratio + h) * padded, q, D, &head, 1, D, padded, scale);
      }
    }
    startRows(space.state, rows, padded);
    for (int64_t key = 0; key < keys; key += KEYS) {
      int64_t at[KEYS];
      const int64_t count = walk.next(smaller(KEYS, keys - key), at);
      space.block.count = count;
      packKeys(space.block.keys, k + g * D, G * D, at, count, D);
      packRows(space.block.values, v + g * D, G * D, at, count, D, padded, 1.0f);
      const int64_t blind =
          fillLimits(space.limits, tokens, ratio, before + 1 - key, count, causal);
      attendBlock(blind, rows, space.queries, D, space.block, space.state, space.scores,
                  space.limits);
    }
    for (int64_t i = 0; i < tokens; i++) {
      for (int64_t member = 0; member < ratio; member++) {
        const int64_t t = tile.token + i, h = g * ratio + member, r = i * ratio + member;
        const float sum = finishRow(out + (t * H + h) * D, space.state, r, D);
        lse[h * T + t] = (float)((double)space.state.max[r] + log((double)sum));
      }
    }
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(attention,
               "q[T,H,D]' k[T,G,D]' v[T,G,D]' segments[S,P]# -> out[T,H,D]' lse[H,T]! ; "
               "scale causal",
               SACCADE_FLOAT32(forward), SACCADE_FLOAT32(attentionBackward))

}  // namespace SACCADE_ISA
}  // namespace saccade
