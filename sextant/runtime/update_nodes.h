// Which nodes of a placed graph are the update of a synchronous step: what all workers run once
// together, behind the mean of their gradients.
#pragma once

#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

struct UpdateNodes {
  static constexpr int kNone = -1;

  // By node id: kNone, or the stage of the update. A node waits for another task's only if that is
  // of an earlier stage.
  std::vector<int> stage;
  bool any = false;

  bool Has(const Node* node) const {
    return any && stage[static_cast<size_t>(node->id())] != kNone;
  }
  // Whether a control edge or the order of effects between these does not count: those inside the
  // update, which its stages keep, and those that would let a contribution wait for its own update.
  bool Ignores(const Node* earlier, const Node* later) const;

  std::vector<bool> behind;   // by id: of other nodes, whether they wait for a mark
  std::vector<bool> follows;  // by id: of other nodes, whether they wait for the update
  std::vector<bool> leads;    // by id: of other nodes, whether the update reads or waits for them
};

// Looks for marks (graph/gradient_mark.h) with something behind them that changes state on other
// tasks than task 0. "task" gives the number of the task that each node runs on, by id; nodes here
// that lie within the update are moved to the tasks of those that read them. "copied" are nodes
// that go where they are read, "effects" as effect_order.h says.
//
// Throws UNIMPLEMENTED, naming the node, where the update needs what only this task can run, or
// gives a value that something outside of it reads.
UpdateNodes FindUpdateNodes(const std::vector<Node*>& order, const std::vector<bool>& copied,
                            const std::vector<std::vector<Node*>>& effects, std::vector<int>& task);

}  // namespace sextant
