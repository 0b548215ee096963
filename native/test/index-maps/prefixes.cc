// Rows of a decode that begin with the same slots: how they are grouped, and that a row's result
// has the bits that it has alone.
#include "arrays.h"

#include <numeric>

#include "../../../kernels/cuda/parts/cache-spans.cuh"

using namespace saccade;
using maps::BF16;
using maps::Draw;
using maps::expect;
using maps::expectRan;
using maps::expectSame;
using maps::Launch;
using maps::Launches;

extern "C" {
extern const SaccadeDeviceKernel saccade_cuda_attentionDecode;
}

namespace {

// Each row's slots, in logical order.
using Slots = std::vector<std::vector<int32_t>>;

// The rows' spans, cut at random besides where they must be, some of them empty.
struct Layout {
  std::vector<int32_t> spans, offsets = {0};

  Layout(const Slots& slots, Draw& draw) {
    for (const std::vector<int32_t>& row : slots) {
      const auto room = draw.below(4) == 0;
      if (room) spans.insert(spans.end(), {5, 5});
      for (size_t i = 0; i < row.size(); i++) {
        if (i > 0 && row[i] == row[i - 1] + 1 && draw.below(60) > 0) spans.back()++;
        else spans.insert(spans.end(), {row[i], row[i] + 1});
      }
      offsets.push_back((int32_t)spans.size() / 2);
    }
  }
  int64_t count() const { return (int64_t)spans.size() / 2; }
};

// Slots of rows, neighbors of which begin with the same now and then; `own`: slots nobody shares.
Slots drawSlots(Draw& draw, int64_t rows, int64_t slots) {
  Slots all;
  for (int64_t n = 0; n < rows; n++) {
    std::vector<int32_t> row;
    if (n > 0 && draw.below(5) > 0) {
      row = all.back();
      const size_t kept = (size_t)draw.below(draw.below(3) == 0 ? 50 : 800);
      if (row.size() > kept) row.resize(kept);
    }
    int32_t at = (int32_t)draw.below(slots);
    for (int64_t i = draw.below(n % 3 == 0 ? 700 : 40); i > 0; i--) {
      row.push_back(at);
      at = draw.below(90) == 0 ? (int32_t)draw.below(slots) : (at + 1) % (int32_t)slots;
    }
    all.push_back(row);
  }
  return all;
}

size_t commonOf(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) i++;
  return i;
}

}  // namespace

CHECK("prefix: rows of a group begin with the same slots, and no row is in two groups") {
  Draw draw(41);
  for (int trial = 0; trial < 12; trial++) {
    // Beyond one chunk of rows, once.
    const int64_t N = trial == 0 ? PREFIX_THREADS + 300 : 1 + draw.below(60), C = 4000;
    const int32_t most = 2 + (int32_t)draw.below(7);
    Slots slots = drawSlots(draw, N, C);
    Layout layout(slots, draw);
    Launch launch({}, {});
    const Spans spans = {layout.spans.data(), layout.offsets.data(), N, layout.count(), C, 0, 1,
                         refusalOf(*launch)};
    Prefixes prefixes;
    expect(planCommon(*launch, spans, most, &prefixes) == 0, "no plan");
    expect(launch.fault().launch == 0, "sound spans are refused");
    std::vector<int32_t> met((size_t)N);
    int64_t after = 0;
    for (int32_t g = 0; g < prefixes.count[0]; g++) {
      const PrefixGroup group = prefixes.groups[g];
      expect(group.first >= after && group.rows >= 2 && group.rows <= most &&
                 group.first + group.rows <= N,
             "group %d is of %d rows from %d", g, group.rows, group.first);
      expect(group.keys > 0 && group.keys % TURN == 0, "group %d has %d keys", g, group.keys);
      after = group.first + group.rows;
      for (int32_t n = group.first; n < after; n++) {
        expect(commonOf(slots[(size_t)group.first], slots[(size_t)n]) >= (size_t)group.keys,
               "row %d has less than %d keys in common", n, group.keys);
        met[(size_t)n] = group.keys;
      }
    }
    expect(prefixes.count[0] <= N / 2, "more groups than blocks are launched");
    for (int64_t n = 0; n < N; n++) {
      expect(prefixes.keys[n] == met[(size_t)n], "row %ld is told %d keys, expected %d", (long)n,
             prefixes.keys[n], met[(size_t)n]);
    }
    expect(trial > 0 || prefixes.count[0] > 50, "%d groups of a thousand rows", prefixes.count[0]);
  }
}

