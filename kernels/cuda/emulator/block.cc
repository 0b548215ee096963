#include "block.h"

#include <setjmp.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

namespace saccade {
namespace emulator {
namespace {

constexpr size_t STACK_BYTES = 256 << 10;
constexpr int BARRIERS = 16;
// Behind the shared memory; whoever touches it has written past the end.
constexpr size_t CANARY_BYTES = 256;
constexpr uint8_t CANARY = 0xa5;

[[noreturn]] void give_up(const char* kernel, const char* sentence) {
  std::fprintf(stderr, "Emulated kernel %s: %s\n", kernel, sentence);
  std::abort();
}

struct Copy {
  void* to;
  const void* from;
  size_t bytes;
};

enum class State { ready, atBarrier, atMeeting, atTurnstile, done };

// In the eight bytes of a turnstile.
struct Phases {
  uint16_t expected, arrived;
  uint32_t ended;
};

struct Fiber {
  Place place{};
  State state = State::ready;
  bool isStarted = false;
  int barrier = 0;
  const uint64_t* turnstile = nullptr;
  uint32_t parity = 0;
  jmp_buf resume;
  ucontext_t start;
  std::unique_ptr<uint8_t[]> stack;
  std::vector<Copy> open;
  std::deque<std::vector<Copy>> groups;
  std::vector<std::function<void()>> openProducts;
  std::deque<std::vector<std::function<void()>>> products;
};

struct Barrier {
  int expected = 0;
  int arrived = 0;
};

struct Warp {
  Meeting meeting = nullptr;
  const void* what = nullptr;
  int arrived = 0;
  uint32_t brought[WARP][MEETING_WORDS];
  uint32_t taken[WARP][MEETING_WORDS];
};

struct Block {
  const char* name = "";
  const std::function<void()>* body = nullptr;
  int threads = 0;
  size_t sharedBytes = 0;
  std::vector<uint8_t> sharedStorage;
  uint8_t* shared = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Warp> warps;
  Barrier barriers[BARRIERS];
  Fiber* running = nullptr;
  jmp_buf scheduler;
  uint64_t random = 0x9e3779b97f4a7c15ull;
  std::vector<int> order;

