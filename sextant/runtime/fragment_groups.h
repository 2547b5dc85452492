// Which nodes of a placed graph make up a fragment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/graph/graph.h"
#include "sextant/runtime/relaxed_controls.h"
#include "sextant/runtime/update_nodes.h"

namespace sextant {

// "/job:ps/replica:0/task:1" of "/job:ps/replica:0/task:1/device:CPU:0"; "" of "".
std::string TaskOfDevice(std::string_view device);

struct FragmentGroups {
  static constexpr int kLocal = -1;   // of the session's own task
  static constexpr int kCopied = -2;  // a constant or handle: it goes where its readers are

  std::vector<int> group;          // by node id: a number, kLocal or kCopied
  std::vector<std::string> tasks;  // by group
  std::vector<int> levels;         // by group: the level of its first nodes
  // By group: the stage of the synchronous update that it is part of, or UpdateNodes::kNone.
  std::vector<int> stages;
  std::vector<bool> may_wait;  // by group: for another of the run (waiting_nodes.h)
  // By node id: earlier nodes that must have run before it, besides those it reads or waits for
  // (effect_order.h).
  std::vector<std::vector<Node*>> effects;
  UpdateNodes updates;
  RelaxedControls relaxed;

  bool IgnoresControl(const Node* earlier, const Node* later) const {
    return updates.Ignores(earlier, later) || relaxed.Ignores(earlier, later);
  }
};

// Groups are numbered in an order in which each comes after those it depends on. "order" is the
// graph's TopologicalOrder.
FragmentGroups GroupByTask(const std::vector<Node*>& order, std::string_view own_task);

}  // namespace sextant
