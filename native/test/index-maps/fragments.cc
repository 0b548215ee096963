// Operands of tensor cores: which element each lane holds, by the tables of the PTX manual, and the
// products that come of it.
#include "checks.h"
#include "launches.h"

#include <cmath>

#include "../../../kernels/cuda/parts/fragment.cuh"

using namespace saccade;
using maps::Draw;
using maps::expect;

namespace {

// An element by two numbers, exact in every type and the same after a split into tf32 parts.
constexpr int ROWS = 32;
float codeOf(int row, int column) { return (float)(row * 32 + column); }
// 16-bit types hold too few whole numbers: their bits are the code.
template <class T>
T coded(int row, int column) {
  return {(uint16_t)(row * 64 + column)};
}
template <>
float coded<float>(int row, int column) {
  return codeOf(row, column);
}

template <class T>
void fillPanel(uint8_t* panel) {
  for (int row = 0; row < PANEL<T>; row++) {
    for (int column = 0; column < PANEL<T>; column++) {
      *reinterpret_cast<T*>(panel + elementOffset<T>(row, column)) = coded<T>(row, column);
    }
  }
}

// The left operand's row and depth in each half of a lane's words: tables of mma.m16n8k16 with
// 16-bit elements and of mma.m16n8k8 with tf32.
struct Held {
  int row, depth;
};
template <class T>
Held leftHeld(int lane, int word, int part) {
  const int g = lane / 4, c = lane % 4;
  // a0: (g, c), a1: (g + 8, c), a2: (g, c + 4), a3: (g + 8, c + 4).
  if (sizeof(T) == 4) return {g + 8 * (word == 1 || word == 3), c + 4 * (word >= 2)};
  // a0, a1: (g, 2c + {0, 1}), a2, a3: (g + 8, same), a4, a5: (g, 8 + same), a6, a7: (g + 8, 8 + same).
  return {g + 8 * (word == 1 || word == 3), 2 * c + part + 8 * (word >= 2)};
}

// `at(row, depth)`: where the panel has the fragment's element.
template <class T, class At>
void expectFragment(const char* what, const Fragment<T>& fragment, int lane, const At& at) {
  constexpr int PARTS = 4 / (int)sizeof(T);
  for (int word = 0; word < 4; word++) {
    for (int part = 0; part < PARTS; part++) {
      const Held held = leftHeld<T>(lane, word, part);
      const Held from = at(held.row, held.depth);
      const T wanted = coded<T>(from.row, from.depth);
      uint32_t bits = 0;
      std::memcpy(&bits, &wanted, sizeof wanted);
      const uint32_t got =
          PARTS == 1 ? fragment.words[word] : fragment.words[word] >> (16 * part) & 0xffff;
      expect(got == bits, "%s: lane %d, word %d holds %x, expected %x", what, lane, word, got, bits);
    }
  }
}

template <class T>
void checkLoads(const char* type) {
  maps::runBlock(32, PANEL<T> * PANEL_BYTES, [&] {
    const int lane = laneOf((int)threadIdx.x);
    if (lane == 0) fillPanel<T>(sharedMemory());
    syncBlock();
    for (int row = 0; row + 16 <= PANEL<T>; row += 16) {
      for (int step = 0; step < 4; step++) {
        Fragment<T> along;
        loadAlong<T>(along, sharedMemory(), row, step, lane);
        expectFragment<T>(type, along, lane, [=](int r, int d) {
          return Held{row + r, step * DEPTH<T> + d};
        });
        Fragment<T> across;
        const int depth = step * DEPTH<T>;
        loadAcross<T>(across, sharedMemory(), depth, row, lane);
        expectFragment<T>(type, across, lane, [=](int r, int d) { return Held{depth + d, row + r}; });
      }
    }
  });
}

// Panels along and across the depth of whole numbers, and the products of all their parts.
template <class T>
struct Factors {
  float left[16][64], right[16][64];
};

template <class T>
void checkProducts(const char* type, bool isLeftAcross, bool isRightAcross) {
  constexpr int SIZE = PANEL<T> * PANEL_BYTES;
  Factors<T> factors;
  Draw draw(sizeof(T) + 2 * isLeftAcross + isRightAcross);
  for (int i = 0; i < 16; i++) {
    for (int d = 0; d < PANEL<T>; d++) factors.left[i][d] = draw.small(), factors.right[i][d] = draw.small();
  }
  maps::runBlock(32, 2 * SIZE, [&] {
    const int lane = laneOf((int)threadIdx.x);
    uint8_t* panels[2] = {sharedMemory(), sharedMemory() + SIZE};
    const auto put = [&](int panel, bool isAcross, int i, int d, float value) {
      const int at = isAcross ? elementOffset<T>(d, i) : elementOffset<T>(i, d);
      *reinterpret_cast<T*>(panels[panel] + at) = rounded<T>(value);
    };
    for (int i = 0; lane == 0 && i < 16; i++) {
      for (int d = 0; d < PANEL<T>; d++) {
        put(0, isLeftAcross, i, d, factors.left[i][d]);
        put(1, isRightAcross, i, d, factors.right[i][d]);
      }
    }
    syncBlock();
    float tiles[2][4] = {};
    for (int step = 0; step < 4; step++) {
      Fragment<T> left, right;
      if (isLeftAcross) loadAcross<T>(left, panels[0], step * DEPTH<T>, 0, lane);
      else loadAlong<T>(left, panels[0], 0, step, lane);
      if (isRightAcross) loadAcross<T>(right, panels[1], step * DEPTH<T>, 0, lane);
      else loadAlong<T>(right, panels[1], 0, step, lane);
      multiply(tiles[0], tiles[1], left, right);
    }
    for (int tile = 0; tile < 2; tile++) {
      for (int i = 0; i < 4; i++) {
        // c0, c1: (g, 2c + {0, 1}), c2, c3: (g + 8, same).
        const int row = lane / 4 + 8 * (i / 2), column = 8 * tile + 2 * (lane % 4) + i % 2;
        float sum = 0;
        for (int d = 0; d < PANEL<T>; d++) sum += factors.left[row][d] * factors.right[column][d];
        expect(tiles[tile][i] == sum, "%s: (%d, %d) is %g, expected %g", type, row, column,
               tiles[tile][i], sum);
      }
    }
  });
}

// (left · right) · third, the sums of the first product being the left operand of the second.
template <class T>
void checkChains(const char* type) {
  constexpr int SIZE = PANEL<T> * PANEL_BYTES, DEPTHS = DEPTH<T>;
  float first[16][DEPTHS], third[DEPTHS][16];
  Draw draw(7 * sizeof(T));
  for (int d = 0; d < DEPTHS; d++) {
    for (int i = 0; i < 16; i++) first[i][d] = draw.small(), third[d][i] = draw.small();
  }
  maps::runBlock(32, SIZE, [&] {
    const int lane = laneOf((int)threadIdx.x);
    for (int d = 0; lane == 0 && d < DEPTHS; d++) {
      for (int i = 0; i < 16; i++) {
        *reinterpret_cast<T*>(sharedMemory() + elementOffset<T>(d, i)) = rounded<T>(third[d][i]);
      }
    }
    syncBlock();
    float tiles[CHAINED_TILES<T>][4];
    for (int tile = 0; tile < CHAINED_TILES<T>; tile++) {
      for (int i = 0; i < 4; i++) {
        tiles[tile][i] = first[lane / 4 + 8 * (i / 2)][8 * tile + 2 * (lane % 4) + i % 2];
      }
    }
    Fragment<T> left, right;
    chain<T>(left, tiles);
    loadAcrossChained<T>(right, sharedMemory(), 0, 0, lane);
    float sums[2][4] = {};
    multiply(sums[0], sums[1], left, right);
    for (int tile = 0; tile < 2; tile++) {
      for (int i = 0; i < 4; i++) {
        const int row = lane / 4 + 8 * (i / 2), column = 8 * tile + 2 * (lane % 4) + i % 2;
        float sum = 0;
        for (int d = 0; d < DEPTHS; d++) sum += first[row][d] * third[d][column];
        expect(sums[tile][i] == sum, "%s: (%d, %d) is %g, expected %g", type, row, column,
               sums[tile][i], sum);
      }
    }
  });
}

}  // namespace

