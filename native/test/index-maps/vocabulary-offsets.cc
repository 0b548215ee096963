// Log-probabilities and sampling where hidden states, their pieces or the head have more than 2^32
// elements: the last rows and entries have the bits of the same alone. See offsets.cc.
#include "arrays.h"

#include <cmath>

#include "../../../kernels/cuda/parts/vocabulary.cuh"

using namespace saccade;
using maps::BF16;
using maps::expect;
using maps::expectRan;
using maps::expectSame;
using maps::fill;
using maps::Grid;
using maps::HUGE_COUNT;
using maps::Launch;
using maps::Launches;
using maps::Sparse;

extern "C" {
extern const SaccadeDeviceKernel saccade_cuda_linearLogprob, saccade_cuda_linearSample;
}

namespace {

constexpr int64_t ROWS = 3;

// The last rows of an array of `count` rows.
template <class T>
T* lastOf(const Sparse& array, int64_t count, int64_t width) {
  return array.as<T>() + (count - ROWS) * width;
}

// Every piece of the vocabulary of the last tile of rows, whatever its width; of other grids, which
// have a block to a row, the last rows.
maps::Blocks lastRowsOf(int64_t N) {
  const int64_t tiles = divideUp(N, WideTile::ROWS);
  static_assert(WideGroupTile::ROWS == WideTile::ROWS && NarrowGroupTile::ROWS == WideTile::ROWS,
                "tiles of all shapes have as many rows");
  return [=](const Grid& grid, int i, emulator::Index3* block) {
    const bool isFold = grid.grid.x != N;
    *block = {(uint32_t)(isFold ? (i + 1) * tiles - 1 : N - ROWS + i), 0, 0};
    return i < (isFold ? grid.grid.x / tiles : ROWS);
  };
}

}  // namespace

CHECK("offsets: rows are scored and sampled where hidden states and pieces pass 2^32") {
  // Ten folds: the pieces of the last row lie beyond 2^32 too.
  constexpr int64_t D = 8, N = HUGE_COUNT / D + ROWS, V = 10 * FOLD - 60;
  Sparse hidden(N * D * 2), targets(N * 4), keys(N * 16), tokens(N * 4);
  Sparse logprobs(N * 4), entropy(N * 4), lse(N * 4);
  std::vector<uint16_t> weight((size_t)(V * D));
  fill(weight.data(), V * D, 21);
  uint16_t* rows = lastOf<uint16_t>(hidden, N, D);
  fill(rows, ROWS * D, 22);
  int32_t *target = lastOf<int32_t>(targets, N, 1), *key = lastOf<int32_t>(keys, N, 4);
  for (int32_t n = 0; n < ROWS; n++) target[n] = n * 400;
  for (int32_t i = 0; i < ROWS * 4; i++) key[i] = 1000 + 77 * i;
  Launch score({hidden.as<void>(), weight.data(), targets.as<void>(), logprobs.as<void>(),
                entropy.as<void>(), lse.as<void>()}, {N, D, V}, {0.7});
  {
    Launches launches(lastRowsOf(N));
    expectRan(saccade_cuda_linearLogprob.forward[BF16](&*score), score);
  }
  float alone[3][ROWS];
  Launch scorePart({rows, weight.data(), target, alone[0], alone[1], alone[2]}, {ROWS, D, V}, {0.7});
  expectRan(saccade_cuda_linearLogprob.forward[BF16](&*scorePart), scorePart);
  expectSame("logprobs", lastOf<float>(logprobs, N, 1), alone[0], ROWS);
  expectSame("entropy", lastOf<float>(entropy, N, 1), alone[1], ROWS);
  expectSame("lse", lastOf<float>(lse, N, 1), alone[2], ROWS);

  Launch draw({hidden.as<void>(), weight.data(), keys.as<void>(), tokens.as<void>(),
               logprobs.as<void>()}, {N, D, V, 4}, {0.7});
  {
    Launches launches(lastRowsOf(N));
    expectRan(saccade_cuda_linearSample.forward[BF16](&*draw), draw);
  }
  int32_t drawn[ROWS];
  Launch drawPart({rows, weight.data(), key, drawn, alone[0]}, {ROWS, D, V, 4}, {0.7});
  expectRan(saccade_cuda_linearSample.forward[BF16](&*drawPart), drawPart);
  for (int64_t n = 0; n < ROWS; n++) {
    const int32_t token = lastOf<int32_t>(tokens, N, 1)[n];
    expect(token == drawn[n], "token %ld is %d, expected %d", (long)n, token, drawn[n]);
  }
  expectSame("logprobs of tokens", lastOf<float>(logprobs, N, 1), alone[0], ROWS);
}

