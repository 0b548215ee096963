// The slots of a cache that each row of a decode sees, and the rows that begin with the same slots:
// a group reads the keys that its rows have in common once.
//
// Rows are grouped as they come, in whole turns of keys, so that a row goes on by itself where a
// turn of its own would begin. What a row's result is does not depend on its group; how often a
// prompt is read does.
#pragma once

#include "copy-heads.cuh"

namespace saccade {

// Keys of a turn of a row's own walk.
constexpr int TURN = ATTEND_THREADS / 32 * PART;

struct Spans {
  const int32_t *spans, *offsets;
  int64_t rows, count, slots;
  int spansOperand, offsetsOperand;
  Refusal refusal;
};

// A row's spans and how many slots they have, of which those before `from` are outside the window.
struct RowSpans {
  const int32_t* first;
  int32_t count, keys, from;

  // The slot of logical key `i`.
  __device__ __forceinline__ int64_t slotOf(int32_t i) const {
    const int32_t* span = first;
    while (i >= span[1] - span[0]) {
      i -= span[1] - span[0];
      span += 2;
    }
    return span[0] + i;
  }
  // The span of logical key `i` as a run of keys.
  __device__ __forceinline__ KeyRun runAt(int32_t i) const {
    const int32_t* span = first;
    int32_t begin = 0;
    while (i - begin >= span[1] - span[0]) {
      begin += span[1] - span[0];
      span += 2;
    }
    return {begin + span[1] - span[0], span[0] - begin};
  }
};

// Reads and checks a row's spans; a row with one out of range sees nothing.
__device__ inline RowSpans readSpans(const Spans& spans, int64_t n, int32_t window) {
  const Refusal& refusal = spans.refusal;
  const int64_t first = spans.offsets[n], end = spans.offsets[n + 1];
  RowSpans row = {spans.spans, 0, 0, 0};
  bool isSound = expectIndex(refusal, spans.offsetsOperand, n, first, 0, spans.count + 1) == first;
  isSound = isSound &&
            expectIndex(refusal, spans.offsetsOperand, n + 1, end, first, spans.count + 1) == end;
  if (!isSound) return row;
  int64_t keys = 0;
  for (int64_t r = first; r < end; r++) {
    const int64_t from = spans.spans[2 * r], to = spans.spans[2 * r + 1];
    if (expectIndex(refusal, spans.spansOperand, 2 * r, from, 0, spans.slots + 1) != from ||
        expectIndex(refusal, spans.spansOperand, 2 * r + 1, to, from, spans.slots + 1) != to) {
      return row;
    }
    keys += to - from;
  }
  row.first = spans.spans + 2 * first;
  row.count = (int32_t)(end - first);
  row.keys = (int32_t)keys;
  row.from = window > 0 && keys > window + 1 ? (int32_t)(keys - window - 1) : 0;
  return row;
}

// How many logical keys at the start of two rows lie in the same slots, however their spans are
// cut.
__device__ inline int64_t commonKeys(const RowSpans& a, const RowSpans& b) {
  int64_t total = 0, usedA = 0, usedB = 0;
  for (int32_t i = 0, j = 0; i < a.count && j < b.count;) {
    const int64_t startA = a.first[2 * i], leftA = a.first[2 * i + 1] - startA - usedA;
    const int64_t startB = b.first[2 * j], leftB = b.first[2 * j + 1] - startB - usedB;
    const int64_t keys = leftA < leftB ? leftA : leftB;
    if (keys > 0 && startA + usedA != startB + usedB) break;
    total += keys;
    usedA += keys;
    usedB += keys;
    if (keys == leftA) i++, usedA = 0;
    if (keys == leftB) j++, usedB = 0;
  }
  return total;
}

// Rows [first, first + rows) that have their first `keys` keys in common, whole turns of them.
struct PrefixGroup {
  int32_t first, rows, keys;
};

// In device memory.
struct Prefixes {
  int32_t* count;
  // At most half as many as rows: each has two or more.
  PrefixGroup* groups;
  // By row, how many keys it meets with its group; 0: it is alone.
  int32_t* keys;
};

// Rows whose common keys are looked at together, one to a thread. Groups end with them.
constexpr int PREFIX_THREADS = 1024;

// What threads of the plan share.
struct PrefixPlan {
  // Turns that a row has in common with the one before it; one more for a look ahead.
  int32_t common[PREFIX_THREADS + 1];
  int32_t sums[PREFIX_THREADS / 32];
};

// Cuts rows i, i + 1, … into groups, up to the next that has nothing in common with the one before
// it, and calls close(group) for each.
template <class Close>
__device__ __forceinline__ void cutGroups(const PrefixPlan& plan, int i, int32_t firstRow,
                                          int32_t mostRows, const Close& close) {
  PrefixGroup group = {firstRow + i, 1, 0};
  for (i++; plan.common[i] > 0; i++) {
    const int32_t common = plan.common[i], known = group.keys / TURN;
    const int32_t turns = group.rows > 1 && known < common ? known : common;
    // A row with less in common would cost the others more than it saves; and one that has more in
    // common with the row behind it begins a group with that one.
    const bool isMember = group.rows < mostRows &&
                          (group.rows == 1 || 2 * turns * TURN >= group.keys) &&
                          2 * turns >= plan.common[i + 1];
    if (isMember) {
      group = {group.first, group.rows + 1, turns * TURN};
      continue;
    }
    close(group);
    group = {firstRow + i, 1, 0};
  }
  close(group);
}

static __global__ void __launch_bounds__(PREFIX_THREADS)
    planPrefixes(Spans spans, int32_t mostRows, Prefixes prefixes) {
  PrefixPlan& plan = *reinterpret_cast<PrefixPlan*>(sharedMemory());
  const int thread = (int)threadIdx.x, lane = laneOf(thread);
  int32_t count = 0;
  for (int64_t chunk = 0; chunk < spans.rows; chunk += PREFIX_THREADS) {
    const int64_t n = chunk + thread;
    int32_t common = 0;
    if (thread > 0 && n < spans.rows) {
      const RowSpans before = readSpans(spans, n - 1, 0), own = readSpans(spans, n, 0);
      common = (int32_t)(commonKeys(before, own) / TURN);
    }
    plan.common[thread] = common;
    if (thread == 0) plan.common[PREFIX_THREADS] = 0;
    if (n < spans.rows) prefixes.keys[n] = 0;
    syncBlock();
    // Rows that have nothing in common with the one before them are cut on their own.
    const bool isFirst = common == 0 && n < spans.rows;
    int32_t own = 0;
    if (isFirst) {
      cutGroups(plan, thread, (int32_t)chunk, mostRows,
                [&](const PrefixGroup& group) { own += group.rows > 1; });
    }
    int32_t place = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int32_t other = shuffleFrom(place, lane < step ? lane : lane - step);
      if (lane >= step) place += other;
    }
    if (lane == 31) plan.sums[thread / 32] = place;
    syncBlock();
    int32_t total = 0;
    place += count - own;
    for (int warp = 0; warp < PREFIX_THREADS / 32; warp++) {
      if (warp == thread / 32) place += total;
      total += plan.sums[warp];
    }
    if (isFirst && own > 0) {
      cutGroups(plan, thread, (int32_t)chunk, mostRows, [&](const PrefixGroup& group) {
        if (group.rows == 1) return;
        prefixes.groups[place++] = group;
        for (int32_t r = 0; r < group.rows; r++) prefixes.keys[group.first + r] = group.keys;
      });
    }
    count += total;
    syncBlock();
  }
  if (thread == 0) prefixes.count[0] = count;
}

// Queues the plan of groups of up to `mostRows` rows.
inline int planCommon(const SaccadeDeviceLaunch& launch, const Spans& spans, int32_t mostRows,
                      Prefixes* prefixes) {
  prefixes->count = scratchArray<int32_t>(launch, 1);
  prefixes->groups = scratchArray<PrefixGroup>(launch, spans.rows / 2);
  prefixes->keys = scratchArray<int32_t>(launch, spans.rows);
  if (!prefixes->count || !prefixes->groups || !prefixes->keys) return outOfScratch(launch);
  return launchKernel(launch, planPrefixes, dim3(1), dim3(PREFIX_THREADS),
                      sizeof(PrefixPlan), spans, mostRows, *prefixes);
}

}  // namespace saccade
