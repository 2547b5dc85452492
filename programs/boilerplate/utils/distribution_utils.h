// Several devices of one machine that train one model.
#pragma once

#include <optional>
#include <string>

#include "sextant/sextant.h"

namespace boilerplate {

// Whether a session of this process has /gpu:index.
bool HasGpu(int64_t index);

// How many devices are meant: -1 are all there are. Throws FAILED_PRECONDITION for more GPUs than
// this machine, or this build, has.
int64_t CountDevices(int64_t num_gpus, const std::string& device_type);

// Where a model is that is not on several devices: "/gpu:0" for one GPU, else "/cpu:0".
std::string SingleDevice(int64_t devices, const std::string& device_type);

// None for one device or none: then everything is on SingleDevice. all_reduce_alg: how
// gradients are summed, "one_device", "tree" or "ring"; "": as is usual.
std::optional<sextant::MirroredStrategy> GetDistributionStrategy(int64_t devices,
                                                                 const std::string& device_type,
                                                                 const std::string& all_reduce_alg);

// A batch of 32 on 4 devices is 8 each. Throws INVALID_ARGUMENT, with a size that would do, for one
// that cannot be divided.
int64_t PerDeviceBatchSize(int64_t batch_size, int64_t devices);

}  // namespace boilerplate