CHECK("prefix: a prompt's members are grouped whatever other prompts begin with") {
  // Eight members, four to a group; then another prompt with the first turn in common.
  Slots slots;
  for (int prompt = 0; prompt < 2; prompt++) {
    std::vector<int32_t> shared(5 * TURN);
    std::iota(shared.begin(), shared.end(), 0);
    for (size_t i = TURN; i < shared.size(); i++) shared[i] += prompt * 1000;
    for (int member = 0; member < 5 - prompt; member++) {
      slots.push_back(shared);
      slots.back().push_back(3000 + member);
    }
  }
  Draw draw(42);
  Layout layout(slots, draw);
  Launch launch({}, {});
  Prefixes prefixes;
  planCommon(*launch, {layout.spans.data(), layout.offsets.data(), 9, layout.count(), 4000, 0, 1,
                       refusalOf(*launch)}, 4, &prefixes);
  expect(prefixes.count[0] == 2, "%d groups", prefixes.count[0]);
  const PrefixGroup wanted[] = {{0, 4, 5 * TURN}, {5, 4, 5 * TURN}};
  for (int g = 0; g < 2; g++) {
    const PrefixGroup got = prefixes.groups[g];
    expect(got.first == wanted[g].first && got.rows == 4 && got.keys == 5 * TURN,
           "group %d: %d rows from %d, %d keys", g, got.rows, got.first, got.keys);
  }
}

namespace {

template <class T>
std::vector<T> drawn(int64_t count, uint64_t seed) {
  Draw draw(seed);
  std::vector<T> values;
  for (int64_t i = 0; i < count; i++) values.push_back(rounded<T>((float)(draw.below(257) - 128) / 64));
  return values;
}

template <class T>
void checkDecoded(int storage, int64_t D, Draw& draw) {
  constexpr int64_t H = 12, G = 2, C = 2000, N = 14;
  std::vector<T> q = drawn<T>(N * H * D, 44), k = drawn<T>(C * G * D, 45), v = drawn<T>(C * G * D, 46);
  Slots slots = drawSlots(draw, N, C);
  // One that ends where its group's keys do.
  slots[1].resize(2 * TURN);
  std::iota(slots[1].begin(), slots[1].end(), 7);
  slots[0] = slots[1];
  slots[0].push_back(1999);
  Layout layout(slots, draw);
  std::vector<T> out((size_t)(N * H * D)), alone((size_t)(H * D));
  std::vector<float> lse((size_t)(H * N)), aloneLse((size_t)H);
  const Launches launches;
  const auto decode = saccade_cuda_attentionDecode.forward[storage];
  // Dims: N H D C G R U2 O.
  Launch together({q.data(), k.data(), v.data(), layout.spans.data(), layout.offsets.data(),
                   out.data(), lse.data()}, {N, H, D, C, G, layout.count(), 2, N + 1}, {0.2, 0});
  expectRan(decode(&*together), together);
  expect(launches.grids.size() == 3, "%zu launches", launches.grids.size());
  for (int64_t n = 0; n < N; n++) {
    const int32_t from = layout.offsets[(size_t)n];
    std::vector<int32_t> own = {0, layout.offsets[(size_t)n + 1] - from};
    Launch single({q.data() + n * H * D, k.data(), v.data(), layout.spans.data() + 2 * from,
                   own.data(), alone.data(), aloneLse.data()},
                  {1, H, D, C, G, own[1], 2, 2}, {0.2, 0});
    expectRan(decode(&*single), single);
    expect(std::memcmp(&out[(size_t)(n * H * D)], alone.data(), alone.size() * sizeof(T)) == 0,
           "row %ld of %zu keys is another", (long)n, slots[(size_t)n].size());
    for (int64_t h = 0; h < H; h++) {
      expectSame("lse", &lse[(size_t)(h * N + n)], &aloneLse[(size_t)h], 1);
    }
  }
}

}  // namespace

CHECK("prefix: decoded rows have the bits that each has alone") {
  Draw draw(43);
  checkDecoded<Bf16>(BF16, 72, draw);
  checkDecoded<F16>(2, 20, draw);
  checkDecoded<float>(0, 20, draw);
  checkDecoded<float>(0, 72, draw);
}
