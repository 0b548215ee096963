// Tiles of a step of keys and values, on their way from copying warps to warpgroups: two of each.
#pragma once

#include "attend-step.cuh"
#include "copy-heads.cuh"
#include "turnstile.cuh"
#include "warpgroup.cuh"

namespace saccade {

// Warps that share a tile; as many copy values as copy keys.
constexpr int COPIERS = 2;
constexpr int COPIED_ROWS = STEP / COPIERS;
constexpr int COPYING_THREADS = 2 * COPIERS * 32;

struct StepTurnstiles {
  Turnstile keysFull[2], keysEmpty[2], valuesFull[2], valuesEmpty[2];
};
// By one thread. `groups` warpgroups read every tile.
__device__ inline void openStepTurnstiles(StepTurnstiles* turnstiles, int groups) {
  for (int i = 0; i < 2; i++) {
    openTurnstile(turnstiles->keysFull + i, 32 * COPIERS);
    openTurnstile(turnstiles->valuesFull + i, 32 * COPIERS);
    openTurnstile(turnstiles->keysEmpty + i, 4 * groups);
    openTurnstile(turnstiles->valuesEmpty + i, 4 * groups);
  }
}

// Who makes tiles visible to products: the warps that copy, when their copies have landed, which
// costs warpgroups nothing; or the readers, so that the landing itself opens the turnstile and no
// copy waits for another, which pays where memory is the bound.
enum class Publisher { copiers, readers };

// Copies steps [from, to) for the warpgroups, as one of COPYING_THREADS threads; keys before `keys`
// are there. runAt and rowAt as in copyKeys.
template <class T, int HEAD, Publisher PUBLISHER, class RunAt, class RowAt>
__device__ __forceinline__ void produceSteps(uint8_t* keyTiles, uint8_t* valueTiles,
                                             StepTurnstiles* turnstiles, const Matrix<T>& k,
                                             const Matrix<T>& v, int32_t heads, int32_t head,
                                             int32_t from, int32_t to, int32_t keys, int thread,
                                             const RunAt& runAt, const RowAt& rowAt) {
  const int warp = thread / 32;
  const bool isForKeys = warp < COPIERS;
  uint8_t* tiles = isForKeys ? keyTiles : valueTiles;
  Turnstile* full = isForKeys ? turnstiles->keysFull : turnstiles->valuesFull;
  Turnstile* empty = isForKeys ? turnstiles->keysEmpty : turnstiles->valuesEmpty;
  const HeadCopier<T, HEAD, STEP, COPIED_ROWS> copier = {
      {isForKeys ? k : v, heads, head}, warp % COPIERS * COPIED_ROWS, laneOf(thread)};
  KeyRun run = {0, 0};
  // A tile that copiers publish is announced when the next one's copies have begun, so that two are
  // under way, or before, if there is no room for the next.
  int32_t open = -1;
  const auto announce = [&] {
    publishPanels();
    arrive(full + (open & 1));
    open = -1;
  };
#pragma unroll 1
  for (int32_t step = from; step < to; step++) {
    const int32_t turn = step - from, stage = turn & 1;
    if (turn >= 2) {
      const int parity = turn / 2 + 1 & 1;
      if (open >= 0 && !isTurnstileOpen(empty + stage, parity)) {
        waitCopies<0>();
        announce();
      }
      passTurnstile(empty + stage, parity);
      syncWarp();
    }
    copier.copyKeys(tiles + stage * HEAD_TILE_BYTES<T, STEP, HEAD>, step * STEP, 0, keys, run,
                    runAt, rowAt);
    if (PUBLISHER == Publisher::readers && copier.column.matrix.isAligned) {
      arriveWithCopies(full + stage);
      continue;
    }
    commitCopies();
    if (open >= 0) {
      waitCopies<1>();
      announce();
    }
    open = turn;
  }
  waitCopies<0>();
  if (open >= 0) announce();
}

template <Publisher PUBLISHER>
__device__ __forceinline__ void awaitTile(Turnstile* full, int32_t turn) {
  passTurnstile(full + (turn & 1), turn / 2 & 1);
  if (PUBLISHER == Publisher::readers) publishPanels();
}
__device__ __forceinline__ void releaseTile(Turnstile* empty, int32_t turn, int lane) {
  syncWarp();
  if (lane == 0) arrive(empty + (turn & 1));
}

// A warpgroup's 64 rows of one head and their sums.
template <class T, int HEAD>
struct StepRows {
  float sums[HEAD / 8][4], scores[STEP / 8][4];
  Fragment<T> weights[STEP / GROUP_DEPTH];
  // Of the thread's rows g and g + 8 of its warp's.
  RowSum totals[2];
  float keep[2];
  // In panels of LEFT_ROWS rows.
  GroupOperand queries;
  float unit;

