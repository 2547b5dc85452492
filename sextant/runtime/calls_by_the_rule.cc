#include "sextant/runtime/calls_by_the_rule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/graph/passes/copy_subgraph.h"

namespace sextant {
namespace {

using Matrix = CallsByTheRule::Matrix;

// Over any number of edges (Warshall).
Matrix Closure(Matrix reach) {
  for (size_t k = 0; k < reach.size(); ++k) {
    for (auto& row : reach) {
      if (row[k]) row |= reach[k];
    }
  }
  return reach;
}

bool HasCycle(const Matrix& edges) {
  const Matrix reach = Closure(edges);
  for (size_t i = 0; i < reach.size(); ++i) {
    if (reach[i][i]) return true;
  }
  return false;
}

enum class Kind { kComputes, kReads, kChanges, kFunctions, kMakes, kHandle, kConst };

Kind KindOf(const Node& node) {
  static const std::map<std::string, Kind> kinds = {{"Abs", Kind::kComputes},
                                                    {"AssignAddVariableOp", Kind::kChanges},
                                                    {"Const", Kind::kConst},
                                                    {"EmptyTensorList", Kind::kMakes},
                                                    {"AssignVariableOp", Kind::kChanges},
                                                    {"Greater", Kind::kComputes},
                                                    {"Identity", Kind::kComputes},
                                                    {"If", Kind::kFunctions},
                                                    {"Maximum", Kind::kComputes},
                                                    {"Mul", Kind::kComputes},
                                                    {"Neg", Kind::kComputes},
                                                    {"NoOp", Kind::kComputes},
                                                    {"Placeholder", Kind::kComputes},
                                                    {"ReadVariableOp", Kind::kReads},
                                                    {"Sigmoid", Kind::kComputes},
                                                    {"Sub", Kind::kComputes},
                                                    {"Sum", Kind::kComputes},
                                                    {"StatelessWhile", Kind::kComputes},
                                                    {"Tanh", Kind::kComputes},
                                                    {"TensorListGetItem", Kind::kComputes},
                                                    {"TensorListPushBack", Kind::kMakes},
                                                    {"VarHandleOp", Kind::kHandle},
                                                    {"While", Kind::kFunctions}};
  const auto found = kinds.find(node.type());
  if (found == kinds.end()) throw Unimplemented("the rule knows no {}", node.type());
  return found->second;
}

std::set<const Node*> NeededFor(const std::vector<Output>& fetches,
                                const std::vector<Operation>& targets) {
  std::set<const Node*> needed;
  std::vector<const Node*> stack;
  const auto need = [&](const Node* node) {
    if (needed.insert(node).second) stack.push_back(node);
  };
  for (const Output& fetch : fetches) need(fetch.node());
  for (const Operation& target : targets) need(target.node());
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Output& input : node->inputs()) need(input.node());
    for (const Node* control : node->control_inputs()) need(control);
  }
  return needed;
}

}  // namespace

CallsByTheRule::CallsByTheRule(const Graph& graph, const std::vector<Output>& fetches,
                               const std::vector<Operation>& targets, const std::string& own_task)
    : own_task_(own_task) {
  AddNodes(graph, fetches, targets);
  MoveGroups();
  KeepProgramOrder();
  RelaxControls();
}

// Nodes are where they are asked to be; what takes a handle is where the variable is. Constants and
// handles are copied, unless they wait for something.
void CallsByTheRule::AddNodes(const Graph& graph, const std::vector<Output>& fetches,
                              const std::vector<Operation>& targets) {
  const std::set<const Node*> needed = NeededFor(fetches, targets);
  const auto wish = [this](const Node* node) {
    return node->device().empty() ? own_task_ : node->device();
  };
  std::map<const Node*, size_t> places;
  const auto connect = [&](const auto& from, std::vector<size_t>& to) {
    for (const auto& on : from) {
      const auto found = places.find(on.node());
      if (found != places.end()) to.push_back(found->second);
    }
  };
  for (const Node* node : TopologicalOrder(graph)) {
    if (!needed.contains(node)) continue;
    const Kind kind = KindOf(*node);
    RunNode added = {.type = node->type(), .task = wish(node)};
    added.changes = kind == Kind::kChanges;
    if (const Attr* mark = node->FindAttr("_update")) added.mark = mark->Get<int64_t>();
    added.runs_functions = kind == Kind::kFunctions;
    added.makes = kind == Kind::kMakes || kind == Kind::kConst;
    if (kind == Kind::kReads || kind == Kind::kChanges) {
      added.variable = node->input(0).node();
      added.task = wish(added.variable);
    }
    if (added.task != own_task_ && std::ranges::find(tasks_, added.task) == tasks_.end())
      tasks_.push_back(added.task);
    const bool waits = !node->control_inputs().empty();
    if ((kind == Kind::kConst || kind == Kind::kHandle) && !waits) continue;
    std::vector<Operation> controls(node->control_inputs().begin(), node->control_inputs().end());
    connect(controls, added.controls);
    connect(node->inputs(), added.inputs);
    if (kind == Kind::kFunctions) {
      std::set<const Node*> read;
      for (const Output& input : node->inputs()) {
        const Node* handle = input.node();
        if (handle->type() != "VarHandleOp" || wish(handle) == added.task) continue;
        if (read.insert(handle).second) added.inputs.push_back(AddReadFor(added, handle));
      }
    }
    places[node] = nodes_.size();
    nodes_.push_back(std::move(added));
  }
  RunNode end = {.type = "end of the Run", .task = own_task_};
  connect(fetches, end.inputs);
  connect(targets, end.controls);
  nodes_.push_back(std::move(end));
  if (2 * nodes_.size() > kMostVertices) throw Unimplemented("a graph of {} nodes", nodes_.size());
}

