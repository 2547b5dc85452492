// Every node gets a level: the largest of those it depends on, plus one where the edge comes from
// another task. What one task runs at one level is a fragment, because nothing inside it waits for
// another task. The graph of fragments has no cycle: along an edge the level never falls, and it
// rises where the task changes.
//
// Then fragments of one task are merged, earlier ones first, where no path leads from one to the
// other through anything else, since that would close a cycle, and where the earlier one need not
// wait for a third task because of the later one: servers update at the same time. Example, one
// worker (here) and one parameter server; ids come out of the batch:
//
//   level 0   here: batch, ids          ps: read w
//   level 1   here: forward of w        ps: gather rows of ids          merged with "read w"
//   level 2   here: forward, backward   ps: –
//   level 3                             ps: update w, update rows       stays: its inputs come from
//                                                                       level 1 through the worker
//
// This gives two calls a step. Constants and handles are no work: they belong to no level and are
// copied to every fragment that reads them. Other resources and variants stay on their task, which
// keeps them for its later fragments of the Run; what makes one goes to the fragment that needs it.
// Variables keep program order by edges of their own (EffectEdges), so not all control edges need
// to count (relaxed_controls.h). What may wait for others of the run is called by itself, with what
// follows it (waiting_nodes.h).
//
// A v1 conditional on one task is of one level, the highest of its nodes, since a value that a
// Switch may leave out does not go from one call to another (dead_values.h).
//
// The update of a synchronous step (update_nodes.h) has groups of its own, one per task and stage,
// which are merged with no others. A call of one brings a contribution and waits for no other.
#include "sextant/runtime/fragment_groups.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "sextant/graph/device_name.h"
#include "sextant/graph/function_node.h"
#include "sextant/runtime/condensed_graph.h"
#include "sextant/runtime/dead_values.h"
#include "sextant/runtime/effect_order.h"
#include "sextant/runtime/waiting_nodes.h"

namespace sextant {
namespace {

bool IsCopied(const Node& node) {
  if (!node.control_inputs().empty()) return false;
  if (node.type() == "Const" || IsSharedHandle(node)) return true;
  return node.type() == "Identity" && node.output_type(0) == DType::kResource &&
         IsSharedHandle(HandleRoot(node.input(0)));
}

class Grouper {
 public:
  Grouper(const std::vector<Node*>& order, std::string_view own_task)
      : order_(order), count_(order.size()), task_(count_), level_(count_) {
    result_.group.assign(count_, FragmentGroups::kLocal);
    tasks_.emplace_back(own_task);
  }

  FragmentGroups Group() {
    for (Node* node : order_) {
      task_[Id(node)] = TaskNumber(*node);
      if (IsCopied(*node)) result_.group[Id(node)] = FragmentGroups::kCopied;
    }
    MoveGroupingNodes();
    result_.effects = NodesBefore(order_, task_);
    const std::vector<bool> copied = CopiedNodes();
    wait_class_ = WaitClasses(order_, copied, task_, result_.effects);
    result_.updates = FindUpdateNodes(order_, copied, result_.effects, task_);
    if (!result_.updates.any)
      result_.relaxed = RelaxControls(order_, copied, task_, result_.effects);
    AssignLevels();
    MergeGroups();
    return std::move(result_);
  }

 private:
  static constexpr int kNoReader = std::numeric_limits<int>::max();
  static constexpr size_t kMostParts = 64;  // more than a synchronous update has

  static size_t Id(const Node* node) { return static_cast<size_t>(node->id()); }
  bool Copied(const Node* node) const { return result_.group[Id(node)] == FragmentGroups::kCopied; }

  std::vector<bool> CopiedNodes() const {
    std::vector<bool> copied(count_);
    for (const Node* node : order_) copied[Id(node)] = Copied(node);
    return copied;
  }
  bool IsUpdate(const Node* node) const { return result_.updates.Has(node); }

  int TaskNumber(const Node& node) {
    if (node.device().empty()) return 0;
    const auto [it, added] = task_of_device_.try_emplace(node.device());
    if (added) {
      const std::string task = TaskOfDevice(node.device());
      const auto found = std::ranges::find(tasks_, task);
      it->second = static_cast<int>(found - tasks_.begin());
      if (found == tasks_.end()) tasks_.push_back(task);
    }
    return it->second;
  }

  // A NoOp only gathers control edges: it goes where all that waits for it is.
  void MoveGroupingNodes() {
    constexpr int kNone = -1, kSeveral = -2;
    std::vector<int> waiting(count_, kNone);  // the task of what waits for a node
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const Node* node = *it;
      int& task = task_[Id(node)];
      if (node->type() == "NoOp" && waiting[Id(node)] >= 0) task = waiting[Id(node)];
      for (const Node* control : node->control_inputs()) {
        int& other = waiting[Id(control)];
        other = other == kNone || other == task ? task : kSeveral;
      }
    }
  }

