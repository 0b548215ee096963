#include "probe-peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#define TARGET(isa) __attribute__((target(isa)))
#else
#define TARGET(isa)
#endif

namespace saccade {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int TRIALS = 20;
// A multiply-add takes 4 cycles and two start in each: 8 in flight fill both units, 12 leave room.
constexpr int ACCUMULATORS = 12;
constexpr int64_t MULTIPLY_ADDS = 1 << 22;
// Long enough that starting and ending the trial do not count.
constexpr int64_t BYTES_PER_TRIAL = int64_t{1} << 24;

// Whatever is stored here has been computed.
std::atomic<float> sink{0};

// The compiler must not know the values, or it would compute the sums in advance.
inline void hide(const void* address) { asm volatile("" : : "r"(address) : "memory"); }

// GCC contracts a·b + c to one instruction where the target has it; generic x86 multiplies and adds.
#define MULTIPLY_ADD_LOOP(vector)                                            \
  vector sums[ACCUMULATORS], a, b;                                           \
  for (vector& sum : sums) sum = vector{};                                   \
  float seed[2] = {0.5f, 1e-6f};                                             \
  hide(seed);                                                                \
  a = vector{} + seed[0], b = vector{} + seed[1];                            \
  for (int64_t i = 0; i < MULTIPLY_ADDS / ACCUMULATORS; i++) {               \
    _Pragma("GCC unroll 16") for (vector& sum : sums) sum = sum * a + b;     \
  }                                                                          \
  for (int k = 1; k < ACCUMULATORS; k++) sums[0] += sums[k];                 \
  sink.store(sums[0][0], std::memory_order_relaxed);                         \
  return 2.0 * (MULTIPLY_ADDS / ACCUMULATORS) * ACCUMULATORS * sizeof(vector) / sizeof(float);

#define READ_LOOP(vector)                                                    \
  const vector* from = reinterpret_cast<const vector*>(data);                \
  const int64_t count = bytes / static_cast<int64_t>(sizeof(vector)) / 8 * 8; \
  vector sums[8];                                                            \
  for (vector& sum : sums) sum = vector{};                                   \
  for (int64_t i = 0; i < count; i += 8) {                                   \
    _Pragma("GCC unroll 8") for (int k = 0; k < 8; k++) sums[k] += from[i + k]; \
  }                                                                          \
  for (int k = 1; k < 8; k++) sums[0] += sums[k];                            \
  sink.store(sums[0][0], std::memory_order_relaxed);

typedef float Float4 __attribute__((vector_size(16)));
typedef float Float8 __attribute__((vector_size(32)));
typedef float Float16 __attribute__((vector_size(64)));

// Each does a fixed number of operations and returns it.
double computeGeneric() { MULTIPLY_ADD_LOOP(Float4) }
void readGeneric(const uint8_t* data, int64_t bytes) { READ_LOOP(Float4) }
#if defined(__x86_64__)
TARGET("avx2,fma") double computeAvx2() { MULTIPLY_ADD_LOOP(Float8) }
TARGET("avx2,fma") void readAvx2(const uint8_t* data, int64_t bytes) { READ_LOOP(Float8) }
TARGET("avx512f,avx512vl,prefer-vector-width=512") double computeAvx512() {
  MULTIPLY_ADD_LOOP(Float16)
}
TARGET("avx512f,avx512vl,prefer-vector-width=512")
void readAvx512(const uint8_t* data, int64_t bytes) { READ_LOOP(Float16) }

TARGET("avx512f,avx512vl,avx512bf16") double computeBf16Dots() {
  __m512 sums[ACCUMULATORS];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  float seed = 0.5f;
  hide(&seed);
  const __m512 values = _mm512_set1_ps(seed);
  const __m512bh a = _mm512_cvtne2ps_pbh(values, values);
  for (int64_t i = 0; i < MULTIPLY_ADDS / ACCUMULATORS; i++) {
#pragma GCC unroll 16
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, a, a);
  }
  for (int k = 1; k < ACCUMULATORS; k++) sums[0] = _mm512_add_ps(sums[0], sums[k]);
  sink.store(_mm512_cvtss_f32(sums[0]), std::memory_order_relaxed);
  return 4.0 * 16 * (MULTIPLY_ADDS / ACCUMULATORS) * ACCUMULATORS;
}