// A variable of another task that a branch or loop only reads is read before it.
size_t CallsByTheRule::AddReadFor(const RunNode& branch, const Node* handle) {
  nodes_.push_back({.type = "ReadVariableOp",
                    .task = handle->device().empty() ? own_task_ : handle->device(),
                    .controls = branch.controls,
                    .variable = handle});
  return nodes_.size() - 1;
}

// What only gathers control edges is where all that waits for it is.
void CallsByTheRule::MoveGroups() {
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (nodes_[i].type != "NoOp") continue;
    std::set<std::string> waiting;
    for (const RunNode& later : nodes_) {
      if (std::ranges::count(later.controls, i) > 0) waiting.insert(later.task);
    }
    if (waiting.size() == 1) nodes_[i].task = *waiting.begin();
  }
}

// Of two nodes that touch a variable, one of which changes it, the one that was written first runs
// first.
void CallsByTheRule::KeepProgramOrder() {
  kept_ = Matrix(nodes_.size());
  const auto touches = [](const RunNode& node) { return node.variable || node.runs_functions; };
  const auto disturbs = [](const RunNode& node) { return node.changes || node.runs_functions; };
  for (size_t later = 0; later < nodes_.size(); ++later) {
    const RunNode& b = nodes_[later];
    for (const size_t from : b.inputs) kept_[from][later] = true;
    for (size_t earlier = 0; earlier < later; ++earlier) {
      const RunNode& a = nodes_[earlier];
      if (a.task != b.task || !touches(a) || !touches(b) || (!disturbs(a) && !disturbs(b)))
        continue;
      if (a.variable == b.variable || a.runs_functions || b.runs_functions)
        kept_[earlier][later] = true;
    }
  }
  before_ = kept_;
  for (size_t later = 0; later < nodes_.size(); ++later) {
    for (const size_t from : nodes_[later].controls) before_[from][later] = true;
  }
  leads_ = Closure(before_);
}

bool CallsByTheRule::CountsSteps(size_t node) const {
  return IsUpdate(node) && nodes_[node].mark == 2;
}

// These wait for all that led to them: what nothing follows, updates that count, and what touches
// state without being an update or a read for one.
bool CallsByTheRule::KeepsOrder(size_t node) const {
  const RunNode& it = nodes_[node];
  if (before_[node].none()) return true;  // nothing follows
  if (IsUpdate(node)) return CountsSteps(node);
  return HasEffects(node) || (it.variable != nullptr && it.mark == 0);
}

// Updates, and reads, copies and groups on other tasks of what is relaxed and of nothing else.
bool CallsByTheRule::IsRelaxed(size_t node) const {
  const RunNode& it = nodes_[node];
  if (it.task == own_task_) return false;
  if (it.changes) return it.mark != 0;
  if (it.type != "ReadVariableOp" && it.type != "Identity" && it.type != "NoOp") return false;
  const auto relaxed = [this](size_t on) { return IsRelaxed(on); };
  return it.inputs.size() + it.controls.size() > 0 && std::ranges::all_of(it.inputs, relaxed) &&
         std::ranges::all_of(it.controls, relaxed);
}

// A control edge from what is relaxed counts only for what keeps its order and for updates of the
// same task. What keeps its order waits for all that has effects and leads to it, an update for
// what of this is no update.
void CallsByTheRule::RelaxControls() {
  const size_t count = nodes_.size();
  counts_ = kept_;
  for (size_t to = 0; to < count; ++to) {
    for (const size_t from : nodes_[to].controls) {
      const bool same_task = nodes_[from].task == nodes_[to].task;
      if (!IsRelaxed(from) || KeepsOrder(to) || (same_task && IsUpdate(to))) {
        counts_[from][to] = true;
      } else {
        ++num_relaxed_;
      }
    }
    for (size_t from = 0; from < to; ++from) {
      if (leads_[from][to] && HasEffects(from) &&
          (KeepsOrder(to) || (IsUpdate(to) && !IsUpdate(from))))
        counts_[from][to] = true;
    }
  }
  const Matrix waits = Closure(counts_);
  not_before_ = Matrix(count);
  for (size_t to = 0; to < count; ++to) {
    for (size_t from = 0; from < to && IsUpdate(to); ++from)
      not_before_[from][to] =
          IsUpdate(from) && !CountsSteps(from) && leads_[from][to] && !waits[from][to];
  }
}

