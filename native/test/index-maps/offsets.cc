// Kernels on arrays of more than 2^32 elements: what they make of the last rows has the bits of the
// same rows alone. Of their grids only the blocks at the end run, and of the memory only those pages
// exist.
#include "arrays.h"

#include <algorithm>

#include "../../../kernels/cuda/parts/sorted-indices.cuh"

using namespace saccade;
using maps::BF16;
using maps::Draw;
using maps::expect;
using maps::expectRan;
using maps::expectSame;
using maps::fill;
using maps::HUGE_COUNT;
using maps::Launch;
using maps::Launches;
using maps::Sparse;

extern "C" {
extern const SaccadeDeviceKernel saccade_cuda_add, saccade_cuda_attentionDecode,
    saccade_cuda_gatherRows, saccade_cuda_rmsNorm, saccade_cuda_rotary, saccade_cuda_scatterRows;
}

CHECK("offsets: sums of more than 2^32 elements end where the arrays end") {
  constexpr int64_t D = 64, N = HUGE_COUNT / D + 3, ROWS = 2, COUNT = ROWS * D;
  Sparse a(N * D * 2), b(N * D * 2), y(N * D * 2);
  uint16_t* last[3] = {a.as<uint16_t>() + (N - ROWS) * D, b.as<uint16_t>() + (N - ROWS) * D,
                       y.as<uint16_t>() + (N - ROWS) * D};
  fill(last[0], COUNT, 1);
  fill(last[1], COUNT, 2);
  Launch whole({a.as<void>(), b.as<void>(), y.as<void>()}, {N, D});
  {
    Launches launches(maps::lastBlocks(1));
    expectRan(saccade_cuda_add.forward[BF16](&*whole), whole);
    expect(launches.grids[0].grid.x == (N * D + 2047) / 2048, "%u blocks", launches.grids[0].grid.x);
  }
  std::vector<uint16_t> alone(COUNT);
  Launch part({last[0], last[1], alone.data()}, {ROWS, D});
  expectRan(saccade_cuda_add.forward[BF16](&*part), part);
  expectSame("y", last[2], alone.data(), COUNT);
}

CHECK("offsets: rows are normalized beyond 2^32 elements, by a warp and by a block") {
  for (const int64_t D : {128, 2048}) {
    const int64_t N = HUGE_COUNT / D + 5;
    Sparse x(N * D * 2), y(N * D * 2);
    std::vector<uint16_t> w((size_t)D), alone((size_t)(2 * D));
    uint16_t *lastX = x.as<uint16_t>() + (N - 2) * D, *lastY = y.as<uint16_t>() + (N - 2) * D;
    fill(lastX, 2 * D, 3);
    fill(w.data(), D, 4);
    Launch whole({x.as<void>(), w.data(), y.as<void>()}, {N, D}, {1e-6});
    {
      Launches launches(maps::lastBlocks(2));
      expectRan(saccade_cuda_rmsNorm.forward[BF16](&*whole), whole);
    }
    Launch part({lastX, w.data(), alone.data()}, {2, D}, {1e-6});
    expectRan(saccade_cuda_rmsNorm.forward[BF16](&*part), part);
    expectSame("y", lastY, alone.data(), 2 * D);
  }
}

CHECK("offsets: heads are turned beyond 2^32 elements") {
  constexpr int64_t H = 16, D = 128, E = 64, T = HUGE_COUNT / (H * D) + 2;
  Sparse x(T * H * D * 2), y(T * H * D * 2), cosines(T * E * 4), sines(T * E * 4);
  uint16_t *lastX = x.as<uint16_t>() + (T - 1) * H * D, *lastY = y.as<uint16_t>() + (T - 1) * H * D;
  float *cosine = cosines.as<float>() + (T - 1) * E, *sine = sines.as<float>() + (T - 1) * E;
  fill(lastX, H * D, 5);
  for (int64_t e = 0; e < E; e++) cosine[e] = (float)e / 64, sine[e] = 1 - (float)e / 80;
  Launch whole({x.as<void>(), cosines.as<void>(), sines.as<void>(), y.as<void>()}, {T, H, D, E});
  {
    Launches launches(maps::lastBlocks(1));
    expectRan(saccade_cuda_rotary.forward[BF16](&*whole), whole);
  }
  std::vector<uint16_t> alone((size_t)(H * D));
  Launch part({lastX, cosine, sine, alone.data()}, {1, H, D, E});
  expectRan(saccade_cuda_rotary.forward[BF16](&*part), part);
  expectSame("y", lastY, alone.data(), H * D);
}

