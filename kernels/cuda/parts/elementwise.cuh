// Each element from the same element of other arrays, a chunk a thread at a time.
#pragma once

#include "chunk.cuh"
#include "launch.cuh"

namespace saccade {

// Arrays of `count` elements; an output may be null, and may be one of the inputs.
template <class T, int INPUTS, int OUTPUTS>
struct Elements {
  const T* inputs[INPUTS];
  T* outputs[OUTPUTS];
  int64_t count;
};

// `function(inputs, outputs)` gives an element's float values from those of its inputs.
template <class T, int INPUTS, int OUTPUTS, class Function>
__global__ void __launch_bounds__(256)
    mapElements(Elements<T, INPUTS, OUTPUTS> elements, bool isAligned, Function function) {
  constexpr int WIDTH = CHUNK<T>;
  const int64_t stride = (int64_t)gridDim.x * 256 * WIDTH;
  int64_t i = ((int64_t)blockIdx.x * 256 + threadIdx.x) * WIDTH;
  for (; i < elements.count; i += stride) {
    const int64_t width = elements.count - i;
    const bool isWhole = isAligned && width >= WIDTH;
    float inputs[INPUTS][WIDTH], outputs[OUTPUTS][WIDTH];
#pragma unroll
    for (int k = 0; k < INPUTS; k++) loadChunk(inputs[k], elements.inputs[k] + i, width, isWhole);
#pragma unroll
    for (int e = 0; e < WIDTH; e++) {
      float in[INPUTS], out[OUTPUTS];
#pragma unroll
      for (int k = 0; k < INPUTS; k++) in[k] = inputs[k][e];
      function(in, out);
#pragma unroll
      for (int k = 0; k < OUTPUTS; k++) outputs[k][e] = out[k];
    }
#pragma unroll
    for (int k = 0; k < OUTPUTS; k++) {
      if (elements.outputs[k]) storeChunk(elements.outputs[k] + i, outputs[k], width, isWhole);
    }
  }
}

template <class T, int INPUTS, int OUTPUTS, class Function>
int mapAll(const SaccadeDeviceLaunch& launch, const Elements<T, INPUTS, OUTPUTS>& elements,
           const Function& function) {
  bool isAligned = true;
  for (const T* input : elements.inputs) isAligned = isAligned && areAligned({input});
  for (const T* output : elements.outputs) isAligned = isAligned && areAligned({output});
  const int64_t blocks = divideUp(elements.count, 256 * CHUNK<T>);
  // Blocks that a device runs at once, several times over.
  const int64_t most = (int64_t)launch.device->multiprocessors * 32;
  return launchKernel(launch, mapElements<T, INPUTS, OUTPUTS, Function>,
                      dim3((unsigned)(blocks < most ? blocks : most)), dim3(256), 0, elements,
                      isAligned, function);
}

}  // namespace saccade