  template <typename F>
  void ForEachDependency(const Node* node, F&& f) const {
    for (const Output& input : node->inputs()) {
      if (!Copied(input.node())) f(input.node());
    }
    for (const Node* control : node->control_inputs()) {
      if (!Copied(control) && !result_.IgnoresControl(control, node)) f(control);
    }
    for (const Node* earlier : result_.effects[Id(node)]) {
      if (!result_.updates.Ignores(earlier, node)) f(earlier);
    }
  }

  // Below which a change would come before one that it is told to follow.
  int FirstLevel(const Node* node) const {
    if (!result_.relaxed.any) return 0;
    int first = 0;
    for (const Node* earlier : result_.relaxed.not_before[Id(node)])
      first = std::max(first, level_[Id(earlier)]);
    return first;
  }

  void AssignLevels() {
    conditional_ = ConditionalsOfTasks(order_, task_);
    // Where a conditional waits for what another task makes of it, it cannot be of one level: then
    // the cut refuses it (CheckConditionals).
    if (!conditional_.empty() && !TryLevels()) conditional_.clear();
    if (!TryLevels()) throw Internal("the parts of a synchronous update wait for each other");
    DelayMakers();
  }

  // False: there are no such levels. Each round moves parts of an update and conditionals; chains
  // of them are short.
  bool TryLevels() {
    std::ranges::fill(level_, 0);
    const std::set<int> conditionals(conditional_.begin(), conditional_.end());
    const size_t rounds = conditionals.empty() ? count_ : conditionals.size() + kMostParts;
    for (size_t round = 0; round <= rounds; ++round) {
      for (const Node* node : order_) {
        if (Copied(node)) continue;
        int& level = level_[Id(node)];
        ForEachDependency(node, [&](const Node* on) {
          level = std::max(level, level_[Id(on)] + (task_[Id(on)] != task_[Id(node)] ? 1 : 0));
        });
        level = std::max(level, FirstLevel(node));
      }
      const bool updates_moved = LevelUpdates();
      if (!LevelConditionals() && !updates_moved) return true;
    }
    return false;
  }

  // Whether a node has moved.
  bool LevelConditionals() {
    std::unordered_map<int, int> levels;  // of each conditional the largest
    const auto of_conditional = [&](const Node* node) {
      return !conditional_.empty() && !Copied(node) ? conditional_[Id(node)] : kNoConditional;
    };
    for (const Node* node : order_) {
      if (const int number = of_conditional(node); number != kNoConditional)
        levels[number] = std::max(levels[number], level_[Id(node)]);
    }
    bool moved = false;
    for (const Node* node : order_) {
      const int number = of_conditional(node);
      if (number == kNoConditional || level_[Id(node)] == levels[number]) continue;
      level_[Id(node)] = levels[number];
      moved = true;
    }
    return moved;
  }

  // All of one part is called at once. Whether a node has moved.
  bool LevelUpdates() {
    if (!result_.updates.any) return false;
    std::map<std::pair<int, int>, int> levels;  // (task, stage) → the largest
    const auto part = [&](const Node* node) {
      return std::pair(task_[Id(node)], result_.updates.stage[Id(node)]);
    };
    for (const Node* node : order_) {
      if (IsUpdate(node)) levels[part(node)] = std::max(levels[part(node)], level_[Id(node)]);
    }
    bool moved = false;
    for (const Node* node : order_) {
      if (!IsUpdate(node) || level_[Id(node)] == levels[part(node)]) continue;
      level_[Id(node)] = levels[part(node)];
      moved = true;
    }
    return moved;
  }

  // A resource or variant need not be kept from one fragment of its task for another, nor a
  // constant that waits for something, where what makes it can run with the first that needs it.
  static bool IsMaker(const Node& node) {
    if (node.type() == "Const") return true;
    if (RunsFunctions(node)) return false;
    for (int i = 0; i < node.num_outputs(); ++i) {
      if (node.output_type(i) == DType::kResource || node.output_type(i) == DType::kVariant)
        return true;
    }
    return false;
  }

  // No other node moves, so that levels rise along edges as before.
  void DelayMakers() {
    std::vector<int> first_need(count_, kNoReader);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const Node* node = *it;
      if (Copied(node)) continue;
      int& level = level_[Id(node)];
      const int first = first_need[Id(node)];
      if (first != kNoReader && task_[Id(node)] != 0 && !IsUpdate(node) && IsMaker(*node))
        level = std::max(level, first);
      ForEachDependency(node, [&](const Node* on) {
        const bool here = task_[Id(on)] == task_[Id(node)];
        first_need[Id(on)] = std::min(first_need[Id(on)], here ? level : level_[Id(on)]);
      });
    }
  }

