// yᵣ = x[indexᵣ]; the backward adds rows up in order of r.
//
// Layout: rows of D elements. Forward: a thread owns runs of 64 rows. Backward: a thread owns a strip
// of columns and walks all rows, so sums have one order and need no atomics.
#include "parts/rows.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1], R = launch->dims[2];
  const Stored* x = stored<Stored>(*launch, 0);
  const int32_t* index = ints(*launch, 1);
  Stored* y = stored<Stored>(*launch, 2);
  if (checkIndices(*launch, "index", index, R, 0, N)) return 1;
  constexpr int64_t RUN = 64;
  parallelFor(*launch, divideUp(R, RUN), 0.3 * (double)(R * D), [&](int64_t run, int32_t) {
    const int64_t end = smaller(R, (run + 1) * RUN);
    for (int64_t r = run * RUN; r < end; r++) {
      memcpy(y + r * D, x + index[r] * D, (size_t)D * sizeof(Stored));
    }
  });
  return 0;
}

// Operands: dy, x, index, y, dx.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1], R = launch->dims[2];
  const Stored* dy = stored<Stored>(*launch, 0);
  const int32_t* index = ints(*launch, 2);
  Stored* dx = stored<Stored>(*launch, 4);
  if (checkIndices(*launch, "index", index, R, 0, N)) return 1;
  if (!dx) return 0;
  if (!dy) {
    zero(dx, N * D);
    return 0;
  }
  float* sums = sumsOf(*launch, dx, N * D);
  zero(sums, N * D);
  forStrips(*launch, R, D, [&](int64_t first, int64_t width) {
    for (int64_t r = 0; r < R; r++) addRow(sums + index[r] * D + first, dy + r * D + first, width);
  });
  roundSums(*launch, dx, sums, N * D);
  return 0;
}

}  // namespace

SACCADE_KERNEL(gatherRows, "x[N,D]' index[R]# -> y[R,D]'", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
