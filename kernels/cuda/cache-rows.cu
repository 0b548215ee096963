// into[indexₙ] = xₙ, in place, rounded to the storage of `into`: how a KV cache of 16 bits grows. The
// last row wins where an index repeats (parts/scatter.cuh).
#include "parts/convert.cuh"
#include "parts/scatter.cuh"

namespace saccade {
namespace {

int scatterRounded(const SaccadeDeviceLaunch* launch, float*) {
  return scatterListed<float>(launch, floats(*launch, 1));
}

template <class T>
int scatterRounded(const SaccadeDeviceLaunch* launch, T*) {
  const int64_t count = launch->dims[1] * launch->dims[2];
  T* x = scratchArray<T>(*launch, count);
  if (!x) return outOfScratch(*launch);
  if (convert(*launch, floats(*launch, 1), x, count)) return 1;
  return scatterListed<T>(launch, x);
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  return scatterRounded(launch, static_cast<T*>(nullptr));
}

}  // namespace

SACCADE_KERNEL(cacheRows, "into[C,D] x[N,D]! index[N]# -> into[C,D]=into",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace saccade
