// Attention of one new token per row over the key/value cache, each row over its own list of spans: what
// the kernels of a cache of any storage have in common.
//
// Layout: q, out [N,H,D]; caches [C,G,D]; spans [R,2] of slots; row n has the spans from
// spanOffsets[n] to spanOffsets[n+1], in logical order; lse [H,N]. The inner step is that of
// training (parts/attend.h), so a token's output has the same bits while sampling and while
// training.
// A thread owns a group of neighboring rows. Rows whose spans begin alike (the members of a group
// share their prompt) meet the common blocks together: with more than 8 rows (member, head) keys
// are packed once for all of them, with fewer, and for each row's own keys, they are read where
// they lie, once for all heads (parts/attend-few.h), while those that come next are fetched.
#pragma once

#include "attend-few.h"
#include "spans.h"

namespace saccade {
namespace SACCADE_ISA {

struct Group {
  int64_t first;
  int64_t end;
  int64_t sharedBlocks;
};

// With a window rows lose keys of the prompt at different steps, so they go alone.
static inline int64_t groupRows(const Spans& spans, int64_t N, int64_t rowsMost, bool windowed, Group* groups) {
  int64_t count = 0;
  for (int64_t n = 0; n < N;) {
    Group group{n, n + 1, spans.keys(n) / KEYS};
    while (!windowed && group.end < N && group.end - n < rowsMost) {
      const int64_t blocks = spans.common(n, group.end) / KEYS;
      const bool alone = group.end - n == 1;
      // One member with less in common would cost the others more than it saves.
      if (blocks < 1 || (!alone && blocks * 2 < group.sharedBlocks)) break;
      group.sharedBlocks = smaller(group.sharedBlocks, blocks);
      group.end++;
    }
    if (group.end - n == 1) group.sharedBlocks = 0;
    groups[count++] = group;
    n = group.end;
  }
  return count;
}

struct DecodeSpace {
  AttendSpace attend;
  float* keys;
  float* values;

  static int64_t floatsFor(int64_t rows, int64_t D) {
    return roundUp(AttendSpace::floatsFor(rows, D), LANES) + acrossFloats(D) + alongFloats(D);
  }
  DecodeSpace(float* memory, int64_t rows, int64_t D)
      : attend(memory, rows, D),
        keys(memory + roundUp(AttendSpace::floatsFor(rows, D), LANES)),
        values(keys + acrossFloats(D)) {}
};

// Query: the storage of q and out; Stored: that of the cache.
template <class Query, class Stored>
struct Decoder {
  const Spans& spans;
  const Query* q;
  const Stored *k, *v;
  Query* out;
  float* lse;
  int64_t N, H, D, G, ratio, window;
  float scale;

  CacheHead<Stored> cache(int64_t g) const { return {k + g * D, v + g * D, G * D}; }

  // The first `blocks` blocks of a group, which all its rows see whole.
  void meetShared(const Group& group, int64_t g, int64_t rows, const DecodeSpace& space) const {
    const AttendSpace& attend = space.attend;
    KeyWalk walk = spans.walk(group.first);
    for (int64_t r = 0; r < rows; r++) attend.sights[r] = {0, KEYS};
    for (int64_t b = 0; b < group.sharedBlocks; b++) {
      int64_t at[KEYS];
      walk.next(KEYS, at);
      if (rows <= FEW_ROWS) {
        attendFew(rows, attend.queries, D, cache(g), at, {0, KEYS}, nullptr, attend.state,
                  attend.scores);
        continue;
      }
      packAcross(space.keys, k + g * D, G * D, at, KEYS, D);
      packAlong(space.values, v + g * D, G * D, at, KEYS, D);
      attendBlock(rows, attend.queries, D, {space.keys, space.values}, attend.state, attend.scores,
                  attend.sights);
    }
  }

  // The keys of one row from block `from` on, for key heads [g, gEnd); `first` is the row's place in
  // the workspace.
  void meetOwn(int64_t n, int64_t from, int64_t g, int64_t gEnd, int64_t first,
               const AttendSpace& space) const {
    const int64_t keys = spans.keys(n), padded = paddedHead(D);
    const int64_t begin = window > 0 ? larger(0, keys - 1 - window) : 0;
    from = larger(from, begin / KEYS);
    KeyWalk walk = spans.walk(n);
    walk.skip(from * KEYS);
    int64_t slots[2][KEYS];
    int64_t count = walk.next(KEYS, slots[0]);
    for (int64_t block = from; count > 0; block++) {
      const int64_t* at = slots[(block - from) % 2];
      int64_t* ahead = slots[(block - from + 1) % 2];
      const int64_t following = walk.next(KEYS, ahead);
      // The last slot over again fills what is left of `ahead`.
      for (int64_t i = following; following > 0 && i < KEYS; i++) ahead[i] = ahead[following - 1];
      const Sight sight{(int32_t)larger(0, begin - block * KEYS), (int32_t)count};
      for (int64_t head = g; head < gEnd; head++) {
        for (int64_t h = 0; h < ratio; h += FEW_ROWS) {
          const int64_t row = first + (head - g) * ratio + h;
          attendFew(smaller(FEW_ROWS, ratio - h), space.queries + row * padded, D, cache(head), at,
                    sight, h == 0 && following > 0 ? ahead : nullptr,
                    fromRow(space.state, row, padded), space.scores);
        }
      }
      count = following;
    }
  }

