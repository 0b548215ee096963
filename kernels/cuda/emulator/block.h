// Runs the threads of a block on the CPU: each is a fiber, blocks go one after the other.
//
// Where the hardware leaves a choice, the worst one is taken, so that a kernel that is right here
// by luck is rare: threads take turns in a random order between the points where they meet, shared
// memory begins as NaN, asynchronous copies arrive and products of warpgroups run only when they
// are waited for, and whoever writes past the shared memory, meets in another place than the rest
// of its warp, or waits for someone who has left ends the process with a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace saccade {
namespace emulator {

struct Index3 {
  uint32_t x, y, z;
};

constexpr int WARP = 32;
// 32-bit words that one lane brings to, or takes from, a meeting of its warp.
constexpr int MEETING_WORDS = 16;

// An operation of a whole warp: computes each lane's result from the inputs of all lanes.
using Meeting = void (*)(const uint32_t (*brought)[MEETING_WORDS],
                         uint32_t (*taken)[MEETING_WORDS], const void* what);

// One of a thread of the machine, found without a call: emulated threads ask at every turn.
#define EMULATOR_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

// The thread that runs now.
struct Place {
  Index3 thread, block, blockSize, gridSize;
  int lane;
};
extern EMULATOR_THREAD_LOCAL const Place* runningPlace;
inline const Place& place() { return *runningPlace; }

// All threads of the block, `count` of them at barrier `id`.
void meetBlock(int id, int count);
// All 32 lanes of the warp. `what` must be the same for all of them: it says which meeting this is.
void meetWarp(Meeting meeting, const void* what, const uint32_t* bring, int broughtWords,
              uint32_t* take, int takenWords);

// The block's shared memory, 1024-byte aligned.
uint8_t* sharedMemory();
size_t sharedBytes();

// 16 bytes, or fewer, to shared memory, zeros if `from` is null; they arrive at waitCopies.
void copyAsync(void* to, const void* from, int bytes = 16);
void commitCopies();
// Waits for all but the `left` latest groups of this thread.
void waitCopies(int left);

// Products that run on their own: each runs at waitProducts, the oldest first.
void deferProduct(std::function<void()> product);
void commitProducts();
void waitProducts(int left);

// Turnstiles: eight bytes of shared memory that `arrivals` threads open for those who wait for the
// end of a phase, known by its parity.
void openTurnstile(uint64_t* turnstile, int arrivals);
void arrive(uint64_t* turnstile);
bool isTurnstileOpen(const uint64_t* turnstile, int parity);
void passTurnstile(const uint64_t* turnstile, int parity);

// Runs `body` in every thread of every block. `name` is for the sentences.
void runGrid(const char* name, Index3 grid, Index3 block, size_t sharedBytes,
             const std::function<void()>& body);

}  // namespace emulator
}  // namespace saccade
