// The keys that the rows of a group have in common, met by all of them together: the first part of
// each row's chain of sums, kept where the row goes on with its own keys.
//
// A block owns the 64 rows (member, query head) of one group and key head, a warp 16 of them with
// their sums in registers, and walks the keys 64 at a time as attention's forward does. A row's
// sums, its largest score and what each of its four lanes has added up are stored as they stand, in
// float32: to go on from there is the same chain as to walk all keys alone, bit for bit. Two
// finished results merged by their log-sum-exp would not be.
#pragma once

#include "cache-spans.cuh"

namespace saccade {

constexpr int PREFIX_ROWS = ATTEND_THREADS / 32 * 16;

// By (row, query head).
struct ChainStates {
  // [HEAD] each.
  float* sums;
  // By lane of the four.
  float* totals;
  float* largest;
};

template <class T, int HEAD>
constexpr size_t PREFIX_SHARED = (1 + 2 * STAGES<T>) * HEAD_TILE_BYTES<T, PREFIX_ROWS, HEAD> +
                                 sizeof(RowSpans);

template <class T, int HEAD>
__global__ void __launch_bounds__(ATTEND_THREADS, 2)
    attendPrefix(Matrix<T> q, Matrix<T> k, Matrix<T> v, Spans spans, Prefixes prefixes,
                 AttentionShape shape, ChainStates states) {
  static_assert(PREFIX_ROWS == KEYS && TURN % KEYS == 0, "tiles are of one size");
  constexpr int TILE_BYTES = HEAD_TILE_BYTES<T, KEYS, HEAD>;
  if ((int32_t)blockIdx.x >= prefixes.count[0]) return;
  const PrefixGroup group = prefixes.groups[blockIdx.x];
  const int32_t keyHead = (int32_t)blockIdx.y, rows = group.rows * shape.ratio;
  const int thread = (int)threadIdx.x, lane = laneOf(thread), warpRow = thread / 32 * 16;
  uint8_t* queries = sharedMemory();
  uint8_t* tiles = queries + TILE_BYTES;
  RowSpans& row = *reinterpret_cast<RowSpans*>(tiles + 2 * STAGES<T> * TILE_BYTES);
  if (thread == 0) row = readSpans(spans, group.first, 0);
  const auto headAt = [&](int r) -> int64_t {
    if (r >= rows) return -1;
    return (int64_t)(group.first + r / shape.ratio) * shape.H + keyHead * shape.ratio +
           r % shape.ratio;
  };
  stageHeads<T, PREFIX_ROWS, HEAD>(queries, q, thread, headAt);
  syncBlock();

  KeyRun run = {0, 0};
  float sums[HEAD / 8][4] = {};
  RowSum totals[2] = {{UNSEEN, 0.0f}, {UNSEEN, 0.0f}};
  forTiles<T>(
      0, group.keys / KEYS,
      [&](int32_t block, int stage) {
        // Two warps copy keys and two values.
        uint8_t* at = tiles + 2 * stage * TILE_BYTES + (thread < 64 ? 0 : TILE_BYTES);
        const HeadCopier<T, HEAD, KEYS, 32> copier = {
            {thread < 64 ? k : v, shape.G, keyHead}, thread / 32 % 2 * 32, lane};
        copier.copyKeys(at, block * KEYS, 0, group.keys, run,
                        [&](int32_t key) { return row.runAt(key); },
                        [&](int32_t key) { return (int32_t)row.slotOf(key); });
      },
      [&](int32_t, int stage) {
        // Warps without rows only copy.
        if (warpRow >= rows) return;
        const uint8_t* keys = tiles + 2 * stage * TILE_BYTES;
#pragma unroll 1
        for (int part = 0; part < KEYS; part += PART) {
          float scores[PART / 8][4] = {};
          multiplyHeads<T, HEAD, PREFIX_ROWS>(scores, queries, warpRow, keys, part, lane);
#pragma unroll
          for (int half = 0; half < 2; half++) {
            const float most = scaleScores(scores, half, shape.scale, [](int) { return true; });
            RowSum& total = totals[half];
            const float sum = weighScores(scores, half, shiftOf(fmaxf(total.largest, most)));
            const float keep = join(&total, most, sum);
#pragma unroll
            for (int j = 0; j < HEAD / 8; j++) {
              sums[j][2 * half] *= keep;
              sums[j][2 * half + 1] *= keep;
            }
          }
          addWeighted<T>(sums, scores, keys + TILE_BYTES, part, 0, lane);
        }
      });
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int64_t at = headAt(warpRow + lane / 4 + 8 * half);
    if (at < 0) continue;
    states.totals[4 * at + lane % 4] = totals[half].total;
    if (lane % 4 == 0) states.largest[at] = totals[half].largest;
#pragma unroll
    for (int j = 0; j < HEAD / 8; j++) {
#pragma unroll
      for (int p = 0; p < 2; p++) {
        states.sums[at * HEAD + 8 * j + lane % 4 * 2 + p] = sums[j][2 * half + p];
      }
    }
  }
}

}  // namespace saccade
