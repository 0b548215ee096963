// Attention of one new token per row over a key/value cache of any storage, with float32 queries and
// results (parts/decode.h).
#include "parts/decode.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  return decodeRows<float, Stored>(launch);
}

}  // namespace

SACCADE_KERNEL(attentionDecodeWide,
               "q[N,H,D]! kCache[C,G,D] vCache[C,G,D] spans[R,U2]# spanOffsets[O]# -> "
               "out[N,H,D]! lse[H,N]! ; scale window",
               SACCADE_STORED(forward), SACCADE_ABSENT)

}  // namespace SACCADE_ISA
}  // namespace saccade
