// Attention of single new tokens over a KV cache of any storage, with float32 queries and results.
//
// Tensor cores multiply what is stored alike, so queries are rounded to the cache's storage first.
#include "parts/convert.cuh"
#include "parts/decode.cuh"

namespace saccade {
namespace {

int decodeWide(const SaccadeDeviceLaunch* launch, float*) {
  return decodeRows<float>(launch, floats(*launch, 0), floats(*launch, 5));
}

template <class T>
int decodeWide(const SaccadeDeviceLaunch* launch, T*) {
  const int64_t count = launch->dims[0] * launch->dims[1] * launch->dims[2];
  T* queries = scratchArray<T>(*launch, count);
  T* out = scratchArray<T>(*launch, count);
  if (!queries || !out) return outOfScratch(*launch);
  if (convert(*launch, floats(*launch, 0), queries, count)) return 1;
  if (decodeRows<T>(launch, queries, out)) return 1;
  return convert(*launch, out, floats(*launch, 5), count);
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  return decodeWide(launch, static_cast<T*>(nullptr));
}

}  // namespace

SACCADE_KERNEL(attentionDecodeWide,
               "q[N,H,D]! kCache[C,G,D] vCache[C,G,D] spans[R,U2]# spanOffsets[O]# -> "
               "out[N,H,D]! lse[H,N]! ; scale window",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace saccade