  void MergeGroups() {
    struct Key {
      int level, task, wait_class, stage;
      auto operator<=>(const Key&) const = default;
    };
    const auto key_of = [this](const Node* node) {
      return Key{level_[Id(node)], task_[Id(node)], wait_class_[Id(node)],
                 IsUpdate(node) ? result_.updates.stage[Id(node)] : UpdateNodes::kNone};
    };
    std::map<Key, int> numbers;  // → vertex
    for (const Node* node : order_) {
      if (!Copied(node) && task_[Id(node)] != 0) numbers[key_of(node)] = 0;
    }
    int next = 0;
    for (auto& [key, number] : numbers) number = next++;
    const auto vertex = [&](const Node* node) {
      if (task_[Id(node)] == 0) return next + node->id();
      return numbers.at(key_of(node));
    };
    CondensedGraph condensed(next, count_);
    for (const Node* node : order_) {
      if (Copied(node)) continue;
      ForEachDependency(node, [&](const Node* on) { condensed.AddEdge(vertex(on), vertex(node)); });
    }
    const auto before = condensed.GroupsBefore(next);
    const auto delays = [&](int earlier, int later, int task) {
      for (const auto& [key, group] : numbers) {
        if (key.task != task && before[static_cast<size_t>(later)][static_cast<size_t>(group)] &&
            !before[static_cast<size_t>(earlier)][static_cast<size_t>(group)])
          return true;
      }
      return false;
    };
    std::vector<Key> keys(static_cast<size_t>(next));
    for (const auto& [key, number] : numbers) keys[static_cast<size_t>(number)] = key;
    // By group: those that changes of it must not come before.
    std::vector<std::set<int>> not_before(static_cast<size_t>(next));
    if (result_.relaxed.any) {
      for (const Node* node : order_) {
        for (const Node* earlier : result_.relaxed.not_before[Id(node)])
          not_before[static_cast<size_t>(vertex(node))].insert(vertex(earlier));
      }
    }
    const auto comes_before = [&](int earlier, int later) {
      return std::ranges::any_of(not_before[static_cast<size_t>(later)], [&](int other) {
        return other != later && keys[static_cast<size_t>(condensed.Find(other))].level >
                                     keys[static_cast<size_t>(earlier)].level;
      });
    };
    for (const auto& [key, later] : numbers) {
      if (key.stage != UpdateNodes::kNone) continue;
      for (const auto& [other, earlier] : numbers) {
        if (earlier >= later) break;
        if (other.task != key.task || other.wait_class != key.wait_class ||
            other.stage != UpdateNodes::kNone || condensed.Find(earlier) != earlier ||
            comes_before(earlier, later) || delays(earlier, later, key.task))
          continue;
        if (condensed.Reaches(earlier, later, 2) || condensed.Reaches(later, earlier, 1)) continue;
        condensed.Join(earlier, later);
        break;
      }
    }
    std::vector<int> number_of(static_cast<size_t>(next), -1);
    const std::vector<int> ordered = condensed.Order();
    CheckOrdered(ordered, [&](const Node* node) { return condensed.Find(vertex(node)); });
    for (const int v : ordered) {
      if (v >= next) continue;
      number_of[static_cast<size_t>(v)] = static_cast<int>(result_.tasks.size());
      const Key& key = keys[static_cast<size_t>(v)];
      result_.tasks.push_back(tasks_[static_cast<size_t>(key.task)]);
      result_.levels.push_back(key.level);
      result_.stages.push_back(key.stage);
      result_.may_wait.push_back(key.wait_class != 0);
    }
    for (const Node* node : order_) {
      if (Copied(node) || task_[Id(node)] == 0) continue;
      result_.group[Id(node)] = number_of[static_cast<size_t>(condensed.Find(vertex(node)))];
    }
  }

  // A node whose group has no place would count as one of this task.
  template <typename F>
  void CheckOrdered(const std::vector<int>& ordered, F&& vertex_of) const {
    const std::set<int> placed(ordered.begin(), ordered.end());
    std::string left;
    for (const Node* node : order_) {
      if (!Copied(node) && !placed.contains(vertex_of(node)))
        left += fmt::format("{}[{} {}]", left.empty() ? "" : ", ", node->type(), node->name());
    }
    if (!left.empty()) throw Internal("the calls of other tasks have no order: {}", left);
  }

  const std::vector<Node*>& order_;
  const size_t count_;
  std::vector<std::string> tasks_;  // the first is this one
  std::unordered_map<std::string, int> task_of_device_;
  std::vector<int> task_, level_, wait_class_;  // by node id
  std::vector<int> conditional_;                // likewise, or empty: dead_values.h
  FragmentGroups result_;
};

}  // namespace

std::string TaskOfDevice(std::string_view device) {
  if (device.empty()) return "";
  DeviceName name = DeviceName::Parse(device);
  name.type.clear();
  name.index.reset();
  return name.ToString();
}

FragmentGroups GroupByTask(const std::vector<Node*>& order, std::string_view own_task) {
  return Grouper(order, own_task).Group();
}

}  // namespace sextant
