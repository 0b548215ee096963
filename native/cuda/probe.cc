#include "probe.h"

#include <cstdio>
#include <string>

#include "failure.h"

namespace saccade {
namespace {

// The lowest compute capability that kernels are compiled for.
constexpr int32_t LOWEST_CAPABILITY = 80;

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string obstacleOf(const cudaDeviceProp& properties, int32_t capability, int32_t index) {
  if (capability < LOWEST_CAPABILITY) {
    return "it has compute capability " + std::to_string(properties.major) + "." +
           std::to_string(properties.minor) + "; kernels need 8.0. Use another device.";
  }
  int hasPools = 0;
  const cudaError_t error =
      cudaDeviceGetAttribute(&hasPools, cudaDevAttrMemoryPoolsSupported, index);
  if (error == cudaSuccess && hasPools == 0) {
    return "its driver has no memory pools. Update the driver, or allow them in the settings of "
           "the virtual GPU.";
  }
  return "";
}

}  // namespace

int32_t countDevices() {
  int driver = 0;
  int runtime = 0;
  int count = 0;
  expect(cudaRuntimeGetVersion(&runtime), "asking for the version of the CUDA runtime");
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    cudaGetLastError();
    throw DeviceFailure{SACCADE_FAILED, "cudaErrorInsufficientDriver",
                        "No NVIDIA driver is installed. Install one for CUDA " + version(runtime) +
                            " or newer."};
  }
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess) return count;
  cudaGetLastError();
  throw DeviceFailure{SACCADE_FAILED, cudaGetErrorName(error),
                      "The NVIDIA driver (for CUDA " + version(driver) +
                          ") offers no device (" + wordsOf(error) + "). Kernels are built with CUDA " +
                          version(runtime) + ": update the driver if it is older, and see what " +
                          "nvidia-smi says."};
}

SaccadeDeviceInfo describeDevice(int32_t index) {
  cudaDeviceProp properties;
  expect(cudaGetDeviceProperties(&properties, index), "asking a device for its properties");
  SaccadeDeviceInfo info{};
  std::snprintf(info.name, sizeof info.name, "%s", properties.name);
  info.computeCapability = 10 * properties.major + properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.memoryBytes = static_cast<int64_t>(properties.totalGlobalMem);
  const std::string obstacle = obstacleOf(properties, info.computeCapability, index);
  std::snprintf(info.obstacle, sizeof info.obstacle, "%s", obstacle.c_str());
  return info;
}

}  // namespace saccade
