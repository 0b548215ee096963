// Turnstiles (parts/turnstile.cuh) and what warpgroups hand to each other, on the CPU.
#pragma once

#include "device-emulation.h"

namespace saccade {

inline void openTurnstile(uint64_t* turnstile, int arrivals) {
  emulator::openTurnstile(turnstile, arrivals);
}
inline void arrive(uint64_t* turnstile) { emulator::arrive(turnstile); }
// The latest moment at which copies may arrive is that of the arrival.
inline void arriveWithCopies(uint64_t* turnstile) {
  emulator::commitCopies();
  emulator::waitCopies(0);
  emulator::arrive(turnstile);
}
inline bool isTurnstileOpen(uint64_t* turnstile, int parity) {
  return emulator::isTurnstileOpen(turnstile, parity);
}
inline void passTurnstile(uint64_t* turnstile, int parity) {
  emulator::passTurnstile(turnstile, parity);
}
inline void syncSome(int id, int count) { emulator::meetBlock(id, count); }

template <int COUNT>
void giveRegisters() {}
template <int COUNT>
void takeRegisters() {}

}  // namespace saccade
