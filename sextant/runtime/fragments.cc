#include "sextant/runtime/fragments.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "sextant/graph/graph_def.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/runtime/call_order.h"
#include "sextant/runtime/conditional_tasks.h"
#include "sextant/runtime/fragment_fingerprint.h"
#include "sextant/runtime/fragment_groups.h"
#include "sextant/runtime/summed_inputs.h"

namespace sextant {
namespace {

// Internal ops of the runtime; never exported, so not in the registry.
const OpDef& CallStartOp() {
  static const OpDef* def = [] {
    auto* d = new OpDef("_CallStart");
    d->Inputs("sent:T").Attrs("T:list(type)>=0; fragment:int").Stateful().Structural();
    return d;
  }();
  return *def;
}
const OpDef& CallFinishOp() {
  static const OpDef* def = [] {
    auto* d = new OpDef("_CallFinish");
    d->Outputs("received:T").Attrs("T:list(type)>=0; fragment:int; waits:bool").Structural();
    d->Stateful();
    return d;
  }();
  return *def;
}

// Appends without duplicates and gives the position.
template <typename T>
int Enlist(std::vector<T>& list, const T& value) {
  const auto found = std::ranges::find(list, value);
  if (found != list.end()) return static_cast<int>(found - list.begin());
  list.push_back(value);
  return static_cast<int>(list.size()) - 1;
}

std::string SerializeDeterministically(const proto::GraphDef& def) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  def.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

// What enters and leaves a group of nodes.
struct Crossing {
  std::vector<Output> sent;      // tensors of this task that it reads
  std::vector<Output> fetched;   // its own that other groups must give
  std::vector<Output> returned;  // tensors of it that this task reads
  std::vector<Output> kept;      // tensors of it that other groups read
  std::vector<Node*> targets;    // nodes of it that nothing in it depends on
  std::set<Node*> after;         // nodes of this task that it waits for
  std::set<int> after_groups;
};

class FragmentCutter {
 public:
  FragmentCutter(Graph& graph, std::string_view own_task, const std::vector<Node*>& needed)
      : graph_(graph),
        own_task_(own_task),
        needed_(needed),
        order_(TopologicalOrder(graph)),
        groups_(GroupByTask(order_, own_task)),
        crossings_(groups_.tasks.size()) {}

  std::vector<std::shared_ptr<const Fragment>> Cut() {
    CheckConditionals(order_, groups_.group);
    FindCrossings();
    NumberParts();
    if (crossings_.empty()) {
      MoveCopiesHere();
      return {};
    }
    for (size_t g = 0; g < crossings_.size(); ++g) AddCall(static_cast<int>(g));
    // Until here the nodes of groups are as they were; now each group is cut loose and copied.
    for (size_t g = 0; g < crossings_.size(); ++g) MakeFragment(static_cast<int>(g));
    ConnectHere();
    AwaitParts();
    MoveCopiesHere();
    const auto effects = EffectsHere();
    RemoveUnneeded(graph_, needed_);
    OrderForCalls(graph_, effects);
    return std::move(fragments_);
  }

 private:
  static size_t Index(const Node* node) { return static_cast<size_t>(node->id()); }
  // Nodes that this cut has added are of this task.
  int GroupOf(const Node* node) const {
    return Index(node) < groups_.group.size() ? groups_.group[Index(node)] : FragmentGroups::kLocal;
  }
  std::string TaskOf(const Node* node) const {
    return node->device().empty() ? own_task_ : TaskOfDevice(node->device());
  }
  Crossing& At(int group) { return crossings_[static_cast<size_t>(group)]; }

