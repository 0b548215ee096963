// Attention of one new token per row over the key/value cache, each row over its own list of spans.
//
// Layout: q, out [N,H,D]; caches [C,G,D]; spans [R,2] of slots; row n has the spans from
// spanOffsets[n] to spanOffsets[n+1], in logical order. The inner step is that of training
// (common/attend.h), so a token's output has the same bits while sampling and while training.
// A thread owns a group of neighbouring rows. Rows whose spans begin alike (the members of a group
// share their prompt) meet the common blocks together: keys are packed once and the products have
// as many rows as the group has members × H/G. Each row meets its own keys where they lie
// (common/attend-few.h). Cascade Lake, 128 rows of 64 common and 32 own keys, H 4, G 2, D 32, caches
// not in L2: 0.46 ms on one thread against 0.56 with all keys packed and nothing prefetched.
#include "common/attend-few.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

struct Group {
  int64_t first;
  int64_t end;
  int64_t sharedBlocks;
};

struct Spans {
  const Run* runs;
  const int32_t* offsets;
  const Run* begin(int64_t n) const { return runs + offsets[n]; }
  const Run* end(int64_t n) const { return runs + offsets[n + 1]; }
  int64_t keys(int64_t n) const {
    int64_t total = 0;
    for (const Run* run = begin(n); run < end(n); run++) total += run->count;
    return total;
  }
  // Logical keys at the start of rows a and b that lie in the same slots.
  int64_t common(int64_t a, int64_t b) const {
    const Run *x = begin(a), *y = begin(b);
    int64_t usedX = 0, usedY = 0, total = 0;
    while (x < end(a) && y < end(b)) {
      const int64_t count = smaller(x->count - usedX, y->count - usedY);
      if (count > 0 && x->start + usedX != y->start + usedY) break;
      total += count;
      usedX += count;
      usedY += count;
      if (usedX == x->count) x++, usedX = 0;
      if (usedY == y->count) y++, usedY = 0;
    }
    return total;
  }
};

int readSpans(const SaccadeLaunch& launch, int64_t N, int64_t C, int64_t R, Run* runs) {
  const int32_t* spans = ints(launch, 3);
  const int32_t* offsets = ints(launch, 4);
  for (int64_t r = 0; r < R; r++) {
    const int64_t start = spans[2 * r], end = spans[2 * r + 1];
    if (start < 0 || end < start || end > C) {
      return fail(launch, "span %lld is [%lld, %lld), expected slots of a cache of %lld.",
                  (long long)r, (long long)start, (long long)end, (long long)C);
    }
    runs[r] = {start, end - start};
  }
  for (int64_t n = 0; n <= N; n++) {
    if (offsets[n] < (n > 0 ? offsets[n - 1] : 0) || offsets[n] > R) {
      return fail(launch, "spanOffsets[%lld] is %d; offsets must not fall and not pass %lld.",
                  (long long)n, (int)offsets[n], (long long)R);
    }
  }
  return 0;
}

