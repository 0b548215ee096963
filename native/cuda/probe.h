// Lists the devices, and whether kernels run on them.
#pragma once

#include <cuda_runtime.h>

#include "library.h"

namespace saccade {

// The number of devices; throws a DeviceFailure if there is no driver, or one too old.
int32_t countDevices();
// Describes device `index`.
SaccadeDeviceInfo describeDevice(int32_t index);

}  // namespace saccade
