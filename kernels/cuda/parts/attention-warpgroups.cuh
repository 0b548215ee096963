// Attention's forward on warpgroups (Hopper, 16-bit types).
//
// A block owns 128 rows of one segment and key head. Two warpgroups have 64 of them each, with
// their sums in registers; a third one's warps copy keys and values for both, two steps ahead.
#pragma once

#include "step-tiles.cuh"

namespace saccade {

constexpr int GROUPS = 2;
constexpr int STEP_ROWS = GROUPS * GROUP_ROWS;
constexpr int STEP_THREADS = GROUPS * WARPGROUP + COPYING_THREADS;
// Registers of a thread that multiplies and of one that copies.
constexpr int MULTIPLYING_REGISTERS = 208;
constexpr int COPYING_REGISTERS = 88;
// A block that asks for more than it began with waits for ever.
static_assert(GROUPS * MULTIPLYING_REGISTERS + COPYING_REGISTERS <= (GROUPS + 1) * 168,
              "registers are handed over, not made");

struct StepPlan {
  RowTile rows;
  // The steps of logical keys that some rows see, [from, to), of `keys` keys; those in
  // [full, fullEnd) every row sees whole.
  int32_t from, to, keys, full, fullEnd;
  StepTurnstiles turnstiles;
};
template <class T, int HEAD>
constexpr size_t STEP_SHARED = HEAD_TILE_BYTES<T, STEP_ROWS, HEAD> +
                               4 * HEAD_TILE_BYTES<T, STEP, HEAD> + sizeof(StepPlan);

// By one thread.
__device__ inline void planSteps(const Forest& forest, const AttentionShape& shape, StepPlan* plan) {
  findRowTile(forest, shape, STEP_ROWS, &plan->rows);
  const RowTile& tile = plan->rows;
  const int32_t end = tile.first + STEP_ROWS < tile.rows ? tile.first + STEP_ROWS : tile.rows;
  const int32_t first = tile.positionOf(tile.first, shape.ratio);
  const int32_t last = tile.positionOf(end - 1, shape.ratio);
  const int32_t path = tile.segment.before + tile.segment.end - tile.segment.start;
  const int32_t keys = shape.isCausal ? last + 1 : path;
  plan->keys = keys;
  plan->from = plan->full = 0;
  plan->to = (keys + STEP - 1) / STEP;
  plan->fullEnd = (shape.isCausal ? first + 1 : path) / STEP;
  if (shape.window > 0) {
    if (first > shape.window) plan->from = (first - shape.window) / STEP;
    if (last > shape.window) plan->full = (last - shape.window + STEP - 1) / STEP;
  }
  openStepTurnstiles(&plan->turnstiles, GROUPS);
}

__device__ __forceinline__ KeyRun runOnPath(const Forest& forest, const Segment& last,
                                            int32_t position) {
  if (position >= last.before) {
    return {last.before + last.end - last.start, last.start - last.before};
  }
  int32_t end = last.before, s = last.parent;
  while (forest.segments[s].before > position) {
    end = forest.segments[s].before;
    s = forest.segments[s].parent;
  }
  return {end, forest.segments[s].start - forest.segments[s].before};
}

// The keys a row sees: [from, to).
struct Sight {
  int32_t from, to;
};
__device__ __forceinline__ void hideUnseen(float (&scores)[STEP / 8][4], int half, int32_t first,
                                           const Sight& sight) {
  const int32_t from = sight.from - first, to = sight.to - first;
#pragma unroll
  for (int j = 0; j < STEP / 8; j++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      if (8 * j + p < from || 8 * j + p >= to) scores[j][2 * half + p] = NOTHING;
    }
  }
}

