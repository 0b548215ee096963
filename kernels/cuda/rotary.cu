// y₁ = x₁∘cos − x₂∘sin, y₂ = x₂∘cos + x₁∘sin over the halves of each head; the backward turns back.
//
// Layout: x, y [T,H,D], cos and sin [T,E] in float32, D = 2E. A block owns a token; a thread owns
// 16 bytes of both halves of a head at a time.
#include "parts/chunk.cuh"
#include "parts/launch.cuh"

namespace saccade {
namespace {

constexpr int THREADS = 128;

template <class T>
__global__ void __launch_bounds__(THREADS)
    rotateHeads(const T* x, const float* cosines, const float* sines, T* y, uint32_t H, uint32_t E,
                float sign, bool isAligned) {
  constexpr uint32_t WIDTH = CHUNK<T>;
  const int64_t token = blockIdx.x;
  const uint32_t chunks = (E + WIDTH - 1) / WIDTH;
  for (uint32_t item = threadIdx.x; item < H * chunks; item += THREADS) {
    const uint32_t head = item / chunks, e = item % chunks * WIDTH;
    const int64_t at = (token * H + head) * 2 * E + e;
    const bool isWhole = isAligned && E - e >= WIDTH;
    const int64_t left = (int64_t)E - e;
    float first[WIDTH], second[WIDTH];
    loadChunk(first, x + at, left, isWhole);
    loadChunk(second, x + at + E, left, isWhole);
#pragma unroll
    for (uint32_t part = 0; part < WIDTH; part += 4) {
      float c[4], s[4];
      loadChunk(c, cosines + token * E + e + part, left - part, isWhole);
      loadChunk(s, sines + token * E + e + part, left - part, isWhole);
#pragma unroll
      for (uint32_t i = 0; i < 4; i++) {
        const float sine = s[i] * sign, a = first[part + i], b = second[part + i];
        first[part + i] = a * c[i] - b * sine;
        second[part + i] = b * c[i] + a * sine;
      }
    }
    storeChunk(y + at, first, left, isWhole);
    storeChunk(y + at + E, second, left, isWhole);
  }
}

template <class T>
int rotate(const SaccadeDeviceLaunch& launch, const T* x, const float* cosines, const float* sines,
           T* y, float sign) {
  const int64_t tokens = launch.dims[0], H = launch.dims[1], D = launch.dims[2];
  const int64_t E = launch.dims[3];
  if (D != 2 * E) {
    return fail(launch,
                "the tables hold %lld angles for heads of %lld. Pass tables of half a head.",
                (long long)E, (long long)D);
  }
  if (!y || H * E == 0) return 0;
  if (!x) return fillZeros(launch, y, tokens * H * D);
  return launchKernel(launch, rotateHeads<T>, dim3((unsigned)tokens), dim3(THREADS), 0, x, cosines,
                      sines, y, (uint32_t)H, (uint32_t)E, sign,
                      areAligned({x, y, cosines, sines}) && isWholeChunks<T>(E));
}

template <class T>
int forward(const SaccadeDeviceLaunch* launch) {
  return rotate(*launch, stored<T>(*launch, 0), floats(*launch, 1), floats(*launch, 2),
                stored<T>(*launch, 3), 1.0f);
}

// Operands: dy, x, cos, sin, y, dx.
template <class T>
int backward(const SaccadeDeviceLaunch* launch) {
  return rotate(*launch, stored<T>(*launch, 0), floats(*launch, 2), floats(*launch, 3),
                stored<T>(*launch, 5), -1.0f);
}

}  // namespace

SACCADE_KERNEL(rotary, "x[T,H,D]' cos[T,E]! sin[T,E]! -> y[T,H,D]'",
               SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