CHECK("fragment: lanes hold what the tables of ldmatrix and mma say, along and across the depth") {
  checkLoads<float>("float32");
  checkLoads<Bf16>("bf16");
  checkLoads<F16>("f16");
}

CHECK("fragment: products of panels in every lie are those of the matrices") {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      checkProducts<float>("float32", left, right);
      checkProducts<Bf16>("bf16", left, right);
      checkProducts<F16>("f16", left, right);
    }
  }
}

CHECK("fragment: a product's sums are the next one's left operand") {
  checkChains<float>("float32");
  checkChains<Bf16>("bf16");
  checkChains<F16>("f16");
}

CHECK("fragment: float32 is multiplied in parts to 2^-20 of the products' size") {
  Draw draw(11);
  maps::runBlock(32, PANEL<float> * PANEL_BYTES, [&] {
    const int lane = laneOf((int)threadIdx.x);
    static float values[16][8];
    for (int i = 0; lane == 0 && i < 16; i++) {
      for (int d = 0; d < 8; d++) {
        values[i][d] = 1.0f + (float)draw.below(1 << 22) / (float)(1 << 22);
        *reinterpret_cast<float*>(sharedMemory() + elementOffset<float>(i, d)) = values[i][d];
      }
    }
    syncBlock();
    Fragment<float> fragment;
    loadAlong<float>(fragment, sharedMemory(), 0, 0, lane);
    float tiles[2][4] = {};
    multiply(tiles[0], tiles[1], fragment, fragment);
    for (int tile = 0; tile < 2; tile++) {
      for (int i = 0; i < 4; i++) {
        const int row = lane / 4 + 8 * (i / 2), column = 8 * tile + 2 * (lane % 4) + i % 2;
        double sum = 0;
        for (int d = 0; d < 8; d++) sum += (double)values[row][d] * values[column][d];
        const double error = std::fabs(tiles[tile][i] - sum) / sum;
        expect(error < 0x1p-20, "(%d, %d) is off by %g", row, column, error);
      }
    }
  });
}
