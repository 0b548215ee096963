// yᵣ = x[indexᵣ]; the backward adds rows up in order of r.
//
// Layout: rows of D elements. Forward: a warp owns a row of y. Backward: the indices are sorted
// (parts/sorted-indices.cuh), then a block owns 128 chunks of 16 bytes of an index's row, adds the
// rows that have it in float32 and rounds once.
#include "parts/indexed-rows.cuh"

namespace saccade {
namespace {

// dims: N, D, R.
IndexList listOf(const SaccadeDeviceLaunch& launch, int operand) {
  return {ints(launch, operand), launch.dims[2], launch.dims[0], operand, refusalOf(launch)};
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const TwoTables<T> tables = {stored<T>(*launch, 0), launch->dims[0], nullptr};
  return gather(*launch, listOf(*launch, 1), tables, stored<T>(*launch, 2), launch->dims[1]);
}

// Operands: dy, x, index, y, dx.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t N = launch->dims[0], D = launch->dims[1];
  const T* dy = stored<T>(*launch, 0);
  T* dx = stored<T>(*launch, 4);
  const IndexList list = listOf(*launch, 2);
  if (!dx) return 0;
  if (!dy || list.count == 0) return fillZeros(*launch, dx, N * D);
  const uint64_t* keys = sortIndices(*launch, list);
  return keys ? addUp(*launch, keys, list.count, dy, dx, 0, N, D) : 1;
}

}  // namespace

SACCADE_KERNEL(gatherRows, "x[N,D]' index[R]# -> y[R,D]'",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