int64_t groupRows(const Spans& spans, int64_t N, int64_t rowsMost, Group* groups) {
  int64_t count = 0;
  for (int64_t n = 0; n < N;) {
    Group group{n, n + 1, spans.keys(n) / KEYS};
    while (group.end < N && group.end - n < rowsMost) {
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

struct Decoder {
  const SaccadeLaunch& launch;
  const Spans spans;
  int64_t H, D, G, ratio;
  float scale;

  const float* key(int64_t slot, int64_t g) const {
    return floats(launch, 1) + (slot * G + g) * D;
  }
  const float* value(int64_t slot, int64_t g) const {
    return floats(launch, 2) + (slot * G + g) * D;
  }

  // The keys of row n behind those its group shares.
  KeyWalk ownKeys(const Group& group, int64_t n) const {
    KeyWalk walk{spans.begin(n), spans.end(n)};
    walk.skip(group.sharedBlocks * KEYS);
    return walk;
  }

  // The caches are larger than L2, and a row's keys are too few for the processor to foresee.
  void prefetch(KeyWalk walk) const {
    Run run;
    if (!walk.nextRun(KEYS, &run)) return;
    prefetchFloats(key(run.start, 0), run.count * G * D);
    prefetchFloats(value(run.start, 0), run.count * G * D);
  }

  void pack(KeyWalk& walk, int64_t g, KeyBlock* block) const {
    const float* k = floats(launch, 1);
    const float* v = floats(launch, 2);
    int64_t at[KEYS];
    block->count = walk.next(KEYS, at);
    packKeys(block->keys, k + g * D, G * D, at, block->count, D);
    packRows(block->values, v + g * D, G * D, at, block->count, D, paddedHead(D), 1.0f);
  }

  void run(const Group& group, int64_t g, AttendSpace space) const {
    const float* q = floats(launch, 0);
    float* out = floats(launch, 5);
    const int64_t padded = paddedHead(D);
    const int64_t rows = (group.end - group.first) * ratio;
    for (int64_t r = 0; r < rows; r++) {
      const int64_t head = (group.first + r / ratio) * H + g * ratio + r % ratio;
      packRows(space.queries + r * padded, q, D, &head, 1, D, padded, scale);
    }
    startRows(space.state, rows, padded);
    KeyWalk shared{spans.begin(group.first), spans.end(group.first)};
    for (int64_t b = 0; b < group.sharedBlocks; b++) {
      pack(shared, g, &space.block);
      fillLimits(space.limits, rows, 1, 0, KEYS, false);
      attendBlock(0, rows, space.queries, D, space.block, space.state, space.scores, space.limits);
    }
    const bool inPlace = ratio <= FEW_ROWS && canReadInPlace(D);
    for (int64_t n = group.first; n < group.end; n++) {
      const int64_t first = (n - group.first) * ratio;
      KeyWalk walk = ownKeys(group, n);
      if (inPlace && g == 0 && n + 1 < group.end) prefetch(ownKeys(group, n + 1));
      const RowState state = fromRow(space.state, first, padded);
      for (;;) {
        Run run;
        if (inPlace && walk.nextRun(KEYS, &run)) {
          fillLimits(space.limits, ratio, 1, 0, run.count, false);
          attendFew(ratio, space.queries + first * padded, D, key(run.start, g),
                    value(run.start, g), G * D, run.count, state, space.scores, space.limits);
          continue;
        }
        pack(walk, g, &space.block);
        const int64_t count = space.block.count;
        if (count == 0) break;
        fillLimits(space.limits, ratio, 1, 0, count, false);
        attendBlock(0, ratio, space.queries + first * padded, D, space.block, state, space.scores,
                    space.limits);
      }
      for (int64_t h = 0; h < ratio; h++) {
        finishRow(out + (n * H + g * ratio + h) * D, state, h, D);
      }
    }
  }
};

int forward(const SaccadeLaunch* launch) {
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
  Run* runs = scratchArray<Run>(*launch, R);
  if (readSpans(*launch, N, C, R, runs)) return 1;
  const int64_t ratio = H / G;
  const Decoder decoder{*launch, {runs, ints(*launch, 4)}, H, D, G, ratio,
                        headScale(launch->scalars[0], D)};
  const int64_t groupMost = larger(1, QUERY_ROWS / ratio);
  Group* groups = scratchArray<Group>(*launch, N);
  const int64_t count = groupRows(decoder.spans, N, groupMost, groups);
  const int64_t spaceFloats = roundUp(AttendSpace::floatsFor(groupMost * ratio, D), LANES);
  float* spaces = scratchFloats(*launch, launch->runtime->threads * spaceFloats);
  double keys = 0;
  for (int64_t n = 0; n < N; n++) keys += (double)decoder.spans.keys(n);
  // A thread takes all heads of a group where there are enough groups: they lie side by side.
  const int64_t together = count >= 2 * launch->runtime->threads ? G : 1;
  parallelFor(*launch, count * G / together, keys * (double)(G * D) * 0.3,
              [&](int64_t item, int32_t worker) {
    const AttendSpace space(spaces + worker * spaceFloats, groupMost * ratio, D);
    for (int64_t i = item * together; i < (item + 1) * together; i++) {
      decoder.run(groups[i / G], i % G, space);
    }
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(attentionDecode,
               "q[N,H,D] kCache[C,G,D] vCache[C,G,D] spans[R,U2]# spanOffsets[O]# -> out[N,H,D] ; "
               "scale",
               SACCADE_FLOAT32(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
