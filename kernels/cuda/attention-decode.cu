// Attention of single new tokens over a KV cache (parts/decode.cuh).
#include "parts/decode.cuh"

namespace saccade {
namespace {

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  return decodeRows<T>(launch, stored<T>(*launch, 0), stored<T>(*launch, 5));
}

}  // namespace

SACCADE_KERNEL(attentionDecode,
               "q[N,H,D] kCache[C,G,D] vCache[C,G,D] spans[R,U2]# spanOffsets[O]# -> "
               "out[N,H,D] lse[H,N]! ; scale window",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace saccade