  // Key heads [g, gEnd) of a group: one of them, or any number for a row by itself.
  void run(const Group& group, int64_t g, int64_t gEnd, const DecodeSpace& space) const {
    const int64_t padded = paddedHead(D), rows = (group.end - group.first) * (gEnd - g) * ratio;
    const AttendSpace& attend = space.attend;
    forHeads(group, g, gEnd, [&](int64_t r, int64_t n, int64_t h) {
      copyHead(attend.queries + r * padded, q + (n * H + h) * D, D, scale * LOG2_E);
    });
    startRows(attend.state, rows, padded);
    meetShared(group, g, rows, space);
    for (int64_t n = group.first; n < group.end; n++) {
      const int64_t first = (n - group.first) * ratio;
      if (g == 0 && n + 1 < group.end) prefetchOwn(n + 1, group.sharedBlocks);
      meetOwn(n, group.sharedBlocks, g, gEnd, first, attend);
    }
    forHeads(group, g, gEnd, [&](int64_t r, int64_t n, int64_t h) {
      finishRow(out + (n * H + h) * D, attend.state, r, D);
    });
    const float* sums = logSums(attend.state, rows);
    forHeads(group, g, gEnd, [&](int64_t r, int64_t n, int64_t h) { lse[h * N + n] = sums[r]; });
  }

  // Runs body(row, n, head) for the rows of a group and key heads [g, gEnd).
  template <class Body>
  SACCADE_INLINE void forHeads(const Group& group, int64_t g, int64_t gEnd,
                               const Body& body) const {
    int64_t row = 0;
    for (int64_t n = group.first; n < group.end; n++) {
      for (int64_t h = g * ratio; h < gEnd * ratio; h++) body(row++, n, h);
    }
  }

  // A row's own keys are too few for the processor to foresee. All heads lie side by side.
  void prefetchOwn(int64_t n, int64_t from) const {
    KeyWalk walk = spans.walk(n);
    walk.skip(from * KEYS);
    int64_t at[KEYS];
    const int64_t count = walk.next(KEYS, at);
    for (int64_t i = 0; i < count; i++) {
      prefetchRun(k + at[i] * G * D, G * D);
      prefetchRun(v + at[i] * G * D, G * D);
    }
  }
};

template <class Query, class Stored>
static int decodeRows(const SaccadeLaunch* launch) {
  const int64_t* dims = launch->dims;
  const int64_t N = dims[0], H = dims[1], D = dims[2], C = dims[3], G = dims[4], R = dims[5];
  if (dims[6] != 2) {
    return fail(*launch, "a span has %lld numbers, expected start and end.", (long long)dims[6]);
  }
  if (dims[7] != N + 1) {
    return fail(*launch, "spanOffsets has %lld numbers for %lld rows, expected one more than rows.",
                (long long)dims[7], (long long)N);
  }
  if (G < 1 || H < G || H % G != 0) {
    return fail(*launch, "the cache has %lld heads, q has %lld; q's must be a multiple of them.",
                (long long)G, (long long)H);
  }
  if (D < 1) return fail(*launch, "heads need at least one element.");
  if (checkWindow(*launch, launch->scalars[1])) return 1;
  Spans spans;
  if (readSpans(*launch, ints(*launch, 3), ints(*launch, 4), N, C, R, &spans)) return 1;
  const int64_t ratio = H / G, window = (int64_t)launch->scalars[1];
  const Decoder<Query, Stored> decoder{spans, stored<Query>(*launch, 0), stored<Stored>(*launch, 1),
                                stored<Stored>(*launch, 2), stored<Query>(*launch, 5),
                                floats(*launch, 6), N, H, D, G, ratio, window,
                                headScale(launch->scalars[0], D)};
  const int64_t groupMost = larger(1, QUERY_ROWS / ratio);
  Group* groups = scratchArray<Group>(*launch, N);
  const int64_t count = groupRows(spans, N, groupMost, window > 0, groups);
  const int64_t rowsMost = larger(groupMost * ratio, H);
  const int64_t spaceFloats = roundUp(DecodeSpace::floatsFor(rowsMost, D), LANES);
  float* spaces = scratchFloats(*launch, launch->runtime->threads * spaceFloats);
  double keys = 0;
  for (int64_t n = 0; n < N; n++) keys += (double)spans.keys(n);
  // A thread takes all heads of a group where there are enough groups: they lie side by side.
  const int64_t together = count >= 2 * launch->runtime->threads ? G : 1;
  parallelFor(*launch, count * G / together, keys * (double)(G * D) * 0.3,
              [&](int64_t item, int32_t worker) {
    const DecodeSpace space(spaces + worker * spaceFloats, rowsMost, D);
    const Group& group = groups[item * together / G];
    const int64_t first = item * together % G, end = first + together;
    // A row by itself goes through its cache once, with all heads: one stream, not one for each. Zen 5,
    // two cores, 8 rows of 3000 keys, 16 heads on 2 of 128, in turns: 1.31 ms against 1.45 to 1.56.
    const int64_t step = group.end - group.first == 1 ? together : 1;
    for (int64_t g = first; g < end; g += step) decoder.run(group, g, g + step, space);
  });
  return 0;
}

}  // namespace SACCADE_ISA
}  // namespace saccade
