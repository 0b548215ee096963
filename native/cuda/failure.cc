#include "failure.h"

#include <cstdio>
#include <exception>
#include <new>

namespace saccade {

std::string wordsOf(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

std::string sizeInWords(int64_t bytes) {
  char text[64];
  const double size = static_cast<double>(bytes);
  if (bytes >= int64_t{1} << 30) std::snprintf(text, sizeof text, "%.1f GiB", size / (1 << 30));
  else if (bytes >= 1 << 20) std::snprintf(text, sizeof text, "%.1f MiB", size / (1 << 20));
  else std::snprintf(text, sizeof text, "%lld bytes", static_cast<long long>(bytes));
  return text;
}

void expect(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  // Otherwise the next launch would be blamed for it.
  cudaGetLastError();
  const bool isMemory = error == cudaErrorMemoryAllocation;
  throw DeviceFailure{
      isMemory ? SACCADE_OUT_OF_MEMORY : SACCADE_FAILED, cudaGetErrorName(error),
      std::string(doing) + " failed (" + wordsOf(error) + "). " +
          (isMemory ? "End what else runs on the device, or take another one."
                    : "Run `saccade doctor`, and nvidia-smi for the state of the device.")};
}

SaccadeOutcome describeException(SaccadeFailure* failure) {
  const auto fill = [failure](const std::string& driver, const std::string& message) {
    std::snprintf(failure->driver, sizeof failure->driver, "%s", driver.c_str());
    std::snprintf(failure->message, sizeof failure->message, "%s", message.c_str());
  };
  try {
    throw;
  } catch (const DeviceFailure& known) {
    fill(known.driver, known.message);
    return known.outcome;
  } catch (const std::bad_alloc&) {
    fill("std::bad_alloc", "The host has no memory left for the device's queue. Use smaller batches.");
    return SACCADE_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    fill("std::exception", std::string("The device's queue failed: ") + error.what() + ". Open another backend.");
    return SACCADE_FAILED;
  }
}

}  // namespace saccade