// The level grows by one where an edge enters another task. A constant that waits, or a list, is
// made where it is first needed.
std::vector<int> CallsByTheRule::Levels() const {
  std::vector<int> level(nodes_.size());
  for (bool moved = true; std::exchange(moved, false);) {
    for (size_t to = 0; to < nodes_.size(); ++to) {
      for (size_t from = 0; from < to; ++from) {
        if (counts_[from][to])
          level[to] = std::max(level[to], level[from] + (nodes_[from].task != nodes_[to].task));
        if (not_before_[from][to]) level[to] = std::max(level[to], level[from]);
      }
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].makes || nodes_[i].task == own_task_) continue;
      const int needed = FirstNeed(i, level);
      moved = moved || needed > level[i];
      level[i] = std::max(level[i], needed);
    }
  }
  return level;
}

// The lowest level of those that read a node or wait for it; its own where one is of another task.
int CallsByTheRule::FirstNeed(size_t node, const std::vector<int>& level) const {
  std::optional<int> first;
  for (size_t later = node + 1; later < nodes_.size(); ++later) {
    const RunNode& it = nodes_[later];
    if (std::ranges::count(it.inputs, node) + std::ranges::count(it.controls, node) == 0) continue;
    if (it.task != nodes_[node].task) return level[node];
    first = std::min(first.value_or(level[later]), level[later]);
  }
  return first.value_or(level[node]);
}

size_t CallsByTheRule::Entries(const std::string& task) const {
  std::vector<size_t> entries(nodes_.size());
  size_t most = 0;
  for (size_t to = 0; to < nodes_.size(); ++to) {
    const bool inside = nodes_[to].task == task;
    entries[to] = inside ? 1 : 0;
    for (size_t from = 0; from < to; ++from) {
      if (counts_[from][to])
        entries[to] = std::max(entries[to], entries[from] + (inside && nodes_[from].task != task));
    }
    if (inside) most = std::max(most, entries[to]);
  }
  return most;
}

// What a task runs at one level is a fragment. From the lowest level up, each joins the first of
// its task where the graph of what is joined so far keeps no cycle, where the earlier one waits for
// no fragment of a third task because of it, and where no change comes before one that it follows.
size_t CallsByTheRule::Count() const {
  const std::vector<int> level = Levels();
  const auto key_of = [&](size_t node) {
    const auto task = std::ranges::find(tasks_, nodes_[node].task);
    return std::pair(level[node], task - tasks_.begin());
  };
  std::set<std::pair<int, std::ptrdiff_t>> sorted;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].task != own_task_) sorted.insert(key_of(i));
  }
  const std::vector fragments(sorted.begin(), sorted.end());
  // Vertices: the fragments, then each node of this task.
  std::vector<size_t> vertex(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const auto found = std::ranges::find(fragments, key_of(i));
    vertex[i] = nodes_[i].task == own_task_ ? fragments.size() + i
                                            : static_cast<size_t>(found - fragments.begin());
  }
  std::vector<size_t> joined(fragments.size() + nodes_.size());
  for (size_t i = 0; i < joined.size(); ++i) joined[i] = i;
  const auto edges_when = [&](const std::vector<size_t>& joining) {
    Matrix edges(joining.size());
    for (size_t to = 0; to < nodes_.size(); ++to) {
      for (size_t from = 0; from < to; ++from) {
        const size_t a = joining[vertex[from]], b = joining[vertex[to]];
        if (counts_[from][to] && a != b) edges[a][b] = true;
      }
    }
    return edges;
  };
  const Matrix unjoined = Closure(edges_when(joined));
  const auto would_wait = [&](size_t earlier, size_t later) {
    for (size_t third = 0; third < fragments.size(); ++third) {
      if (fragments[third].second != fragments[later].second && unjoined[third][later] &&
          !unjoined[third][earlier])
        return true;
    }
    return false;
  };
  const auto comes_too_early = [&](size_t earlier, size_t later) {
    for (size_t to = 0; to < nodes_.size(); ++to) {
      for (size_t from = 0; from < to && vertex[to] == later; ++from) {
        if (not_before_[from][to] && vertex[from] != later &&
            fragments[joined[vertex[from]]].first > fragments[earlier].first)
          return true;
      }
    }
    return false;
  };
  size_t calls = fragments.size();
  for (size_t later = 0; later < fragments.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      if (fragments[earlier].second != fragments[later].second || joined[earlier] != earlier ||
          would_wait(earlier, later) || comes_too_early(earlier, later))
        continue;
      std::vector<size_t> trial = joined;
      trial[later] = earlier;
      if (HasCycle(edges_when(trial))) continue;
      joined = trial;
      --calls;
      break;
    }
  }
  return calls;
}

}  // namespace sextant
