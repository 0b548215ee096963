// Hopper's products of a warpgroup (parts/warpgroup.cuh), on the CPU: computed when they are waited
// for, from what the panels hold then, so that a panel overwritten too early gives wrong sums here
// too.
#pragma once

#include "device-emulation.h"

namespace saccade {

inline int32_t notBefore(int32_t value) { return value; }
inline int32_t sameInWarp(int32_t value) { return value; }

// An operand's panels; `row` and `depth` are added to those of an element.
struct GroupOperand {
  const uint8_t* panels;
  int row, depth, panelBytes;
};
inline GroupOperand operandAlong(const uint8_t* panel, int row, int step) {
  return {panel, row, 16 * step, 0};
}
inline GroupOperand operandAcross(const uint8_t* panels, int step, int panelBytes) {
  return {panels, 0, 16 * step, panelBytes};
}
template <Lie LIE>
GroupOperand operandAhead(const GroupOperand& operand, int bytes, int steps) {
  return {operand.panels + bytes, operand.row, operand.depth + 16 * steps, operand.panelBytes};
}

inline void publishPanels() {}
inline void beginProducts() {}
inline void commitProducts() { emulator::commitProducts(); }
template <int LEFT>
inline void waitProducts() {
  emulator::waitProducts(LEFT);
}
template <int COUNT>
inline void holdSums(float (&)[COUNT][4]) {}

namespace emulator {

// The element at a row (of the result's rows or columns) and depth of an operand.
template <class T, Lie LIE>
float elementOf(const GroupOperand& operand, int row, int depth) {
  if ((operand.panels - sharedMemory()) % 1024 != 0) {
    std::fprintf(stderr, "A panel that a warpgroup reads does not begin at a multiple of 1024.\n");
    std::abort();
  }
  const uint8_t* panel = operand.panels;
  int r = operand.row + row, column = operand.depth + depth;
  if (LIE == Lie::across) {
    panel += row / PANEL<T> * operand.panelBytes;
    r = operand.depth + depth;
    column = row % PANEL<T>;
  }
  T element;
  std::memcpy(&element, panel + elementOffset<T>(r, column), sizeof element);
  return widened(element);
}

// Row of a sum within the warpgroup's 64, and its column.
inline int rowOfSum(int i) {
  const int thread = (int)place().thread.x;
  return thread / WARP % 4 * 16 + thread % WARP / 4 + 8 * (i / 2);
}
inline int columnOfSum(int tile, int i) { return 8 * tile + place().lane % 4 * 2 + i % 2; }

// Adds to every sum of this thread, or to zeros, 16 products in order.
template <class T, Lie RIGHT, bool ADDS, int COUNT, class LeftOf>
void addProducts(float (*sums)[4], const GroupOperand& right, const LeftOf& leftOf) {
  if (!ADDS) std::memset(sums, 0, COUNT * sizeof *sums);
  for (int depth = 0; depth < 16; depth++) {
    const float lefts[2] = {leftOf(0, depth), leftOf(1, depth)};
    for (int tile = 0; tile < COUNT; tile++) {
      for (int p = 0; p < 2; p++) {
        const float value = elementOf<T, RIGHT>(right, columnOfSum(tile, p), depth);
        for (int half = 0; half < 2; half++) sums[tile][2 * half + p] += lefts[half] * value;
      }
    }
  }
}

// Each lane gets the words of the four lanes that hold its rows.
inline void gatherQuads(const uint32_t (*brought)[MEETING_WORDS],
                        uint32_t (*taken)[MEETING_WORDS], const void*) {
  for (int lane = 0; lane < WARP; lane++) {
    for (int i = 0; i < 16; i++) taken[lane][i] = brought[lane / 4 * 4 + i / 4][i % 4];
  }
}

}  // namespace emulator

template <class T, Lie LEFT, Lie RIGHT, bool ADDS = true, int COUNT>
void multiplyPanels(float (&sums)[COUNT][4], const GroupOperand& left, const GroupOperand& right) {
  float(*at)[4] = sums;
  emulator::deferProduct([=] {
    emulator::addProducts<T, RIGHT, ADDS, COUNT>(at, right, [&](int half, int depth) {
      return emulator::elementOf<T, LEFT>(left, emulator::rowOfSum(2 * half), depth);
    });
  });
}
template <class T, Lie RIGHT, bool ADDS = true, int COUNT>
void multiplyHeld(float (&sums)[COUNT][4], const Fragment<T>& left, const GroupOperand& right) {
  struct Words {
    uint32_t of[16];
  } quad;
  emulator::meetWarp(emulator::gatherQuads, nullptr, left.words, 4, quad.of, 16);
  float(*at)[4] = sums;
  emulator::deferProduct([=] {
    emulator::addProducts<T, RIGHT, ADDS, COUNT>(at, right, [&](int half, int depth) {
      // Lane c of the quad holds depths 2c and 2c + 1 of words 0 and 1, eight more in words 2 and
      // 3.
      const uint32_t word = quad.of[depth % 8 / 2 * 4 + half + 2 * (depth / 8)];
      T element;
      const uint16_t bits = (uint16_t)(word >> (16 * (depth % 2)));
      std::memcpy(&element, &bits, sizeof element);
      return widened(element);
    });
  });
}

}  // namespace saccade
