// into[indexₙ] = xₙ, in place, rounded to the storage of `into`: how a KV cache of 16 bits grows. The last
// row wins where an index repeats.
//
// Layout: rows of D elements. A thread owns a strip of columns and walks the rows in order.
#include "parts/rows.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t C = launch->dims[0], D = launch->dims[1], N = launch->dims[2];
  const float* x = floats(*launch, 1);
  const int32_t* index = ints(*launch, 2);
  Stored* into = stored<Stored>(*launch, 3);
  if (checkIndices(*launch, "index", index, N, 0, C)) return 1;
  forStrips(*launch, N, D, [&](int64_t first, int64_t width) {
    for (int64_t n = 0; n < N; n++) {
      const float* from = x + n * D + first;
      Stored* to = into + index[n] * D + first;
      forLanes(width, [&](int64_t i, int64_t lanes) {
        storeWidth(to + i, loadWidth(from + i, lanes), lanes);
      });
    }
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(cacheRows, "into[C,D] x[N,D]! index[N]# -> into[C,D]=into", SACCADE_STORED(forward),
               SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
