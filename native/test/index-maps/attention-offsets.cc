// Attention and its gradients over heads of more than 2^32 elements: the last segment has the bits
// of the same segment alone. See offsets.cc.
#include "arrays.h"

#include "../../../kernels/cuda/parts/attention-backward-groups.cuh"

using namespace saccade;
using maps::BF16;
using maps::expectRan;
using maps::expectSame;
using maps::fill;
using maps::HUGE_COUNT;
using maps::Launch;
using maps::Launches;
using maps::Sparse;

extern "C" {
extern const SaccadeDeviceKernel saccade_cuda_attention;
}

namespace {

constexpr int64_t H = 8, G = 2, D = 128, KEPT = 16, T = HUGE_COUNT / (G * D) + KEPT, S = 2;

// The blocks of the last segment, of all heads. It has one tile of rows, which goes first, and one
// of keys, which goes last; a tile of the first segment would walk millions of keys.
bool blocksOfLast(const maps::Grid& grid, int i, emulator::Index3* block) {
  const uint32_t width = grid.grid.x;
  // The launch of all gradients: those of keys, then those of rows.
  const uint32_t keyTiles = (uint32_t)mostTiles(T, OWNED, S);
  const uint32_t rowTiles = (uint32_t)mostTiles(T * (H / G), OWNED, S);
  const uint32_t keyBlocks = keyTiles * G * MOST_PARTS;
  if (width == keyBlocks + rowTiles * G) {
    const uint32_t head = (uint32_t)i % G;
    *block = {i < G ? head * keyTiles + keyTiles - (uint32_t)S - 1 : keyBlocks + head * rowTiles, 0,
              0};
    return i < 2 * G;
  }
  if (grid.grid.y == G) {
    const bool isKeyTiles = width == mostTiles(T, KEYS, S) || width == keyTiles;
    // Behind the last tile of keys blocks are left over for segments that end within one.
    *block = {isKeyTiles ? width - (uint32_t)S - 1 : 0, (uint32_t)i, 0};
    return i < G;
  }
  const uint32_t count = width < 20 ? width : 20;
  *block = {width - count + (uint32_t)i, 0, 0};
  return block->x < width;
}

}  // namespace

CHECK("offsets: the last of more than 2^32 elements of heads attend and get their gradients") {
  const Sparse q(T * H * D * 2), k(T * G * D * 2), v(T * G * D * 2), out(T * H * D * 2);
  const Sparse dOut(T * H * D * 2), dq(T * H * D * 2), dk(T * G * D * 2), dv(T * G * D * 2);
  const Sparse lse(H * T * 4), dLse(H * T * 4);
  const auto last = [](const Sparse& array, int64_t heads) {
    return array.as<uint16_t>() + (T - KEPT) * heads * D;
  };
  fill(last(q, H), KEPT * H * D, 31);
  fill(last(k, G), KEPT * G * D, 32);
  fill(last(v, G), KEPT * G * D, 33);
  fill(last(dOut, H), KEPT * H * D, 34);
  std::vector<uint16_t> aloneQ((size_t)(KEPT * H * D)), aloneK((size_t)(KEPT * G * D));
  std::vector<uint16_t> aloneOut = aloneQ, aloneV = aloneK;
  std::vector<float> aloneLse((size_t)(H * KEPT)), aloneDLse((size_t)(H * KEPT));
  for (int64_t h = 0; h < H; h++) {
    for (int64_t t = 0; t < KEPT; t++) {
      aloneDLse[(size_t)(h * KEPT + t)] = 0.01f * (float)(t - h);
      dLse.as<float>()[h * T + T - KEPT + t] = 0.01f * (float)(t - h);
    }
  }
  std::vector<int32_t> segments = {0, (int32_t)(T - KEPT), -1, (int32_t)(T - KEPT), (int32_t)T, -1};
  std::vector<int32_t> own = {0, (int32_t)KEPT, -1};
  const std::vector<double> scalars = {0.05, 1.0, 0.0};
  // Dims: T H D G S P.
  Launch part({last(q, H), last(k, G), last(v, G), own.data(), aloneOut.data(), aloneLse.data()},
              {KEPT, H, D, G, 1, 3}, scalars);
  expectRan(saccade_cuda_attention.forward[BF16](&*part), part);
  Launch partBack({last(dOut, H), aloneDLse.data(), last(q, H), last(k, G), last(v, G), own.data(),
                   aloneOut.data(), aloneLse.data(), aloneQ.data(), aloneK.data(), aloneV.data()},
                  {KEPT, H, D, G, 1, 3}, scalars);
  expectRan(saccade_cuda_attention.backward[BF16](&*partBack), partBack);

  const Launches launches(blocksOfLast);
  Launch whole({q.as<void>(), k.as<void>(), v.as<void>(), segments.data(), out.as<void>(),
                lse.as<void>()}, {T, H, D, G, 2, 3}, scalars);
  expectRan(saccade_cuda_attention.forward[BF16](&*whole), whole);
  Launch back({dOut.as<void>(), dLse.as<void>(), q.as<void>(), k.as<void>(), v.as<void>(),
               segments.data(), out.as<void>(), lse.as<void>(), dq.as<void>(), dk.as<void>(),
               dv.as<void>()}, {T, H, D, G, 2, 3}, scalars);
  expectRan(saccade_cuda_attention.backward[BF16](&*back), back);
  expectSame("out", last(out, H), aloneOut.data(), KEPT * H * D);
  for (int64_t h = 0; h < H; h++) {
    expectSame("lse", lse.as<float>() + h * T + T - KEPT, aloneLse.data() + h * KEPT, KEPT);
  }
  expectSame("dq", last(dq, H), aloneQ.data(), KEPT * H * D);
  expectSame("dk", last(dk, G), aloneK.data(), KEPT * G * D);
  expectSame("dv", last(dv, G), aloneV.data(), KEPT * G * D);
}