CHECK("offsets: hidden states of more than 2^32 elements get their gradients") {
  // Three folds and one tile of columns: of every grid the last three blocks have the last rows.
  constexpr int64_t D = 128, N = HUGE_COUNT / D + ROWS, V = 300;
  Sparse hidden(N * D * 2), targets(N * 4), dHidden(N * D * 2), numbers[4] = {
      Sparse(N * 4), Sparse(N * 4), Sparse(N * 4), Sparse(N * 4)};
  std::vector<uint16_t> weight((size_t)(V * D)), alone((size_t)(ROWS * D));
  fill(weight.data(), V * D, 23);
  uint16_t* rows = lastOf<uint16_t>(hidden, N, D);
  fill(rows, ROWS * D, 24);
  int32_t* target = lastOf<int32_t>(targets, N, 1);
  for (int32_t n = 0; n < ROWS; n++) target[n] = n == 1 ? -1 : n * 140;
  // dLogprobs, dEntropy, entropy, lse.
  float* last[4];
  for (int i = 0; i < 4; i++) {
    last[i] = lastOf<float>(numbers[i], N, 1);
    for (int64_t n = 0; n < ROWS; n++) last[i][n] = (float)(i == 3 ? 200 : i + 1) + 0.25f * (float)n;
  }
  // Operands: dLogprobs, dEntropy, hidden, weight, targets, logprobs, entropy, lse, dHidden,
  // dWeight.
  Launch whole({numbers[0].as<void>(), numbers[1].as<void>(), hidden.as<void>(), weight.data(),
                targets.as<void>(), nullptr, numbers[2].as<void>(), numbers[3].as<void>(),
                dHidden.as<void>(), nullptr}, {N, D, V}, {1.3});
  {
    Launches launches(maps::lastBlocks(3));
    expectRan(saccade_cuda_linearLogprob.backward[BF16](&*whole), whole);
  }
  Launch part({last[0], last[1], rows, weight.data(), target, nullptr, last[2], last[3],
               alone.data(), nullptr}, {ROWS, D, V}, {1.3});
  expectRan(saccade_cuda_linearLogprob.backward[BF16](&*part), part);
  expectSame("dHidden", lastOf<uint16_t>(dHidden, N, D), alone.data(), ROWS * D);
  expect(alone[0] != 0, "the gradients are zeros");
}

CHECK("offsets: a head of more than 2^32 elements is scored, sampled and gets its gradients") {
  // Twenty chunks of whole tiles, so that the last block of each grid has the last entries.
  constexpr int64_t D = 64, V = FOLD * 20 * 26215;
  static_assert(V * D > HUGE_COUNT, "the head is large");
  Sparse weight(V * D * 2), dWeight(V * D * 4);
  uint16_t* entries = weight.as<uint16_t>() + (V - FOLD) * D;
  std::vector<uint16_t> hidden((size_t)(ROWS * D));
  fill(entries, FOLD * D, 25);
  fill(hidden.data(), ROWS * D, 26);
  std::vector<float> alone((size_t)(FOLD * D));
  // As a target counts in the whole head, and among its last entries.
  int32_t targets[2][ROWS], keys[4 * ROWS] = {}, tokens[2][ROWS];
  float scores[2][3][ROWS], given[2][ROWS] = {{1, -2, 0.5f}, {0.5f, 1, -1}};
  for (int32_t n = 0; n < ROWS; n++) {
    targets[1][n] = 50 * n;
    targets[0][n] = (int32_t)(V - FOLD) + targets[1][n];
  }
  for (const int side : {0, 1}) {
    const int64_t own = side == 0 ? V : FOLD;
    void* head = side == 0 ? weight.as<void>() : entries;
    const Launches launches(maps::lastBlocks(side == 0 ? (int)ROWS : 1 << 20));
    Launch score({hidden.data(), head, targets[side], scores[side][0], scores[side][1],
                  scores[side][2]}, {ROWS, D, own}, {1.0});
    expectRan(saccade_cuda_linearLogprob.forward[BF16](&*score), score);
    Launch draw({hidden.data(), head, keys, tokens[side], scores[side][0]}, {ROWS, D, own, 4}, {0.0});
    expectRan(saccade_cuda_linearSample.forward[BF16](&*draw), draw);
    // Both from the lse of the entries alone: the whole's is summed in another order.
    Launch differentiate({given[0], given[1], hidden.data(), head, targets[side], nullptr, given[1],
                          scores[0][2], nullptr, side == 0 ? dWeight.as<void>() : alone.data()},
                         {ROWS, D, own}, {1.0});
    expectRan(saccade_cuda_linearLogprob.backward[BF16](&*differentiate), differentiate);
  }
  for (int64_t n = 0; n < ROWS; n++) {
    expect(tokens[0][n] == (int32_t)(V - FOLD) + tokens[1][n], "token %ld is %d", (long)n, tokens[0][n]);
    expect(std::fabs(scores[0][2][n] - scores[1][2][n]) < 1e-4f, "lse is %g, expected %g",
           scores[0][2][n], scores[1][2][n]);
  }
  expectSame("dWeight", dWeight.as<float>() + (V - FOLD) * D, alone.data(), FOLD * D);
}
