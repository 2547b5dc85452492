#include "boilerplate/utils/distribution_utils.h"

#include <fmt/format.h>

namespace sx = sextant;

namespace boilerplate {
namespace {

std::string DeviceName(const std::string& type, int64_t index) {
  return fmt::format("/{}:{}", type == "CPU" ? "cpu" : "gpu", index);
}

}  // namespace

// A session that places nothing elsewhere tells.
bool HasGpu(int64_t index) {
  sx::Graph graph;
  const sx::GraphScope use(graph);
  const sx::DeviceScope device(DeviceName("GPU", index));
  const sx::Output one = sx::Const(sx::Tensor(1.0f)) + sx::Const(sx::Tensor(0.0f));
  try {
    sx::Session session(graph, {.allow_soft_placement = false});
    session.Run(one);
    return true;
  } catch (const sx::Error&) {
    return false;
  }
}

int64_t CountDevices(int64_t num_gpus, const std::string& device_type) {
  if (device_type == "CPU") {
    if (num_gpus >= 0) return num_gpus;
    throw sx::InvalidArgument(
        "--num_gpus -1 counts GPUs; say how many host devices there shall be");
  }
  int64_t there = 0;
  while ((num_gpus < 0 || there < num_gpus) && HasGpu(there)) ++there;
  if (num_gpus > there) {
    throw sx::FailedPrecondition(
        "{} GPUs are asked for, {} are there; use --num_gpus {}, or --device_type CPU", num_gpus,
        there, there);
  }
  return there;
}

std::string SingleDevice(int64_t devices, const std::string& device_type) {
  return DeviceName(devices == 1 ? device_type : "CPU", 0);
}

std::optional<sx::MirroredStrategy> GetDistributionStrategy(int64_t devices,
                                                            const std::string& device_type,
                                                            const std::string& all_reduce_alg) {
  if (devices <= 1) return std::nullopt;
  sx::MirroredStrategy strategy;
  for (int64_t i = 0; i < devices; ++i) strategy.devices.push_back(DeviceName(device_type, i));
  if (!all_reduce_alg.empty()) strategy.reduction = all_reduce_alg;
  return strategy;
}

int64_t PerDeviceBatchSize(int64_t batch_size, int64_t devices) {
  if (devices <= 1) return batch_size;
  if (const int64_t remainder = batch_size % devices; remainder != 0) {
    throw sx::InvalidArgument("--batch_size {} is no multiple of the {} devices; try {}",
                              batch_size, devices,
                              std::max<int64_t>(batch_size - remainder, devices));
  }
  return batch_size / devices;
}

}  // namespace boilerplate
