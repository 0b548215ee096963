// The parameters of a launch of `attention`: dims, scalars, and the keys that a query sees.
#pragma once

#include "attend.h"

namespace saccade {
namespace SACCADE_ISA {

struct AttentionShape {
  int64_t T, H, D, G, S, P, ratio;
  float scale;
  bool causal;
  // Keys a query sees before its own; 0 for all.
  int64_t window;

  explicit AttentionShape(const SaccadeLaunch& launch)
      : T(launch.dims[0]), H(launch.dims[1]), D(launch.dims[2]), G(launch.dims[3]),
        S(launch.dims[4]), P(launch.dims[5]), ratio(G > 0 ? H / G : 0),
        scale(headScale(launch.scalars[0], D)), causal(launch.scalars[1] != 0),
        window((int64_t)launch.scalars[2]) {}

  int check(const SaccadeLaunch& launch) const {
    if (P != 3) {
      return fail(launch, "a segment has %lld numbers, expected start, end, parent. Pass [S, 3].",
                  (long long)P);
    }
    if (G < 1 || H < G || H % G != 0) {
      return fail(launch, "k has %lld heads, q has %lld; q's heads must be a multiple of k's.",
                  (long long)G, (long long)H);
    }
    if (D < 1) return fail(launch, "heads have no elements. Give them at least one.");
    if (T >= INT32_MAX) return fail(launch, "%lld tokens do not fit int32.", (long long)T);
    return checkWindow(launch, launch.scalars[2]);
  }

  // The part of the keys [key, key + count) that the token at `position` of its path sees.
  SACCADE_INLINE Sight sight(int64_t position, int64_t key, int64_t count) const {
    const int64_t to = causal ? smaller(count, larger(0, position + 1 - key)) : count;
    const int64_t from = window > 0 ? smaller(to, larger(0, position - window - key)) : 0;
    return {(int32_t)from, (int32_t)to};
  }
  // Runs body(row, token, head) for the rows of some tokens and key head g, which are numbered from
  // `row` on, and ahead(token, head) some turns before.
  template <class Ahead, class Body>
  SACCADE_INLINE void forRows(int64_t row, int64_t token, int64_t tokens, int64_t g,
                              const Ahead& ahead, const Body& body) const {
    constexpr int64_t TURNS = 6;
    for (int64_t t = token; t < token + tokens; t++) {
      for (int64_t h = g * ratio; h < (g + 1) * ratio; h++) {
        if (t + TURNS < token + tokens) ahead(t + TURNS, h);
        body(row++, t, h);
      }
    }
  }
  template <class Body>
  SACCADE_INLINE void forRows(int64_t row, int64_t token, int64_t tokens, int64_t g,
                              const Body& body) const {
    forRows(row, token, tokens, g, [](int64_t, int64_t) {}, body);
  }

  // The block that holds the first key it sees.
  int64_t firstPlace(int64_t position) const {
    return window > 0 ? larger(0, position - window) / KEYS : 0;
  }

  // Pairs of a query token and a key before it, or in its segment.
  double pairs(const Forest& forest) const {
    double total = 0;
    for (int64_t s = 0; s < S; s++) {
      const double own = (double)forest.length(s);
      total += own * ((double)forest.prefix[s] + (causal ? 0.5 * own : own));
    }
    return total;
  }
  // A guess for the decision to wake other threads.
  double nanoseconds(const Forest& forest) const {
    return pairs(forest) * (double)(H * D) * 4.0 / 60.0;
  }
};

}  // namespace SACCADE_ISA
}  // namespace saccade
