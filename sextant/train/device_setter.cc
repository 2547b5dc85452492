#include "sextant/train/device_setter.h"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/graph/device_name.h"
#include "sextant/graph/graph.h"

namespace sextant::train {
namespace {

const PartialShape* FindKnownShape(const NodeSpec& node) {
  const Attr* shape = FindAttr(node.attrs, "shape");
  return shape != nullptr && shape->Get<PartialShape>().fully_known() ? &shape->Get<PartialShape>()
                                                                      : nullptr;
}

// What a variable of unknown shape adds is not known: it goes where the least is so far.
double ByteSizeIfKnown(const NodeSpec& node) {
  return FindKnownShape(node) == nullptr ? 0 : ByteSize(node);
}

void CheckDevices(int devices) {
  if (devices < 1) throw InvalidArgument("variables need at least 1 device, not {}", devices);
}

}  // namespace

DeviceStrategy RoundRobin(int devices) {
  CheckDevices(devices);
  const auto next = std::make_shared<int>(0);
  return [=](const NodeSpec&) { return (*next)++ % devices; };
}

DeviceStrategy GreedyLoadBalancing(int devices, std::function<double(const NodeSpec&)> load) {
  CheckDevices(devices);
  if (!load) load = ByteSize;
  const auto loads = std::make_shared<std::vector<double>>(devices, 0.0);
  return [=](const NodeSpec& node) {
    const auto least = std::ranges::min_element(*loads);
    *least += load(node);
    return static_cast<int>(least - loads->begin());
  };
}

double ByteSize(const NodeSpec& node) {
  const Attr* dtype = FindAttr(node.attrs, "dtype");
  const PartialShape* shape = FindKnownShape(node);
  if (dtype == nullptr || shape == nullptr) {
    throw InvalidArgument("the size of '{}' is not known; give the variable a shape", node.name);
  }
  return static_cast<double>(shape->AsShape().num_elements()) *
         static_cast<double>(DTypeSize(dtype->Get<DType>()));
}

DeviceFunction LocalDeviceSetter(LocalDeviceOptions options) {
  if (!options.ps_strategy) options.ps_strategy = RoundRobin(options.num_devices);
  return [options = std::move(options)](const NodeSpec& node) {
    const bool variable = std::ranges::count(options.ps_ops, node.op->name()) > 0;
    const std::string device =
        variable ? fmt::format("/{}:{}", options.ps_device_type, options.ps_strategy(node))
                 : options.worker_device;
    return DeviceName::Parse(device).Override(DeviceName::Parse(node.device)).ToString();
  };
}

DeviceFunction ReplicaDeviceSetter(const std::map<std::string, std::vector<std::string>>& cluster,
                                   ReplicaDeviceOptions options) {
  const auto servers = cluster.find(options.ps_job);
  const int count = servers == cluster.end() ? 0 : static_cast<int>(servers->second.size());
  if (count > 0 && !options.ps_strategy)
    options.ps_strategy = GreedyLoadBalancing(count, ByteSizeIfKnown);
  return [options = std::move(options), count](const NodeSpec& node) {
    const DeviceName inner = DeviceName::Parse(node.device);
    if (!inner.job.empty()) return node.device;
    const bool variable = count > 0 && std::ranges::count(options.ps_ops, node.op->name()) > 0;
    const std::string device =
        variable ? fmt::format("/job:{}/task:{}", options.ps_job, options.ps_strategy(node))
                 : options.worker_device;
    return DeviceName::Parse(device).Override(inner).ToString();
  };
}

}  // namespace sextant::train
