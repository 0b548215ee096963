// Measures the peak performance of this machine: the roofline that kernels are compared with.
#pragma once

#include <cstdint>
#include <string>

namespace saccade {

struct Peaks {
  // Floating-point operations per second of multiply-adds in registers, by storage type.
  double f32 = 0;
  double bf16 = 0;
  // Bytes per second of reading memory front to back.
  double readBytes = 0;
};

// Measures with `threads` threads of its own and the vectors of `instructionSet`; each thread reads
// its share of `bytes` bytes, over and over if they are few. Takes about 0.2 s. The best of several
// short trials: what else the machine does can only make it slower.
Peaks probePeak(const std::string& instructionSet, int32_t threads, int64_t bytes);

}  // namespace saccade