  // Below `end`, which is far below 2^32: nearly all are equally likely.
  int draw(int end) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return static_cast<int>((random >> 32) * static_cast<uint64_t>(end) >> 32);
  }
};

EMULATOR_THREAD_LOCAL Block* current = nullptr;

void land(const std::vector<Copy>& group) {
  for (const Copy& copy : group) {
    if (copy.from) std::memcpy(copy.to, copy.from, copy.bytes);
    else std::memset(copy.to, 0, copy.bytes);
  }
}

Phases phasesOf(const uint64_t* turnstile) {
  Phases phases;
  std::memcpy(&phases, turnstile, sizeof phases);
  return phases;
}
// Whether the phase of that parity is over: the one that runs has the other.
bool isOpen(const Fiber& fiber) {
  return phasesOf(fiber.turnstile).ended % 2 != fiber.parity;
}

void enter() {
  Fiber& fiber = *current->running;
  (*current->body)();
  fiber.state = State::done;
  _longjmp(current->scheduler, 1);
}

// Back to the scheduler until the running fiber is ready again.
void yieldFiber() {
  Fiber& fiber = *current->running;
  if (_setjmp(fiber.resume) == 0) _longjmp(current->scheduler, 1);
}

void resumeFiber(Fiber& fiber) {
  current->running = &fiber;
  runningPlace = &fiber.place;
  if (_setjmp(current->scheduler) != 0) return;
  if (fiber.isStarted) _longjmp(fiber.resume, 1);
  fiber.isStarted = true;
  setcontext(&fiber.start);
}

void prepareFiber(Fiber& fiber) {
  if (!fiber.stack) fiber.stack.reset(new uint8_t[STACK_BYTES]);
  fiber.state = State::ready;
  fiber.isStarted = false;
  fiber.open.clear();
  fiber.groups.clear();
  fiber.openProducts.clear();
  fiber.products.clear();
  getcontext(&fiber.start);
  fiber.start.uc_stack.ss_sp = fiber.stack.get();
  fiber.start.uc_stack.ss_size = STACK_BYTES;
  fiber.start.uc_link = nullptr;
  makecontext(&fiber.start, enter, 0);
}

void explainStall() {
  int waiting[5] = {0, 0, 0, 0, 0};
  for (int i = 0; i < current->threads; i++) {
    waiting[static_cast<int>(current->fibers[i]->state)]++;
  }
  const auto count = [&](State state) { return waiting[static_cast<int>(state)]; };
  std::fprintf(stderr,
               "%d threads wait at a barrier, %d in a warp, %d at a turnstile, %d have ended.\n",
               count(State::atBarrier), count(State::atMeeting), count(State::atTurnstile),
               count(State::done));
  give_up(current->name, "threads wait for others that never come.");
}

void runBlock(Index3 blockIndex, Index3 blockSize, Index3 gridSize) {
  const int threads = current->threads;
  std::memset(current->shared, 0xff, current->sharedBytes);
  std::memset(current->shared + current->sharedBytes, CANARY, CANARY_BYTES);
  for (Barrier& barrier : current->barriers) barrier = {};
  for (Warp& warp : current->warps) warp.meeting = nullptr, warp.what = nullptr, warp.arrived = 0;
  for (int i = 0; i < threads; i++) {
    Fiber& fiber = *current->fibers[i];
    prepareFiber(fiber);
    const uint32_t t = static_cast<uint32_t>(i);
    fiber.place = {{t % blockSize.x, t / blockSize.x % blockSize.y, t / blockSize.x / blockSize.y},
                   blockIndex, blockSize, gridSize, i % WARP};
  }
  for (;;) {
    for (int i = threads - 1; i > 0; i--) {
      std::swap(current->order[i], current->order[current->draw(i + 1)]);
    }
    bool hasRun = false, isDone = true;
    for (int i = 0; i < threads; i++) {
      Fiber& fiber = *current->fibers[current->order[i]];
      if (fiber.state == State::atTurnstile && isOpen(fiber)) fiber.state = State::ready;
      if (fiber.state == State::ready) {
        resumeFiber(fiber);
        hasRun = true;
      }
      isDone = isDone && fiber.state == State::done;
    }
    if (isDone) break;
    if (!hasRun) explainStall();
  }
  for (size_t i = 0; i < CANARY_BYTES; i++) {
    if (current->shared[current->sharedBytes + i] != CANARY) {
      give_up(current->name, "it wrote past its shared memory.");
    }
  }
}

}  // namespace

EMULATOR_THREAD_LOCAL const Place* runningPlace = nullptr;

uint8_t* sharedMemory() { return current->shared; }
size_t sharedBytes() { return current->sharedBytes; }

void meetBlock(int id, int count) {
  if (id < 0 || id >= BARRIERS) give_up(current->name, "there are barriers 0 to 15.");
  Barrier& barrier = current->barriers[id];
  if (barrier.arrived > 0 && barrier.expected != count) {
    give_up(current->name, "a barrier is met with two different counts.");
  }
  barrier.expected = count;
  Fiber& fiber = *current->running;
  fiber.state = State::atBarrier;
  fiber.barrier = id;
  if (++barrier.arrived == count) {
    barrier.arrived = 0;
    for (int i = 0; i < current->threads; i++) {
      Fiber& other = *current->fibers[i];
      if (other.state == State::atBarrier && other.barrier == id) other.state = State::ready;
    }
  }
  yieldFiber();
}

void meetWarp(Meeting meeting, const void* what, const uint32_t* bring, int broughtWords,
              uint32_t* take, int takenWords) {
  Fiber& fiber = *current->running;
  const Place& here = fiber.place;
  const uint32_t linear =
      here.thread.x + here.blockSize.x * (here.thread.y + here.blockSize.y * here.thread.z);
  const int first = static_cast<int>(linear) / WARP * WARP;
  Warp& warp = current->warps[static_cast<size_t>(first / WARP)];
  if (warp.arrived > 0 && (warp.meeting != meeting || warp.what != what)) {
    give_up(current->name, "the lanes of a warp meet in different places.");
  }
  if (first + WARP > current->threads) give_up(current->name, "a warp that meets has 32 threads.");
  warp.meeting = meeting;
  warp.what = what;
  // Of nothing there is no address.
  if (broughtWords > 0) {
    std::memcpy(warp.brought[here.lane], bring,
                sizeof(uint32_t) * static_cast<size_t>(broughtWords));
  }
  fiber.state = State::atMeeting;
  if (++warp.arrived == WARP) {
    warp.arrived = 0;
    meeting(warp.brought, warp.taken, what);
    for (int lane = 0; lane < WARP; lane++) current->fibers[first + lane]->state = State::ready;
  }
  yieldFiber();
  if (takenWords > 0) {
    std::memcpy(take, warp.taken[here.lane], sizeof(uint32_t) * static_cast<size_t>(takenWords));
  }
}

void copyAsync(void* to, const void* from, int bytes) {
  current->running->open.push_back({to, from, static_cast<size_t>(bytes)});
}

void commitCopies() {
  Fiber& fiber = *current->running;
  fiber.groups.push_back(std::move(fiber.open));
  fiber.open.clear();
}

void waitCopies(int left) {
  Fiber& fiber = *current->running;
  while (static_cast<int>(fiber.groups.size()) > left) {
    land(fiber.groups.front());
    fiber.groups.pop_front();
  }
}

void openTurnstile(uint64_t* turnstile, int arrivals) {
  const Phases phases = {static_cast<uint16_t>(arrivals), 0, 0};
  std::memcpy(turnstile, &phases, sizeof phases);
}

void arrive(uint64_t* turnstile) {
  Phases phases = phasesOf(turnstile);
  if (++phases.arrived == phases.expected) phases = {phases.expected, 0, phases.ended + 1};
  std::memcpy(turnstile, &phases, sizeof phases);
}

bool isTurnstileOpen(const uint64_t* turnstile, int parity) {
  return phasesOf(turnstile).ended % 2 != static_cast<uint32_t>(parity);
}

void passTurnstile(const uint64_t* turnstile, int parity) {
  Fiber& fiber = *current->running;
  fiber.turnstile = turnstile;
  fiber.parity = static_cast<uint32_t>(parity);
  fiber.state = State::atTurnstile;
  yieldFiber();
}

void deferProduct(std::function<void()> product) {
  current->running->openProducts.push_back(std::move(product));
}

void commitProducts() {
  Fiber& fiber = *current->running;
  fiber.products.push_back(std::move(fiber.openProducts));
  fiber.openProducts.clear();
}

void waitProducts(int left) {
  Fiber& fiber = *current->running;
  while (static_cast<int>(fiber.products.size()) > left) {
    for (const auto& product : fiber.products.front()) product();
    fiber.products.pop_front();
  }
}

void runGrid(const char* name, Index3 grid, Index3 block, size_t sharedBytes,
             const std::function<void()>& body) {
  const int threads = static_cast<int>(block.x * block.y * block.z);
  if (threads < 1 || threads > 1024) give_up(name, "a block has 1 to 1024 threads.");
  // What a block needs is kept for the next launch of this thread.
  thread_local Block kept;
  current = &kept;
  current->name = name;
  current->body = &body;
  current->threads = threads;
  current->sharedBytes = sharedBytes;
  if (current->sharedStorage.size() < sharedBytes + CANARY_BYTES + 1024) {
    current->sharedStorage.resize(sharedBytes + CANARY_BYTES + 1024);
  }
  const uintptr_t base = reinterpret_cast<uintptr_t>(current->sharedStorage.data());
  current->shared = reinterpret_cast<uint8_t*>((base + 1023) / 1024 * 1024);
  while (static_cast<int>(current->fibers.size()) < threads) {
    current->fibers.push_back(std::make_unique<Fiber>());
  }
  current->warps.resize(static_cast<size_t>((threads + WARP - 1) / WARP));
  current->order.resize(static_cast<size_t>(threads));
  for (int i = 0; i < threads; i++) current->order[static_cast<size_t>(i)] = i;
  for (uint32_t z = 0; z < grid.z; z++) {
    for (uint32_t y = 0; y < grid.y; y++) {
      for (uint32_t x = 0; x < grid.x; x++) runBlock({x, y, z}, block, grid);
    }
  }
}

}  // namespace emulator
}  // namespace saccade