CHECK("offsets: rows are gathered from, and scattered to, places beyond 2^32 elements") {
  constexpr int64_t D = 72, N = HUGE_COUNT / D + 100, R = 9;
  Sparse table(N * D * 2);
  std::vector<int32_t> index;
  for (int64_t r = 0; r < R; r++) index.push_back((int32_t)(r % 2 ? N - 1 - r : r));
  std::vector<uint16_t> rows((size_t)(R * D)), back((size_t)(R * D));
  fill(rows.data(), R * D, 6);
  // Operands of scatterRows: into, x, index, into.
  Launch scatter({table.as<void>(), rows.data(), index.data(), table.as<void>()}, {N, D, R});
  expectRan(saccade_cuda_scatterRows.forward[BF16](&*scatter), scatter);
  for (int64_t r = 0; r < R; r++) {
    expectSame("into", table.as<uint16_t>() + index[(size_t)r] * D, rows.data() + r * D, D);
  }
  Launch gather({table.as<void>(), index.data(), back.data()}, {N, D, R});
  expectRan(saccade_cuda_gatherRows.forward[BF16](&*gather), gather);
  expectSame("y", back.data(), rows.data(), R * D);
}

CHECK("offsets: a cache of more than 2^32 elements is decoded, by a row and by a group") {
  // Both rows share 128 of the keys.
  constexpr int64_t N = 2, H = 2, G = 2, D = 128, C = HUGE_COUNT / (G * D) + 300, KEPT = 150;
  Sparse k(C * G * D * 2), v(C * G * D * 2);
  std::vector<uint16_t> q((size_t)(N * H * D)), out[2];
  std::vector<float> lse[2];
  fill(q.data(), N * H * D, 7);
  uint16_t *lastK = k.as<uint16_t>() + (C - KEPT) * G * D, *lastV = v.as<uint16_t>() + (C - KEPT) * G * D;
  fill(lastK, KEPT * G * D, 8);
  fill(lastV, KEPT * G * D, 9);
  std::vector<int32_t> offsets = {0, 2, 4};
  for (const bool isWhole : {true, false}) {
    const int32_t first = isWhole ? (int32_t)(C - KEPT) : 0;
    std::vector<int32_t> spans = {first, first + 70, first + 70, first + (int32_t)KEPT,
                                  first, first + 130, first + 140, first + 145};
    std::vector<uint16_t>& result = out[isWhole];
    std::vector<float>& sums = lse[isWhole];
    result.resize((size_t)(N * H * D));
    sums.resize((size_t)(N * H));
    // Dims: N H D C G R U2 O.
    Launch launch({q.data(), isWhole ? k.as<void>() : lastK, isWhole ? v.as<void>() : lastV,
                   spans.data(), offsets.data(), result.data(), sums.data()},
                  {N, H, D, isWhole ? C : KEPT, G, 4, 2, N + 1}, {0.0, 0.0});
    const Launches launches;
    expectRan(saccade_cuda_attentionDecode.forward[BF16](&*launch), launch);
    expect(launches.grids.size() == 3, "%zu launches", launches.grids.size());
  }
  expectSame("out", out[1].data(), out[0].data(), N * H * D);
  expect(lse[0] == lse[1], "the sums are %g and %g", lse[0][0], lse[1][0]);
}

CHECK("sort: indices of several tiles are in order, equal ones in that of their list") {
  Draw draw(10);
  for (const int64_t count : {1, 2, 1000, 1024, 1025, 2048, 5000}) {
    const int64_t bound = 1 + draw.below(300);
    std::vector<int32_t> indices;
    std::vector<uint64_t> wanted;
    for (int64_t n = 0; n < count; n++) {
      // Now and then one out of range: it comes last, whatever it is.
      const bool isOut = draw.below(40) == 0;
      const int64_t index = isOut ? (n % 2 ? -1 : INT32_MAX) : draw.below(bound);
      indices.push_back((int32_t)index);
      wanted.push_back(isOut ? NO_KEY : (uint64_t)index << 32 | (uint64_t)n);
    }
    std::sort(wanted.begin(), wanted.end());
    Launch launch({}, {});
    const IndexList list = {indices.data(), count, bound, 0, refusalOf(*launch)};
    const uint64_t* keys = sortIndices(*launch, list);
    for (int64_t n = 0; n < count; n++) {
      expect(keys[n] == wanted[(size_t)n], "of %ld the key at %ld is of index %ld, place %ld",
             (long)count, (long)n, (long)indexOf(keys[n]), (long)placeOf(keys[n]));
    }
    if (!keys || wanted.back() == NO_KEY) continue;
    expect(launch.fault().launch == 0, "a sound list is refused");
  }
}
