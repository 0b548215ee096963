// The cache slots each row of a decode sees: spans of slots, in logical order.
#pragma once

#include "key-blocks.h"

namespace saccade {
namespace SACCADE_ISA {

// Slots [start, start + count).
struct Run {
  int64_t start;
  int64_t count;
};

// Walks logical keys and says where each lies.
struct KeyWalk {
  const Run* run;
  const Run* end;
  int64_t used = 0;

  // Passes over the next `count` keys.
  void skip(int64_t count) {
    while (count > 0 && run < end) count -= take(count);
  }

  // Fills `at` with the slots of the next `wanted` keys; returns how many there were.
  int64_t next(int64_t wanted, int64_t* at) {
    int64_t found = 0;
    while (found < wanted && run < end) {
      const int64_t start = run->start + used;
      const int64_t count = take(wanted - found);
      for (int64_t i = 0; i < count; i++) at[found + i] = start + i;
      found += count;
    }
    return found;
  }

  // Passes over up to `most` keys of the current run; returns how many.
  int64_t take(int64_t most) {
    const int64_t count = smaller(most, run->count - used);
    used += count;
    if (used == run->count) {
      run++;
      used = 0;
    }
    return count;
  }
};

struct Spans {
  const Run* runs;
  const int32_t* offsets;

  const Run* begin(int64_t n) const { return runs + offsets[n]; }
  const Run* end(int64_t n) const { return runs + offsets[n + 1]; }
  KeyWalk walk(int64_t n) const { return {begin(n), end(n)}; }
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

// Checks spans [R,2] of C slots and the places where those of N rows begin.
static inline int readSpans(const SaccadeLaunch& launch, const int32_t* spans,
                            const int32_t* offsets, int64_t N, int64_t C, int64_t R,
                            Spans* out) {
  Run* runs = scratchArray<Run>(launch, R);
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
  *out = {runs, offsets};
  return 0;
}

}  // namespace SACCADE_ISA
}  // namespace saccade
