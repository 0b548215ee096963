// Loops over flat arrays: a thread owns a run of 4096 elements.
#pragma once

#include "kernel-entry.h"

namespace saccade {
namespace SACCADE_ISA {

// Runs body(offset, width) over [0, count) in vectors, on all threads.
template <class Body>
static inline void forElements(const SaccadeLaunch& launch, int64_t count,
                               double nanosecondsEach, const Body& body) {
  constexpr int64_t RUN = 4096;
  parallelFor(launch, divideUp(count, RUN), nanosecondsEach * (double)count,
              [&](int64_t run, int32_t) {
                const int64_t first = run * RUN;
                forLanes(smaller(RUN, count - first),
                         [&](int64_t i, int64_t width) { body(first + i, width); });
              });
}

template <class Stored>
static inline void zero(Stored* values, int64_t count) {
  if (values) memset(values, 0, (size_t)count * sizeof(Stored));
}

}  // namespace SACCADE_ISA
}  // namespace saccade