  // Resources and variants go from one fragment to another only within their task.
  void CheckMayCross(const Node* node, Output input) const {
    if (input.dtype() != DType::kResource && input.dtype() != DType::kVariant) return;
    const auto task = [this](const Node* n) {
      return GroupOf(n) >= 0 ? groups_.tasks[static_cast<size_t>(GroupOf(n))] : TaskOf(n);
    };
    if (task(input.node()) == task(node)) return;
    if (node->type() == "_Sink") {
      throw InvalidArgument("{} cannot be fetched: a {} does not leave its task, {}", input.name(),
                            DTypeName(input.dtype()), ShortTaskName(task(input.node())));
    }
    const auto place = [](const Node* n) {
      return n->device().empty() ? std::string("this task") : "'" + n->device() + "'";
    };
    throw InvalidArgument(
        "[{} {}] on {} takes the {} {} of {}, which cannot leave its task: put both on one task",
        node->type(), node->name(), place(node), DTypeName(input.dtype()), input.name(),
        place(input.node()));
  }

  void FindCrossings() {
    std::vector<bool> has_reader(order_.size());
    for (const Node* node : order_) {
      const int group = GroupOf(node);
      if (group == FragmentGroups::kCopied) continue;
      for (const Output& input : node->inputs()) {
        const int from = GroupOf(input.node());
        if (from == FragmentGroups::kCopied) {
          if (input.dtype() == DType::kResource) CheckMayCross(node, input);
        } else if (from == group) {
          has_reader[Index(input.node())] = true;
        } else {
          CheckMayCross(node, input);
          CrossData(input, from, group);
        }
      }
      for (Node* control : node->control_inputs()) {
        if (GroupOf(control) == group) has_reader[Index(control)] = true;
        if (!groups_.IgnoresControl(control, node)) CrossControl(control, group);
      }
      for (Node* earlier : groups_.effects[Index(node)]) {
        if (!groups_.updates.Ignores(earlier, node)) CrossControl(earlier, group);
      }
    }
    for (Node* node : order_) {
      if (GroupOf(node) >= 0 && !has_reader[Index(node)]) At(GroupOf(node)).targets.push_back(node);
    }
  }

  void CrossData(Output input, int from, int to) {
    if (to == FragmentGroups::kLocal) {
      Enlist(At(from).returned, input);
    } else if (from == FragmentGroups::kLocal) {
      Enlist(At(to).sent, input);
    } else {
      Enlist(At(from).kept, input);
      Enlist(At(to).fetched, input);
      At(to).after_groups.insert(from);
    }
  }

  void CrossControl(Node* from_node, int to) {
    const int from = GroupOf(from_node);
    if (to < 0 || from == to || from == FragmentGroups::kCopied) return;
    if (from == FragmentGroups::kLocal) {
      At(to).after.insert(from_node);
    } else {
      At(to).after_groups.insert(from);
    }
  }

  // The parts of the update, in an order that all callers agree on.
  void NumberParts() {
    for (size_t g = 0; g < crossings_.size(); ++g) {
      if (groups_.stages[g] != UpdateNodes::kNone) parts_.push_back(static_cast<int>(g));
    }
    std::ranges::sort(parts_, {}, [this](int group) {
      const auto g = static_cast<size_t>(group);
      return std::pair(groups_.stages[g], groups_.tasks[g]);
    });
  }

  void AddCall(int group) {
    const Crossing& crossing = At(group);
    std::vector<Node*> after(crossing.after.begin(), crossing.after.end());
    std::ranges::sort(after, {}, &Node::id);
    for (const int earlier : crossing.after_groups)
      after.push_back(finish_[static_cast<size_t>(earlier)]);
    std::vector<DType> sent, received;
    for (const Output& tensor : crossing.sent) sent.push_back(RemoveRef(tensor.dtype()));
    for (const Output& tensor : crossing.returned) received.push_back(RemoveRef(tensor.dtype()));
    const auto number = static_cast<int64_t>(group);
    const bool waits = groups_.may_wait[static_cast<size_t>(group)];
    Node* start = graph_.AddNode({.name = graph_.UniqueName(fmt::format("_call_start_{}", group)),
                                  .op = &CallStartOp(),
                                  .inputs = crossing.sent,
                                  .control_inputs = std::move(after),
                                  .attrs = {{"T", sent}, {"fragment", number}}});
    Node* finish =
        graph_.AddNode({.name = graph_.UniqueName(fmt::format("_call_finish_{}", group)),
                        .op = &CallFinishOp(),
                        .control_inputs = {start},
                        .attrs = {{"T", received}, {"fragment", number}, {"waits", waits}}});
    for (size_t i = 0; i < crossing.returned.size(); ++i) {
      finish->set_output_shape(static_cast<int>(i), crossing.returned[i].shape());
      returned_.emplace(crossing.returned[i], finish->output(static_cast<int>(i)));
    }
    finish_.push_back(finish);
  }