  __device__ __forceinline__ void begin(const uint8_t* first, float scale) {
    queries = operandAlong(first, 0, 0);
    unit = scale * LOG2_E;
#pragma unroll
    for (int half = 0; half < 2; half++) totals[half] = {NOTHING, 0.0f};
#pragma unroll
    for (int j = 0; j < HEAD / 8; j++) {
#pragma unroll
      for (int i = 0; i < 4; i++) sums[j][i] = 0.0f;
    }
  }
  // Begins scores = queries · the keys of a tile.
  template <int LEFT_ROWS>
  __device__ __forceinline__ void beginScores(const GroupOperand& keys) {
    beginProducts();
#pragma unroll
    for (int i = 0; i < HEAD / GROUP_DEPTH; i++) {
      const GroupOperand left =
          operandAhead<Lie::along>(queries, i / 4 * LEFT_ROWS * PANEL_BYTES, i % 4);
      const GroupOperand right =
          operandAhead<Lie::along>(keys, i / 4 * STEP * PANEL_BYTES, i % 4);
      if (i == 0) multiplyPanels<T, Lie::along, Lie::along, false>(scores, left, right);
      else multiplyPanels<T, Lie::along, Lie::along>(scores, left, right);
    }
    commitProducts();
  }
  // Begins sums += weights · the values of a tile.
  __device__ __forceinline__ void beginSums(const GroupOperand& values) {
    beginProducts();
#pragma unroll
    for (int i = 0; i < STEP / GROUP_DEPTH; i++) {
      multiplyHeld<T, Lie::across>(sums, weights[i], operandAhead<Lie::across>(values, 0, i));
    }
    commitProducts();
  }
  __device__ __forceinline__ void takeWeights() {
#pragma unroll
    for (int i = 0; i < STEP / GROUP_DEPTH; i++) chain<T>(weights[i], &scores[2 * i]);
  }

  // Walks steps [from, from + turns); hide(scores, step) takes away what is not seen. A step's
  // scores are multiplied, and become weights, while the values of the step before are.
  template <int LEFT_ROWS, Publisher PUBLISHER, class Hide>
  __device__ __forceinline__ void walk(StepTurnstiles* turnstiles, const uint8_t* keyTiles,
                                       const uint8_t* valueTiles, int32_t from, int32_t turns,
                                       int lane, const Hide& hide) {
    constexpr int TILE_BYTES = HEAD_TILE_BYTES<T, STEP, HEAD>;
    const GroupOperand keys = operandAlong(keyTiles, 0, 0);
    const GroupOperand values = operandAcross(valueTiles, 0, STEP * PANEL_BYTES);
    const auto weigh = [&](int32_t step) {
      hide(scores, step);
#pragma unroll
      for (int half = 0; half < 2; half++) {
        keep[half] = weighStep(scores, half, unit, &totals[half]);
      }
    };
    awaitTile<PUBLISHER>(turnstiles->keysFull, 0);
    beginScores<LEFT_ROWS>(keys);
    waitProducts<0>();
    holdSums(scores);
    releaseTile(turnstiles->keysEmpty, 0, lane);
    weigh(from);
    takeWeights();
#pragma unroll 1
    for (int32_t turn = 1; turn < turns; turn++) {
      awaitTile<PUBLISHER>(turnstiles->keysFull, turn);
      beginScores<LEFT_ROWS>(operandAhead<Lie::along>(keys, (turn & 1) * TILE_BYTES, 0));
      awaitTile<PUBLISHER>(turnstiles->valuesFull, turn - 1);
      beginSums(operandAhead<Lie::across>(values, (turn - 1 & 1) * TILE_BYTES, 0));
      waitProducts<1>();
      holdSums(scores);
      releaseTile(turnstiles->keysEmpty, turn, lane);
      weigh(from + turn);
      waitProducts<0>();
      holdSums(sums);
      releaseTile(turnstiles->valuesEmpty, turn - 1, lane);
#pragma unroll
      for (int j = 0; j < HEAD / 8; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) sums[j][i] *= keep[i / 2];
      }
      takeWeights();
    }
    awaitTile<PUBLISHER>(turnstiles->valuesFull, turns - 1);
    beginSums(operandAhead<Lie::across>(values, (turns - 1 & 1) * TILE_BYTES, 0));
    waitProducts<0>();
    holdSums(sums);
  }
};

}  // namespace saccade
