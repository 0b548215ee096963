// into[indexₙ] = xₙ, in place: how a KV cache grows. The last row wins where an index repeats.
//
// Layout: rows of D elements. A thread owns a strip of columns and walks the rows in order.
#include "parts/rows.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const int64_t C = launch->dims[0], D = launch->dims[1], N = launch->dims[2];
  const Stored* x = stored<Stored>(*launch, 1);
  const int32_t* index = ints(*launch, 2);
  Stored* into = stored<Stored>(*launch, 3);
  if (checkIndices(*launch, "index", index, N, 0, C)) return 1;
  forStrips(*launch, N, D, [&](int64_t first, int64_t width) {
    for (int64_t n = 0; n < N; n++) {
      memcpy(into + index[n] * D + first, x + n * D + first, (size_t)width * sizeof(Stored));
    }
  });
  return 0;
}

}  // namespace

SACCADE_KERNEL(scatterRows, "into[C,D] x[N,D] index[N]# -> into[C,D]=into", SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
