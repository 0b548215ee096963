// yₙ = table[idₙ], or extra[idₙ − V] beyond the table; the backward adds rows up in order of n.
//
// Layout: rows of D elements; dTable float32. Forward: a warp owns a row of y. Backward: the ids
// are sorted (parts/sorted-indices.cuh), then a block owns 128 chunks of 16 bytes of an id's row
// and adds the rows that have it.
#include "parts/indexed-rows.cuh"

namespace saccade {
namespace {

// dims: V, D, E, N. Without `extra`, E counts for nothing.
IndexList idsOf(const SaccadeDeviceLaunch& launch, int operand, bool hasExtra) {
  const int64_t bound = launch.dims[0] + (hasExtra ? launch.dims[2] : 0);
  return {ints(launch, operand), launch.dims[3], bound, operand, refusalOf(launch)};
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  const T* extra = stored<T>(*launch, 1);
  const TwoTables<T> tables = {stored<T>(*launch, 0), launch->dims[0], extra};
  return gather(*launch, idsOf(*launch, 2, extra != nullptr), tables, stored<T>(*launch, 3),
                launch->dims[1]);
}

// Operands: dy, table, extra, ids, y, dTable, dExtra.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  const int64_t V = launch->dims[0], D = launch->dims[1], E = launch->dims[2];
  const T* dy = stored<T>(*launch, 0);
  float* dTable = floats(*launch, 5);
  T* dExtra = stored<T>(*launch, 6);
  const IndexList ids = idsOf(*launch, 3, launch->operands[2] != nullptr);
  if (!dy || ids.count == 0) {
    return fillZeros(*launch, dTable, V * D) || fillZeros(*launch, dExtra, E * D);
  }
  const uint64_t* keys = sortIndices(*launch, ids);
  if (!keys) return 1;
  if (dTable && addUp(*launch, keys, ids.count, dy, dTable, 0, V, D)) return 1;
  return dExtra ? addUp(*launch, keys, ids.count, dy, dExtra, V, V + E, D) : 0;
}

}  // namespace

SACCADE_KERNEL(embedding, "table[V,D]+~ extra[E,D]'? ids[N]# -> y[N,D]'",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
