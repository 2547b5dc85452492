// Which control edges between tasks a cut need not keep one by one: those that say in which order a
// training step changes variables of different servers.
#pragma once

#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

struct RelaxedControls {
  // Whether the control edge between these does not count.
  bool Ignores(const Node* earlier, const Node* later) const {
    const auto from = static_cast<size_t>(earlier->id()), to = static_cast<size_t>(later->id());
    return any && relaxed[from] && !keeps_order[to] && (task[from] != task[to] || !changes[to]);
  }

  bool any = false;
  std::vector<bool> changes;      // by id: updates (graph/update_mark.h) on other tasks
  std::vector<bool> relaxed;      // by id: these, and reads, copies and groups of them alone
  std::vector<bool> keeps_order;  // by id: nodes that wait for all that they are told to
  std::vector<int> task;          // by id
  // By id, of updates: earlier ones that it may run together with, but not before.
  std::vector<std::vector<const Node*>> not_before;
};

// "copied", "effects" and "task" as for FindUpdateNodes; of task 0 no edges are relaxed. What a
// node must wait for though the edges that say so do not count is added to its effects.
RelaxedControls RelaxControls(const std::vector<Node*>& order, const std::vector<bool>& copied,
                              const std::vector<int>& task,
                              std::vector<std::vector<Node*>>& effects);

}  // namespace sextant