  // Stands for a tensor from outside in the graph of a fragment.
  Output NewInput(int group, size_t position, Output tensor) {
    const auto part = std::ranges::find(parts_, group);
    if (part == parts_.end())
      return AddStandIn(graph_, fmt::format("_input_{}_{}", group, position), tensor);
    return AddStandIn(graph_, fmt::format("_sum_input_{}_{}", part - parts_.begin(), position),
                      tensor);
  }

  void MakeFragment(int group) {
    const Crossing& crossing = At(group);
    Fragment fragment{.task = groups_.tasks[static_cast<size_t>(group)]};
    std::unordered_map<Output, Output> inputs;
    for (const Output& tensor : crossing.sent) {
      inputs[tensor] = NewInput(group, inputs.size(), tensor);
      fragment.feeds.push_back(inputs[tensor].name());
    }
    for (const Output& tensor : crossing.fetched) {
      inputs[tensor] = NewInput(group, inputs.size(), tensor);
      const int maker = GroupOf(tensor.node());
      const Fragment& made_by = *fragments_[static_cast<size_t>(maker)];
      const auto& kept = At(maker).kept;
      fragment.kept_inputs.push_back(
          {.tensor = inputs[tensor].name(),
           .task = made_by.task,
           .maker = made_by.fingerprint,
           .position = static_cast<int32_t>(std::ranges::find(kept, tensor) - kept.begin())});
    }
    if (const auto part = std::ranges::find(parts_, group); part != parts_.end()) {
      std::vector<Node*> nodes;
      std::ranges::copy_if(order_, std::back_inserter(nodes),
                           [&](const Node* node) { return GroupOf(node) == group; });
      const SummedInputs summed = SumContributions(graph_, nodes, inputs);
      fragment.sum = Fragment::Sum{.replicas = summed.replicas,
                                   .part = static_cast<int32_t>(part - parts_.begin()),
                                   .num_parts = static_cast<int32_t>(parts_.size()),
                                   .stage = groups_.stages[static_cast<size_t>(group)]};
      for (const std::vector<Output>& list : {crossing.sent, crossing.fetched}) {
        for (const Output& tensor : list)
          fragment.sum->gradient.push_back(summed.gradients.contains(tensor));
      }
    }
    CutLoose(group, inputs);
    std::vector<Output> wanted = crossing.returned;
    wanted.insert(wanted.end(), crossing.kept.begin(), crossing.kept.end());
    const Subgraph copy =
        CopySubgraph(graph_, {}, wanted, {crossing.targets.begin(), crossing.targets.end()});
    CheckTravels(*copy.graph);
    for (int id = 0; id < copy.graph->num_nodes(); ++id) {
      Node* node = copy.graph->node(id);
      if (node->type() == "VarHandleOp") fragment.variables.push_back(node->name());
      if (TaskOf(node) != fragment.task) copy.graph->SetDevice(node, "");  // a copy
    }
    fragment.graph_def = SerializeDeterministically(ExportGraphDef(*copy.graph));
    for (const Output& tensor : crossing.returned) fragment.fetches.push_back(tensor.name());
    for (const Output& tensor : crossing.kept) fragment.kept.push_back(tensor.name());
    for (const Node* node : crossing.targets) fragment.targets.push_back(node->name());
    if (fragment.sum) fragment.sum->key = SumKeyOf(fragment);
    fragment.fingerprint = FingerprintOf(fragment);
    fragments_.push_back(std::make_shared<const Fragment>(std::move(fragment)));
  }