#if defined(SACCADE_HAS_avx512amx)
TARGET("amx-tile,amx-bf16") double computeTiles() {
  struct alignas(64) {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t columnBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  hide(&config);
  _tile_loadconfig(&config);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  constexpr int64_t ROUNDS = MULTIPLY_ADDS / 512;
  for (int64_t i = 0; i < ROUNDS; i++) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  _tile_release();
  return 4.0 * 2 * 16 * 16 * 32 * ROUNDS;
}
#endif
#endif

// The rate of all threads together over the time in which all were at work: work per second of
// `body(thread)`, which returns how much it did.
template <typename Body>
double bestRate(int32_t threads, const Body& body) {
  double best = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    std::atomic<int32_t> waiting{threads};
    std::vector<double> work(static_cast<size_t>(threads));
    std::vector<Clock::time_point> starts(work.size()), ends(work.size());
    const auto run = [&](int32_t thread) {
      const size_t t = static_cast<size_t>(thread);
      waiting.fetch_sub(1);
      while (waiting.load() > 0) std::this_thread::yield();
      starts[t] = Clock::now();
      work[t] = body(thread);
      ends[t] = Clock::now();
    };
    std::vector<std::thread> others;
    for (int32_t thread = 1; thread < threads; thread++) others.emplace_back(run, thread);
    run(0);
    for (std::thread& other : others) other.join();
    const auto first = *std::min_element(starts.begin(), starts.end());
    const auto last = *std::max_element(ends.begin(), ends.end());
    double total = 0;
    for (const double share : work) total += share;
    best = std::max(best, total / std::chrono::duration<double>(last - first).count());
  }
  return best;
}

struct Free {
  void operator()(uint8_t* memory) const { std::free(memory); }
};

}  // namespace

Peaks probePeak(const std::string& instructionSet, int32_t threads, int64_t bytes) {
  double (*compute)() = computeGeneric;
  double (*computeBf16)() = nullptr;
  void (*read)(const uint8_t*, int64_t) = readGeneric;
#if defined(__x86_64__)
  // With what has more than it, too.
  if (instructionSet.rfind("avx2", 0) == 0) compute = computeAvx2, read = readAvx2;
  if (instructionSet.rfind("avx512", 0) == 0) compute = computeAvx512, read = readAvx512;
  if (instructionSet == "avx512bf16") computeBf16 = computeBf16Dots;
#if defined(SACCADE_HAS_avx512amx)
  if (instructionSet == "avx512amx") computeBf16 = computeTiles;
#endif
#else
  (void)instructionSet;
#endif
  Peaks peaks;
  peaks.f32 = bestRate(threads, [&](int32_t) { return compute(); });
  // Without an instruction of its own bf16 is widened and computes at the rate of f32.
  peaks.bf16 =
      computeBf16 ? bestRate(threads, [&](int32_t) { return computeBf16(); }) : peaks.f32;

  const int64_t share = std::max<int64_t>(bytes / threads / 4096, 1) * 4096;
  std::vector<std::unique_ptr<uint8_t, Free>> memory;
  for (int32_t thread = 0; thread < threads; thread++) {
    void* piece = nullptr;
    if (posix_memalign(&piece, 4096, static_cast<size_t>(share)) != 0) throw std::bad_alloc();
    memory.emplace_back(static_cast<uint8_t*>(piece));
    // Untouched pages are all one page of zeros.
    std::fill_n(reinterpret_cast<float*>(piece), share / 4, 1.0f);
  }
  const int64_t repeats = std::max<int64_t>(BYTES_PER_TRIAL / share, 1);
  peaks.readBytes = bestRate(threads, [&](int32_t thread) {
    const uint8_t* mine = memory[static_cast<size_t>(thread)].get();
    for (int64_t repeat = 0; repeat < repeats; repeat++) read(mine, share);
    return static_cast<double>(repeats * share);
  });
  return peaks;
}

}  // namespace saccade
