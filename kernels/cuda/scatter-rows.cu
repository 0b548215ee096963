// into[indexₙ] = xₙ, in place: how a KV cache grows (parts/scatter.cuh).
#include "parts/scatter.cuh"

namespace saccade {
namespace {

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  return scatterListed<T>(launch, stored<T>(*launch, 1));
}

}  // namespace

SACCADE_KERNEL(scatterRows, "into[C,D] x[N,D] index[N]# -> into[C,D]=into",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace saccade
