// y₁ = x₁∘cos − x₂∘sin, y₂ = x₂∘cos + x₁∘sin over the halves of each head; the backward turns back.
//
// Layout: x, y [T,H,D], cos and sin [T,E] in float32, D = 2E. A block owns a token; a thread owns 16
// bytes of both halves of a head at a time.
#include "common/chunk.cuh"
#include "common/launch.cuh"

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
    float first[WIDTH], second[WIDTH];
    loadChunk(first, x + at, E - e, isWhole);
    loadChunk(second, x + at + E, E - e, isWhole);
#pragma unroll
    for (uint32_t i = 0; i < WIDTH; i++) {
      const bool isInside = e + i < E;
      const float c = isInside ? cosines[token * E + e + i] : 0.0f;
      const float s = isInside ? sines[token * E + e + i] * sign : 0.0f;
      const float turned = first[i] * c - second[i] * s;
      second[i] = second[i] * c + first[i] * s;
      first[i] = turned;
    }
    storeChunk(y + at, first, E - e, isWhole);
    storeChunk(y + at + E, second, E - e, isWhole);
  }
}

template <class T>
int rotate(const SaccadeDeviceLaunch& launch, const T* x, const float* cosines, const float* sines,
           T* y, float sign) {
  const int64_t tokens = launch.dims[0], H = launch.dims[1], D = launch.dims[2];
  const int64_t E = launch.dims[3];
  if (D != 2 * E) {
    return fail(launch, "the tables hold %lld angles for heads of %lld. Pass tables of half a head.",
                (long long)E, (long long)D);
  }
  if (!y || H * E == 0) return 0;
  if (!x) return fillZeros(launch, y, tokens * H * D);
  return launchKernel(launch, rotateHeads<T>, dim3((unsigned)tokens), dim3(THREADS), 0, x, cosines,
                      sines, y, (uint32_t)H, (uint32_t)E, sign,
                      areAligned({x, y}) && isWholeChunks<T>(E));
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

SACCADE_KERNEL(rotary, "x[T,H,D]' cos[T,E]! sin[T,E]! -> y[T,H,D]'", SACCADE_STORED(forward), SACCADE_STORED(backward))

}  // namespace saccade
