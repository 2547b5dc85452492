// Cuts the placed graph of a Plan by task: what other tasks run becomes fragments, and in their
// place stand pairs of "_CallStart" and "_CallFinish" nodes.
//
//   worker: x ─→ MatMul ─→ grad        worker: call 0 ─→ MatMul ─→ grad ─→ call 1
//   ps 0:   w ─→ Read ──↑   └→ Apply   ps 0:   fragment 0: w ─→ Read; fragment 1: grad ─→ Apply
//
// fragment_groups.h decides which nodes of a task go together; here the groups are taken out. A
// tensor from one other task to a third is kept by the task that makes it and fetched from there,
// not sent through this one. What a task makes for a later fragment of its own it keeps too, a
// resource or variant as any tensor. Constants and handles are copied to every fragment that uses
// them.
//
// Invariant: the graph that is left has no node of another task, and runs the nodes of every
// fragment in an order in which effects on a variable come as in the whole graph (call_order.h).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "sextant/device/remote_task.h"
#include "sextant/graph/graph.h"

namespace sextant {

// Cuts out all nodes whose device is of another task than "own_task"; a node without a device is of
// this one. "_CallStart" takes what is sent, "_CallFinish" gives what comes back; their attribute
// "fragment" is a position in the result, where each fragment comes after those it depends on. The
// nodes of the graph are put in an order in which calls start early and are waited for late.
//
// "needed" (the sink, then the feeds) stay; they are of this task. Fragments depend on the source
// graph alone, not on the shapes of a run: their inputs have unknown shapes.
//
// Throws INVALID_ARGUMENT, naming node and devices, where a resource or variant would have to leave
// its task, and UNIMPLEMENTED where a tensor that a v1 conditional governs would.
std::vector<std::shared_ptr<const Fragment>> CutFragments(Graph& graph, std::string_view own_task,
                                                          const std::vector<Node*>& needed);

// For graphs that another process is to run: throws FAILED_PRECONDITION, naming the node, where one
// has data of this process as an attribute, e.g. a Dataset.
void CheckTravels(const Graph& graph);

}  // namespace sextant
