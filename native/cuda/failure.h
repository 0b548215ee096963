// Failures of a device, as exceptions inside this library.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "library.h"

namespace saccade {

struct DeviceFailure {
  SaccadeOutcome outcome;
  std::string driver;
  std::string message;
};

// "cudaErrorNoDevice: no CUDA-capable device is detected"
std::string wordsOf(cudaError_t error);
// "1.5 GiB", "300 bytes"
std::string sizeInWords(int64_t bytes);

// Throws unless the call succeeded; `doing` is what was tried: "opening a stream". Without an open
// device nobody can say whether it still runs; see OpenDevice::expect.
void expect(cudaError_t error, const char* doing);

// Fills `failure` from the exception being handled.
SaccadeOutcome describeException(SaccadeFailure* failure);

// Runs `body` and turns what it throws into an outcome.
template <class Body>
SaccadeOutcome guarded(SaccadeFailure* failure, const Body& body) {
  try {
    body();
    return SACCADE_DONE;
  } catch (...) {
    return describeException(failure);
  }
}

}  // namespace saccade