template <class T, int HEAD>
__global__ void __launch_bounds__(STEP_THREADS, 1)
    attendForwardSteps(Matrix<T> q, Matrix<T> k, Matrix<T> v, Forest forest, AttentionShape shape,
                       T* out, float* lse) {
  if constexpr (!HAS_WARPGROUPS) return;
  constexpr int TILE_BYTES = HEAD_TILE_BYTES<T, STEP, HEAD>;
  constexpr int ROW_CHUNKS = HEAD / CHUNK<T>;
  if ((int32_t)blockIdx.x >= forest.tiles[0]) return;
  const int thread = (int)threadIdx.x, lane = laneOf(thread);
  uint8_t* queries = sharedMemory();
  uint8_t* keys = queries + HEAD_TILE_BYTES<T, STEP_ROWS, HEAD>;
  uint8_t* values = keys + 2 * TILE_BYTES;
  StepPlan& plan = *reinterpret_cast<StepPlan*>(values + 2 * TILE_BYTES);
  if (thread == 0) planSteps(forest, shape, &plan);
  syncBlock();
  const RowTile& rows = plan.rows;
  if (thread >= GROUPS * WARPGROUP) {
    giveRegisters<COPYING_REGISTERS>();
    produceSteps<T, HEAD, Publisher::copiers>(
        keys, values, &plan.turnstiles, k, v, shape.G, rows.keyHead, plan.from, plan.to, plan.keys,
        thread % WARPGROUP,
        [&](int32_t key) { return runOnPath(forest, rows.segment, key); },
        [&](int32_t key) { return tokenOnPath(forest, rows.segment, key); });
    return;
  }

  takeRegisters<MULTIPLYING_REGISTERS>();
  const int group = thread / WARPGROUP, groupRow = group * GROUP_ROWS;
  const int warpRow = thread / 32 * 16;
#pragma unroll 1
  for (int i = 0; i < GROUP_ROWS * 8 / WARPGROUP; i++) {
    const int r = groupRow + thread % WARPGROUP / 8 + i * (WARPGROUP / 8);
    const int64_t row = rows.headOf(rows.first + r, shape);
#pragma unroll
    for (int panel = 0; panel < HEAD_PANELS<T, HEAD>; panel++) {
      stageChunk<T>(queries + panel * STEP_ROWS * PANEL_BYTES + chunkOffset(r, thread % 8), q, row,
                    panel * PANEL<T> + thread % 8 * CHUNK<T>);
    }
  }
  commitCopies();
  const int32_t full = plan.full, fullEnd = plan.fullEnd;
  Sight sights[2];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int32_t position =
        rows.positionOf(rows.first + warpRow + lane / 4 + 8 * half, shape.ratio);
    sights[half] = {shape.window > 0 ? position - shape.window : 0,
                    shape.isCausal && position + 1 < plan.keys ? position + 1 : plan.keys};
  }
  waitCopies<0>();
  publishPanels();
  syncSome(1 + group, WARPGROUP);

  StepRows<T, HEAD> own;
  own.begin(queries + groupRow * PANEL_BYTES, shape.scale);
  own.template walk<STEP_ROWS, Publisher::copiers>(
      &plan.turnstiles, keys, values, plan.from, plan.to - plan.from, lane,
      [&](float(&scores)[STEP / 8][4], int32_t step) {
        if (step >= full && step < fullEnd) return;
#pragma unroll
        for (int half = 0; half < 2; half++) {
          hideUnseen(scores, half, step * STEP + lane % 4 * 2, sights[half]);
        }
      });

  // Results take the place of the warp's own queries, to be stored in whole chunks.
  syncSome(1 + group, WARPGROUP);
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int r = warpRow + lane / 4 + 8 * half;
    const float sum = sumQuad(own.totals[half].total);
    const float share = sum > 0.0f ? 1.0f / sum : 0.0f;
    const int64_t at = rows.headOf(rows.first + r, shape);
    if (at >= 0 && lane % 4 == 0) {
      lse[at % shape.H * shape.T + at / shape.H] = logSumOf(own.totals[half], own.unit, sum);
    }
#pragma unroll
    for (int j = 0; j < HEAD / 8; j++) {
      storeTwo(reinterpret_cast<T*>(queries + j / 8 * STEP_ROWS * PANEL_BYTES +
                                    chunkOffset(r, j % 8) + lane % 4 * 4),
               own.sums[j][2 * half] * share, own.sums[j][2 * half + 1] * share);
    }
  }
  syncWarp();
  const bool isWhole = shape.D % CHUNK<T> == 0 && reinterpret_cast<uint64_t>(out) % 16 == 0;
#pragma unroll 1
  for (int i = lane; i < 16 * ROW_CHUNKS; i += 32) {
    const int r = warpRow + i / ROW_CHUNKS, chunk = i % ROW_CHUNKS;
    const int64_t at = rows.headOf(rows.first + r, shape);
    const int32_t width = shape.D - chunk * CHUNK<T>;
    if (at < 0 || width <= 0) continue;
    const uint8_t* from = queries + chunk / 8 * STEP_ROWS * PANEL_BYTES + chunkOffset(r, chunk % 8);
    T* to = out + at * shape.D + chunk * CHUNK<T>;
    if (isWhole) {
      uint32_t words[4];
      loadWords(words, from);
      storeWords(to, words);
      continue;
    }
    for (int e = 0; e < CHUNK<T> && e < width; e++) to[e] = reinterpret_cast<const T*>(from)[e];
  }
}

}  // namespace saccade