  // The nodes of the group read their inputs' stand-ins and wait for nothing outside.
  void CutLoose(int group, const std::unordered_map<Output, Output>& inputs) {
    for (Node* node : order_) {
      if (GroupOf(node) != group) continue;
      for (int i = 0; i < node->num_inputs(); ++i) {
        if (const auto found = inputs.find(node->input(i)); found != inputs.end())
          graph_.SetInput(node, i, found->second);
      }
      std::vector<Node*> controls;
      for (Node* control : node->control_inputs()) {
        if (GroupOf(control) == group) controls.push_back(control);
      }
      if (controls.size() != node->control_inputs().size())
        graph_.SetControlInputs(node, std::move(controls));
    }
  }

  // Nodes of this task read what calls give and wait for the calls of those they waited for.
  void ConnectHere() {
    for (Node* node : order_) {
      if (GroupOf(node) != FragmentGroups::kLocal) continue;
      for (int i = 0; i < node->num_inputs(); ++i) {
        if (const auto found = returned_.find(node->input(i)); found != returned_.end())
          graph_.SetInput(node, i, found->second);
      }
      std::vector<Node*> controls;
      const auto wait_for = [&](Node* earlier) {
        const int group = GroupOf(earlier);
        if (group == FragmentGroups::kCopied) return;
        Enlist(controls, group >= 0 ? finish_[static_cast<size_t>(group)] : earlier);
      };
      for (Node* control : node->control_inputs()) {
        if (!groups_.IgnoresControl(control, node)) wait_for(control);
      }
      for (Node* earlier : groups_.effects[Index(node)]) {
        if (GroupOf(earlier) >= 0 && !groups_.updates.Ignores(earlier, node)) wait_for(earlier);
      }
      graph_.SetControlInputs(node, std::move(controls));
    }
  }

  // Edges inside an update do not count, but all of it is part of the run.
  void AwaitParts() {
    if (parts_.empty()) return;
    const auto before = needed_[0]->control_inputs();
    std::vector<Node*> controls(before.begin(), before.end());
    for (const int part : parts_) Enlist(controls, finish_[static_cast<size_t>(part)]);
    graph_.SetControlInputs(needed_[0], std::move(controls));
  }

  std::vector<std::pair<Node*, Node*>> EffectsHere() const {
    std::vector<std::pair<Node*, Node*>> edges;
    for (Node* node : order_) {
      for (Node* earlier : groups_.effects[Index(node)]) {
        if (GroupOf(node) == FragmentGroups::kLocal && GroupOf(earlier) == FragmentGroups::kLocal)
          edges.emplace_back(earlier, node);
      }
    }
    return edges;
  }

  // Constants of other tasks that are read here are made here.
  void MoveCopiesHere() {
    for (Node* node : order_) {
      if (GroupOf(node) == FragmentGroups::kCopied && node->type() == "Const" &&
          !node->device().empty())
        graph_.SetDevice(node, "");
    }
  }

  Graph& graph_;
  const std::string own_task_;
  const std::vector<Node*>& needed_;
  const std::vector<Node*> order_;
  const FragmentGroups groups_;
  std::vector<Crossing> crossings_;
  std::vector<int> parts_;                       // groups of the update, by number
  std::vector<Node*> finish_;                    // by group
  std::unordered_map<Output, Output> returned_;  // tensor of a group → output of its finish
  std::vector<std::shared_ptr<const Fragment>> fragments_;
};

}  // namespace

void CheckTravels(const Graph& graph) {
  for (int id = 0; id < graph.num_nodes(); ++id) {
    const Node& node = *graph.node(id);
    for (const auto& [name, attr] : node.attrs()) {
      if (!attr.Is<Tensor>() || attr.Get<Tensor>().dtype() != DType::kResource) continue;
      throw FailedPrecondition(
          "[{} {}]{} holds data of this process: put it on the task of the session, or run the "
          "session on a server of this process",
          node.type(), node.name(), node.device().empty() ? "" : " on '" + node.device() + "'");
    }
  }
}

std::vector<std::shared_ptr<const Fragment>> CutFragments(Graph& graph, std::string_view own_task,
                                                          const std::vector<Node*>& needed) {
  return FragmentCutter(graph, own_task, needed).Cut();
}

}  // namespace sextant
