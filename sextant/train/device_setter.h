// Functions for DeviceScope that put variables on other devices than the rest of a model: as
// in-graph replication over several devices of a process needs it, or on the parameter servers of a
// cluster.
//
//   const DeviceScope tower(LocalDeviceSetter({.worker_device = "/gpu:1"}));   // variables: /cpu:0
//
// A device that a DeviceScope inside asks for wins, part by part.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/scope.h"

#pragma GCC visibility push(default)

namespace sextant::train {

// Which of several devices, from 0 on, a variable's node goes to. Copies share what they count.
using DeviceStrategy = std::function<int(const NodeSpec& node)>;

// Throw INVALID_ARGUMENT for fewer than one device.
DeviceStrategy RoundRobin(int devices);
// The device with the least load so far, the first of several; by bytes unless told otherwise.
DeviceStrategy GreedyLoadBalancing(int devices, std::function<double(const NodeSpec&)> load = {});
// Bytes of the variable that a node holds. Throws INVALID_ARGUMENT when its shape is not known.
double ByteSize(const NodeSpec& node);

struct SEXTANT_API LocalDeviceOptions {
  std::string worker_device = "/cpu:0";  // of all nodes but variables
  std::string ps_device_type = "cpu";    // variables are on /cpu:0, /cpu:1, … or /gpu:0, …
  int num_devices = 1;                   // of them
  DeviceStrategy ps_strategy = {};       // default: RoundRobin(num_devices)
  std::vector<std::string> ps_ops = {"Variable", "VariableV2", "VarHandleOp"};
};
DeviceFunction LocalDeviceSetter(LocalDeviceOptions options);

struct SEXTANT_API ReplicaDeviceOptions {
  std::string ps_job = "ps";
  std::string worker_device = {};  // of all nodes but variables; "": the task that runs the session
  // Default: GreedyLoadBalancing by bytes over the ps tasks; unknown shapes count as 0 bytes.
  DeviceStrategy ps_strategy = {};
  std::vector<std::string> ps_ops = {"Variable", "VariableV2", "VarHandleOp"};
};
// Between-graph replication: each worker builds the same graph, with the variables on the parameter
// servers of the cluster (dist::ClusterSpec: job → addresses), and runs it by a session of its own.
// What names a job itself stays there. A cluster without parameter servers sets worker_device only.
//
//   const DeviceScope replica(ReplicaDeviceSetter(cluster));
DeviceFunction ReplicaDeviceSetter(const std::map<std::string, std::vector<std::string>>& cluster,
                                   ReplicaDeviceOptions options = {});

}  // namespace sextant::train

#pragma GCC visibility pop
