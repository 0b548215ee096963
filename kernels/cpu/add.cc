// y = a + b; both gradients are dy.
//
// Layout: flat arrays of N·D elements; a thread owns runs of 4096. Bound by memory.
#include "parts/elementwise.h"

namespace saccade {
namespace SACCADE_ISA {
namespace {

template <class Stored>
int forward(const SaccadeLaunch* launch) {
  const Stored* a = stored<Stored>(*launch, 0);
  const Stored* b = stored<Stored>(*launch, 1);
  Stored* y = stored<Stored>(*launch, 2);
  forElements(*launch, launch->dims[0] * launch->dims[1], 0.3, [&](int64_t i, int64_t width) {
    storeWidth(y + i, loadWidth(a + i, width) + loadWidth(b + i, width), width);
  });
  return 0;
}

// Operands: dy, a, b, y, da, db.
template <class Stored>
int backward(const SaccadeLaunch* launch) {
  const int64_t count = launch->dims[0] * launch->dims[1];
  const Stored* dy = stored<Stored>(*launch, 0);
  for (int operand = 4; operand <= 5; operand++) {
    Stored* gradient = stored<Stored>(*launch, operand);
    if (!gradient) continue;
    if (dy) memcpy(gradient, dy, (size_t)count * sizeof(Stored));
    else zero(gradient, count);
  }
  return 0;
}

}  // namespace

SACCADE_KERNEL(add, "a[N,D]' b[N,D]' -> y[N,D]'", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace SACCADE_ISA
}  // namespace saccade
