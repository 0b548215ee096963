// yₙ = table[idₙ], or extra[idₙ − V] beyond the table; the backward adds rows up in order of n.
//
// Layout: rows of D floats. Forward: a thread owns runs of 64 rows. Backward: a thread owns a strip
// of columns and walks all rows, so sums have one order and need no atomics.
#include "common/rows.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

// dims: V, D, E, N. Without `extra`, E counts for nothing.
int checkIds(const SaccadeLaunch& launch, const int32_t* ids, bool hasExtra) {
  const int64_t bound = launch.dims[0] + (hasExtra ? launch.dims[2] : 0);
  return checkIndices(launch, "ids", ids, launch.dims[3], 0, bound);
}

int forward(const SaccadeLaunch* launch) {
  const int64_t V = launch->dims[0], D = launch->dims[1], N = launch->dims[3];
  const float* table = floats(*launch, 0);
  const float* extra = floats(*launch, 1);
  const int32_t* ids = ints(*launch, 2);
  float* y = floats(*launch, 3);
  if (checkIds(*launch, ids, extra != nullptr)) return 1;
  constexpr int64_t RUN = 64;
  parallelFor(*launch, divideUp(N, RUN), 0.3 * (double)(N * D), [&](int64_t run, int32_t) {
    const int64_t end = smaller(N, (run + 1) * RUN);
    for (int64_t n = run * RUN; n < end; n++) {
      const float* row = ids[n] < V ? table + ids[n] * D : extra + (ids[n] - V) * D;
      memcpy(y + n * D, row, (size_t)D * sizeof(float));
    }
  });
  return 0;
}

// Operands: dy, table, extra, ids, y, dTable, dExtra.
int backward(const SaccadeLaunch* launch) {
  const int64_t V = launch->dims[0], D = launch->dims[1], E = launch->dims[2], N = launch->dims[3];
  const float* dy = floats(*launch, 0);
  const float* extra = floats(*launch, 2);
  const int32_t* ids = ints(*launch, 3);
  float* dTable = floats(*launch, 5);
  float* dExtra = floats(*launch, 6);
  if (checkIds(*launch, ids, extra != nullptr)) return 1;
  zero(dTable, V * D);
  zero(dExtra, E * D);
  if (!dy) return 0;
  forStrips(*launch, N, D, [&](int64_t first, int64_t width) {
    for (int64_t n = 0; n < N; n++) {
      float* sink = ids[n] < V ? dTable : dExtra;
      const int64_t row = ids[n] < V ? ids[n] : ids[n] - V;
      if (sink) addRow(sink + row * D + first, dy + n * D + first, width);
    }
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(embedding, "table[V,D]' extra[E,D]'? ids[N]# -> y[N,D]'", forward, backward)

}  // namespace SACCADE_ISA
}  // namespace saccade
