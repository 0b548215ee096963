// The attention mask: a key k is seen by the tokens k ≤ q < kvEnd[k] (causal), where kvEnd is
// the end of the subtree of k's segment. Segments [S,3] hold start, end and parent or −1 and tile
// the tokens in depth-first pre-order; a segment's logical keys are its ancestors' from the root
// down, then its own.
#pragma once

#include "kernel-entry.h"

namespace saccade {
namespace SACCADE_ISA {

struct Forest {
  int64_t count;
  const int32_t* rows;
  // Keys before each segment's own, on its path.
  const int64_t* prefix;
  int64_t longest;

  int64_t start(int64_t s) const { return rows[3 * s]; }
  int64_t end(int64_t s) const { return rows[3 * s + 1]; }
  int64_t parent(int64_t s) const { return rows[3 * s + 2]; }
  int64_t length(int64_t s) const { return end(s) - start(s); }
};

// Checks that the segments tile [0, tokens) in depth-first pre-order and measures their paths.
static inline int readForest(const SaccadeLaunch& launch, const int32_t* rows, int64_t count,
                             int64_t tokens, Forest* forest) {
  int64_t* prefix = scratchArray<int64_t>(launch, count);
  int64_t expected = 0, longest = 0;
  for (int64_t s = 0; s < count; s++) {
    const int64_t start = rows[3 * s], end = rows[3 * s + 1], parent = rows[3 * s + 2];
    if (start != expected || end < start || end > tokens) {
      return fail(launch, "segment %lld spans [%lld, %lld), expected a start of %lld and an end "
                  "within %lld tokens. Segments must tile the tokens in order.", (long long)s,
                  (long long)start, (long long)end, (long long)expected, (long long)tokens);
    }
    int64_t ancestor = s - 1;
    while (ancestor >= 0 && ancestor != parent) ancestor = rows[3 * ancestor + 2];
    if (parent < -1 || parent != ancestor) {
      return fail(launch, "segment %lld has parent %lld, which is not on the path to the segment "
                  "before it. List segments in depth-first pre-order.", (long long)s,
                  (long long)parent);
    }
    prefix[s] = parent < 0 ? 0 : prefix[parent] + rows[3 * parent + 1] - rows[3 * parent];
    longest = larger(longest, end - start);
    expected = end;
  }
  if (expected != tokens) {
    return fail(launch, "segments end at %lld of %lld tokens. Segments must tile all tokens.",
                (long long)expected, (long long)tokens);
  }
  *forest = {count, rows, prefix, longest};
  return 0;
}

}  // namespace SACCADE_ISA
}  // namespace saccade
