// Chooses a device for every node.
#pragma once

#include <vector>

#include "sextant/device/device.h"
#include "sextant/graph/graph.h"

namespace sextant {

// Sets the full device name on each node of the Plan's graph, "" for the first device: the device
// it asks for; that of the resource it works on or of a node it is colocated with ("_class"); else
// the first. With soft placement a device that does not exist or has no kernel for the node is
// replaced by the first host device, otherwise INVALID_ARGUMENT names the node, the device and what
// there is.
void PlaceNodes(Graph& graph, const std::vector<Device*>& devices, bool soft_placement, bool log);

// Puts "_Send" and "_Recv" nodes on every edge between nodes of different devices; one pair per
// tensor and receiving device.
void PartitionByDevice(Graph& graph);

}  // namespace sextant
