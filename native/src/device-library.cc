#include "device-library.h"

#if !defined(_WIN32)
#include <dlfcn.h>
#endif

#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace saccade {

DeviceLibrary::DeviceLibrary(const SaccadeDeviceLibrary& functions)
    : functions_(functions), kernels_(functions.kernels, functions.kernels + functions.kernelCount),
      forms_(formsOf(kernels_)) {}

const DeviceLibrary& DeviceLibrary::open(const std::string& path) {
  static std::mutex mutex;
  static auto& opened = *new std::map<std::string, std::unique_ptr<DeviceLibrary>>();
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<DeviceLibrary>& library = opened[path];
  if (library) return *library;
#if defined(_WIN32)
  throw std::runtime_error("Libraries of device kernels are for Linux alone.");
#else
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw std::runtime_error(dlerror());
  const auto entry =
      reinterpret_cast<SaccadeDeviceLibraryEntry>(dlsym(handle, SACCADE_LIBRARY_ENTRY));
  if (!entry) throw std::runtime_error(path + " is no library of kernels.");
  const SaccadeDeviceLibrary* functions = entry();
  if (functions->version != SACCADE_LIBRARY_VERSION) {
    throw std::runtime_error(path + " was built for another version of the addon.");
  }
  library.reset(new DeviceLibrary(*functions));
  return *library;
#endif
}

}  // namespace saccade
