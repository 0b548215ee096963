// parts/attend-prefix.cuh on a warpgroup (Hopper, 16-bit types): the 64 rows of a group and key
// head are one product, their keys in steps of 128 as in the forward.
#pragma once

#include "attend-prefix.cuh"
#include "step-tiles.cuh"

namespace saccade {

constexpr int PREFIX_STEP_THREADS = WARPGROUP + COPYING_THREADS;
static_assert(PREFIX_ROWS == GROUP_ROWS && TURN == STEP, "a group is a product, a turn a step");

struct PrefixStepPlan {
  RowSpans row;
  StepTurnstiles turnstiles;
};
template <class T, int HEAD>
constexpr size_t PREFIX_STEP_SHARED = HEAD_TILE_BYTES<T, GROUP_ROWS, HEAD> +
                                      4 * HEAD_TILE_BYTES<T, STEP, HEAD> + sizeof(PrefixStepPlan);

template <class T, int HEAD>
__global__ void __launch_bounds__(PREFIX_STEP_THREADS, 1)
    attendPrefixSteps(Matrix<T> q, Matrix<T> k, Matrix<T> v, Spans spans, Prefixes prefixes,
                      AttentionShape shape, ChainStates states) {
  if constexpr (!HAS_WARPGROUPS) return;
  if ((int32_t)blockIdx.x >= prefixes.count[0]) return;
  const PrefixGroup group = prefixes.groups[blockIdx.x];
  const int32_t keyHead = (int32_t)blockIdx.y, rows = group.rows * shape.ratio;
  const int thread = (int)threadIdx.x, lane = laneOf(thread), warpRow = thread / 32 * 16;
  uint8_t* queries = sharedMemory();
  uint8_t* keys = queries + HEAD_TILE_BYTES<T, GROUP_ROWS, HEAD>;
  uint8_t* values = keys + 2 * HEAD_TILE_BYTES<T, STEP, HEAD>;
  PrefixStepPlan& plan = *reinterpret_cast<PrefixStepPlan*>(
      values + 2 * HEAD_TILE_BYTES<T, STEP, HEAD>);
  if (thread == 0) {
    plan.row = readSpans(spans, group.first, 0);
    openStepTurnstiles(&plan.turnstiles, 1);
  }
  syncBlock();
  const int32_t steps = group.keys / STEP;
  if (thread >= WARPGROUP) {
    const RowSpans row = plan.row;
    produceSteps<T, HEAD, Publisher::readers>(
        keys, values, &plan.turnstiles, k, v, shape.G, keyHead, 0, steps, group.keys,
        thread % WARPGROUP, [&](int32_t key) { return row.runAt(key); },
        [&](int32_t key) { return (int32_t)row.slotOf(key); });
    return;
  }

  const auto headAt = [&](int r) -> int64_t {
    if (r >= rows) return -1;
    return (int64_t)(group.first + r / shape.ratio) * shape.H + keyHead * shape.ratio +
           r % shape.ratio;
  };
  stageHeads<T, GROUP_ROWS, HEAD, WARPGROUP>(queries, q, thread, headAt);
  commitCopies();
  waitCopies<0>();
  publishPanels();
  syncSome(1, WARPGROUP);
  StepRows<T, HEAD> own;
  own.begin(queries, shape.scale);
  own.template walk<GROUP_ROWS, Publisher::readers>(&plan.turnstiles, keys, values, 0, steps, lane,
                                                    [](float(&)[STEP / 8][4], int32_t) {});
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int64_t at = headAt(warpRow + lane / 4 + 8 * half);
    if (at < 0) continue;
    states.totals[4 * at + lane % 4] = own.totals[half].total;
    if (lane % 4 == 0) states.largest[at] = own.totals[half].largest;
#pragma unroll
    for (int j = 0; j < HEAD / 8; j++) {
      storeTwo(states.sums + at * HEAD + 8 * j + lane % 4 * 2, own.sums[j][2 * half],
               own.sums[j][2 * half + 1]);
    }
  }
}

template <class T, int HEAD>
int launchPrefixSteps(const SaccadeDeviceLaunch& launch, dim3 grid, const Matrix<T>& q,
                      const Matrix<T>& k, const Matrix<T>& v, const Spans& spans,
                      const Prefixes& prefixes, const AttentionShape& shape,
                      const ChainStates& states) {
  if constexpr (sizeof(T) == 2) {
    return launchKernel(launch, attendPrefixSteps<T, HEAD>, grid, dim3(PREFIX_STEP_THREADS),
                        PREFIX_STEP_SHARED<T, HEAD>, q, k, v, spans, prefixes, shape, states);
  }
  return fail(launch, "float32 has no products of warpgroups.");
}

}  // namespace saccade
