// Chooses a device for every node.
#pragma once

#include "sextant/graph/graph.h"
#include "sextant/runtime/plan_builder.h"

namespace sextant {

// Sets the full device name on each node of the Plan's graph, "" for the first device: the device
// it asks for; that of the resource it works on or of a node it is colocated with ("_class"); else
// the first. What works on a resource goes to its task whatever it asks for; If, Case and While do
// not go where resources are that they capture. Gathers of a variable's rows, and what reads only
// the shape of a tensor, go to the task of the variable or tensor where that is another: rows and
// shapes travel, not tables.
//
// Of other tasks the first device is known. One that is asked for another device is asked which it
// has, and waited for: that graph runs there. With soft placement a device that does not exist or
// has no kernel for the node is replaced by the first that has one in the job and task asked for.
// Otherwise, or when the cluster has no such task, INVALID_ARGUMENT names the node, the device and
// what there is. A session that belongs to no cluster, as those that run fragments, puts all nodes
// on its own devices then. "in_function": loops and branches run on one task, so the tasks that
// their nodes ask for do not count.
void PlaceNodes(Graph& graph, const PlanEnvironment& environment, bool in_function);

// Puts "_Send" and "_Recv" nodes on every edge between nodes of different devices; one pair per
// tensor and receiving device.
void PartitionByDevice(Graph& graph);

}  // namespace sextant
