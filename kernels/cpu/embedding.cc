// yₙ = table[idₙ], or extra[idₙ − V] beyond the table; the backward adds rows up in order of n.
//
// Layout: rows of D elements; dTable float32. Forward: a thread owns runs of 64 rows. Backward: a thread owns a strip
// of columns and walks all rows, so sums have one order and need no atomics.
#include "parts/rows.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// dims: V, D, E, N. Without `extra`, E counts for nothing.
int checkIds(const SaccadeLaunch& launch, const int32_t* ids, bool hasExtra) {
  const int64_t bound = launch.dims[0] + (hasExtra ? launch.dims[2] : 0);
  return checkIndices(launch, "ids", ids, launch.dims[3], 0, bound);
}

template <class Stored, class Weight>
int forward(const SaccadeLaunch* launch) {
  const int64_t V = launch->dims[0], D = launch->dims[1], N = launch->dims[3];
  const Weight* table = stored<Weight>(*launch, 0);
  const Stored* extra = stored<Stored>(*launch, 1);
  const int32_t* ids = ints(*launch, 2);
  Stored* y = stored<Stored>(*launch, 3);
  if (checkIds(*launch, ids, extra != nullptr)) return 1;
  constexpr int64_t RUN = 64;
  parallelFor(*launch, divideUp(N, RUN), 0.3 * (double)(N * D), [&](int64_t run, int32_t) {
    const int64_t end = smaller(N, (run + 1) * RUN);
    for (int64_t n = run * RUN; n < end; n++) {
      if (ids[n] < V) copyRun(y + n * D, table + ids[n] * D, D);
      else copyRun(y + n * D, extra + (ids[n] - V) * D, D);
    }
  });
  return 0;
}

// Operands: dy, table, extra, ids, y, dTable, dExtra.
template <class Stored, class Weight>
int backward(const SaccadeLaunch* launch) {
  const int64_t V = launch->dims[0], D = launch->dims[1], E = launch->dims[2], N = launch->dims[3];
  const Stored* dy = stored<Stored>(*launch, 0);
  const Stored* extra = stored<Stored>(*launch, 2);
  const int32_t* ids = ints(*launch, 3);
  float* dTable = floats(*launch, 5);
  Stored* dExtra = stored<Stored>(*launch, 6);
  if (checkIds(*launch, ids, extra != nullptr)) return 1;
  zero(dTable, V * D);
  if (!dy) {
    zero(dExtra, E * D);
    return 0;
  }
  float* extraSums = sumsOf(*launch, dExtra, E * D);
  zero(extraSums, E * D);
  forStrips(*launch, N, D, [&](int64_t first, int64_t width) {
    for (int64_t n = 0; n < N; n++) {
      float* sink = ids[n] < V ? dTable : extraSums;
      const int64_t row = ids[n] < V ? ids[n] : ids[n] - V;
      if (sink) addRow(sink + row * D + first, dy + n * D + first, width);
    }
  });
  roundSums(*launch, dExtra, extraSums, E * D);
  return 0;
}

}  // namespace

SACCADE_KERNEL(embedding, "table[V,D]+~ extra[E,D]'? ids[N]# -> y[N,D]'", SACCADE_WEIGHTED(forward), SACCADE_WEIGHTED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
