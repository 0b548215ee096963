// Attention of one new token per row over the key/value cache (parts/decode.h).
#include "parts/decode.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  return decodeRows<Stored, Stored>(launch);
}

}  // namespace

SACCADE_KERNEL(attentionDecode,
               "q[N,H,D] kCache[C,G,D] vCache[C,G,D] spans[R,U2]# spanOffsets[O]# -> "
               "out[N,H,D] lse[H,N]! ; scale window",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
