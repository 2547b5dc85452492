// For tests: how many calls a Run makes by the rules of the cut (fragment_groups.cc,
// relaxed_controls.cc). They are worked out from the graph as it was written, in the plainest way,
// with no code of the cut, the placer or the order of effects. It knows the ops of
// random_cluster_test.cc.
#pragma once

#include <bitset>
#include <cstddef>
#include <string>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// A node of a Run, or what the rules add to it.
struct RunNode {
  std::string type, task;
  std::vector<size_t> inputs, controls;  // earlier nodes, without constants and handles
  const Node* variable = nullptr;        // the handle of what it reads or changes
  bool changes = false;                  // the variable
  int64_t mark = 0;                      // 1: part of a training step, 2: counts it
  bool runs_functions = false;           // which may touch all variables of its task
  bool makes = false;                    // a constant that waits, or a list
};

class CallsByTheRule {
 public:
  static constexpr size_t kMostVertices = 512;             // nodes and fragments
  using Matrix = std::vector<std::bitset<kMostVertices>>;  // [from][to]

  // Throws for an op that it does not know and for a graph that is too large.
  CallsByTheRule(const Graph& graph, const std::vector<Output>& fetches,
                 const std::vector<Operation>& targets, const std::string& own_task);

  size_t Count() const;
  // How often the path that enters the task most often does so: fewer calls of it cannot be.
  size_t Entries(const std::string& task) const;
  // Control edges that count for nothing.
  size_t num_relaxed() const { return num_relaxed_; }

 private:
  void AddNodes(const Graph& graph, const std::vector<Output>& fetches,
                const std::vector<Operation>& targets);
  size_t AddReadFor(const RunNode& branch, const Node* handle);
  void MoveGroups();
  void KeepProgramOrder();
  void RelaxControls();
  std::vector<int> Levels() const;
  int FirstNeed(size_t node, const std::vector<int>& level) const;

  bool HasEffects(size_t node) const { return nodes_[node].changes || nodes_[node].runs_functions; }
  // A marked change on another task.
  bool IsUpdate(size_t node) const {
    return nodes_[node].changes && nodes_[node].mark != 0 && nodes_[node].task != own_task_;
  }
  bool CountsSteps(size_t node) const;
  bool KeepsOrder(size_t node) const;
  bool IsRelaxed(size_t node) const;

  const std::string own_task_;
  std::vector<std::string> tasks_;  // other tasks, as they appear in the graph
  std::vector<RunNode> nodes_;      // in program order
  Matrix kept_;                     // [a][b]: b reads a, or the order of effects puts a before b
  Matrix before_;                   // the same, and control edges
  Matrix leads_;                    // that over any number of edges
  Matrix counts_;                   // what the cut has to keep
  Matrix not_before_;               // [a][b]: b may be in the same call as a, but in no earlier one
  size_t num_relaxed_ = 0;
};

}  // namespace sextant
