// Gradients of the keys of a shared prompt, whose rows are cut over several blocks.
#include "arrays.h"

#include <cmath>

#include "../../../kernels/cuda/parts/attend.cuh"

using namespace saccade;
using maps::BF16;
using maps::Draw;
using maps::expect;
using maps::expectRan;
using maps::Launch;
using maps::Launches;

extern "C" {
extern const SaccadeDeviceKernel saccade_cuda_attention;
}

namespace {

// 64 rows to a token, so that few tokens have many tiles. A prompt and two responses.
constexpr int64_t H = 64, D = 8, PROMPT = 9, T = 75;
constexpr float SCALE = 0.3f;
const std::vector<double> SCALARS = {SCALE, 1, 0};

template <class E>
struct Arrays {
  std::vector<E> q, k, v, dOut, out, dk, dv;
  std::vector<float> lse;

  explicit Arrays(int64_t tokens)
      : q((size_t)(tokens * H * D)), k((size_t)(tokens * D)), v(k), dOut(q), out(q), dk(k), dv(k),
        lse((size_t)(H * tokens), 3.0f) {}
  void fill(int64_t from, int64_t count, uint64_t seed) {
    Draw draw(seed);
    for (std::vector<E>* array : {&q, &k, &v, &dOut, &out}) {
      const int64_t width = (int64_t)array->size() / ((int64_t)lse.size() / H);
      for (int64_t i = from * width; i < (from + count) * width; i++) {
        (*array)[(size_t)i] = rounded<E>((float)(draw.below(257) - 128) / 100);
      }
    }
  }
  // Dims: T H D G S P.
  std::vector<int64_t> dims(const std::vector<int32_t>& segments) const {
    return {(int64_t)lse.size() / H, H, D, 1, (int64_t)segments.size() / 3, 3};
  }
  void attend(std::vector<int32_t> segments, int storage) {
    Launch launch({q.data(), k.data(), v.data(), segments.data(), out.data(), lse.data()},
                  dims(segments), SCALARS);
    expectRan(saccade_cuda_attention.forward[storage](&*launch), launch);
  }
  void differentiate(std::vector<int32_t> segments, int storage) {
    Launch launch({dOut.data(), nullptr, q.data(), k.data(), v.data(), segments.data(), out.data(),
                   lse.data(), nullptr, dk.data(), dv.data()}, dims(segments), SCALARS);
    expectRan(saccade_cuda_attention.backward[storage](&*launch), launch);
  }
};

const std::vector<int32_t> TREE = {0, PROMPT, -1, PROMPT, 40, 0, 40, T, 0};

bool seesKey(int64_t query, int64_t key) {
  return key <= query && (key < PROMPT || key >= 40 || query < 40);
}

}  // namespace

CHECK("parts: the keys of a shared prompt get the gradients of all rows that see them") {
  Arrays<float> arrays(T);
  arrays.fill(0, T, 51);
  arrays.attend(TREE, 0);
  {
    const Launches launches;
    arrays.differentiate(TREE, 0);
    // The plan, positions, rows, blocks of keys by part, the sum of the parts.
    expect(launches.grids.size() == 5 && launches.grids[3].grid.z == 4, "%zu launches",
           launches.grids.size());
  }
  std::vector<double> dk((size_t)(T * D)), dv((size_t)(T * D));
  for (int64_t t = 0; t < T; t++) {
    for (int64_t h = 0; h < H; h++) {
      const float *q = &arrays.q[(size_t)((t * H + h) * D)], *g = &arrays.dOut[(size_t)((t * H + h) * D)];
      const auto dot = [](const float* a, const float* b) {
        double sum = 0;
        for (int64_t d = 0; d < D; d++) sum += (double)a[d] * b[d];
        return sum;
      };
      double sum = 0, delta = 0;
      for (int64_t key = 0; key < T; key++) {
        if (seesKey(t, key)) sum += std::exp(SCALE * dot(q, &arrays.k[(size_t)(key * D)]));
      }
      const auto weight = [&](int64_t key) {
        return seesKey(t, key) ? std::exp(SCALE * dot(q, &arrays.k[(size_t)(key * D)])) / sum : 0.0;
      };
      for (int64_t key = 0; key < T; key++) delta += weight(key) * dot(g, &arrays.v[(size_t)(key * D)]);
      for (int64_t key = 0; key < T; key++) {
        const double p = weight(key), ds = p * (dot(g, &arrays.v[(size_t)(key * D)]) - delta);
        for (int64_t d = 0; d < D; d++) {
          dk[(size_t)(key * D + d)] += SCALE * ds * q[d];
          dv[(size_t)(key * D + d)] += p * g[d];
        }
      }
    }
  }
  for (size_t i = 0; i < dk.size(); i++) {
    expect(std::fabs(arrays.dk[i] - dk[i]) < 1e-3, "dk: element %zu is %g, expected %g", i, arrays.dk[i], dk[i]);
    expect(std::fabs(arrays.dv[i] - dv[i]) < 1e-3, "dv: element %zu is %g, expected %g", i, arrays.dv[i], dv[i]);
  }
}

CHECK("parts: sums are cut at the same places whatever shares the batch") {
  constexpr int64_t BEFORE = 21;
  // Whatever the outputs were: the sums are asked for, not what they mean.
  Arrays<Bf16> alone(T), among(BEFORE + T);
  alone.fill(0, T, 52);
  among.fill(0, BEFORE, 53);
  among.fill(BEFORE, T, 52);
  alone.differentiate(TREE, BF16);
  std::vector<int32_t> segments = {0, BEFORE, -1};
  for (size_t i = 0; i < TREE.size(); i++) {
    const int32_t shift = i % 3 < 2 ? (int32_t)BEFORE : TREE[i] >= 0 ? 1 : 0;
    segments.push_back(TREE[i] + shift);
  }
  among.differentiate(segments, BF16);
  for (int64_t i = 0; i < T * D; i++) {
    const size_t at = (size_t)(BEFORE * D + i);
    expect(among.dk[at].bits == alone.dk[(size_t)i].bits, "dk: element %ld is another", (long)i);
    expect(among.dv[at].bits == alone.dv[(size_t)i].bits, "dv: element %ld is another", (long)i);
  }
  expect(alone.dk[0].bits != 0, "the gradients are zeros");
}
