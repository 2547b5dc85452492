// A region is grown from its root, the one node whose value others may read, against the direction
// of the edges: a producer joins when everybody who reads it is inside. Hence no path leaves a
// region and comes back.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sextant/graph/device_name.h"
#include "sextant/graph/elementwise_table.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/passes/pass.h"

namespace sextant {
namespace {

constexpr size_t kMaxSteps = 48;  // of a region; more would not stay in cache
constexpr size_t kMaxInputs = 24;

bool AllFloat(const Node& node) {
  return node.num_outputs() == 1 && node.output_type(0) == DType::kFloat &&
         std::ranges::all_of(node.inputs(), [](Output o) { return o.dtype() == DType::kFloat; });
}

bool OnHost(const Node& node) {
  return node.device().empty() || DeviceName::Parse(node.device()).type != "GPU";
}

// Whether the node can be a step (AddN: several) over tensors of its output's shape.
bool Fusible(const Node& node) {
  const ElementwiseEntry* entry = FindElementwise(node.type());
  if (entry == nullptr || !AllFloat(node) || !OnHost(node)) return false;
  const PartialShape& shape = node.output_shape(0);
  if (!shape.fully_known() || shape.num_elements() == 0) return false;
  const bool any_count = node.type() == "AddN";
  if (any_count && (node.num_inputs() < 2 || node.num_inputs() > 8)) return false;
  if (node.type() == "BiasAdd") {
    return node.attr<std::string>("data_format") == "NHWC" && node.input(0).shape() == shape &&
           node.input(1).shape() == PartialShape{shape[shape.rank() - 1]};
  }
  const bool equal_shapes = any_count || node.type().ends_with("Grad");
  return std::ranges::all_of(node.inputs(), [&](Output input) {
    if (equal_shapes) return input.shape() == shape;
    return input.shape().fully_known() && RepeatsAsBlock(input.shape(), shape);
  });
}

struct Region {
  Node* root = nullptr;
  std::unordered_set<const Node*> members;
};

class Fuser {
 public:
  explicit Fuser(Graph& graph)
      : graph_(graph), order_(TopologicalOrder(graph)), position_(order_.size()) {
    for (size_t i = 0; i < order_.size(); ++i) position_[order_[i]->id()] = i;
    for (Node* node : order_) {
      for (const Output& input : node->inputs()) readers_[input.node()].push_back(node);
      for (Node* control : node->control_inputs()) held_.insert(control);
    }
  }

  void Run() {
    std::unordered_set<const Node*> taken;
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (taken.contains(*it) || !Fusible(**it)) continue;
      const Region region = Grow(*it);
      taken.insert(region.members.begin(), region.members.end());
      if (region.members.size() > 1) Rewrite(region);
    }
  }

 private:
  bool MayJoin(const Node* node, const Region& region) const {
    return !held_.contains(node) && Fusible(*node) && node->device() == region.root->device() &&
           node->output_shape(0) == region.root->output_shape(0) &&
           std::ranges::all_of(readers_.at(node),
                               [&](const Node* reader) { return region.members.contains(reader); });
  }

  // A producer is looked at once per edge; it joins at the last, when all its readers are inside.
  Region Grow(Node* root) const {
    Region region{.root = root, .members = {root}};
    std::vector<const Node*> candidates;
    const auto add_inputs = [&](const Node* node) {
      for (const Output& input : node->inputs()) candidates.push_back(input.node());
    };
    add_inputs(root);
    while (!candidates.empty() && region.members.size() < kMaxSteps) {
      const Node* node = candidates.back();
      candidates.pop_back();
      if (region.members.contains(node) || !MayJoin(node, region)) continue;
      region.members.insert(node);
      if (CountInputs(region) > kMaxInputs) {
        region.members.erase(node);
      } else {
        add_inputs(node);
      }
    }
    return region;
  }

  static size_t CountInputs(const Region& region) {
    std::unordered_set<Output> inputs;
    for (const Node* member : region.members) {
      for (const Output& input : member->inputs()) {
        if (!region.members.contains(input.node())) inputs.insert(input);
      }
    }
    return inputs.size();
  }

  void Rewrite(const Region& region) {
    std::vector<Output> inputs;
    std::vector<Node*> controls, members;
    std::vector<float> constants;
    for (const Node* node : region.members) members.push_back(order_[position_[node->id()]]);
    std::ranges::sort(members, {}, [&](const Node* node) { return position_[node->id()]; });
    for (Node* node : members) {
      for (const Output& input : node->inputs()) {
        const bool outside = !region.members.contains(input.node());
        if (outside && std::ranges::find(inputs, input) == inputs.end()) inputs.push_back(input);
      }
      for (Node* control : node->control_inputs()) {
        if (std::ranges::find(controls, control) == controls.end()) controls.push_back(control);
      }
      if (node->type() == "LeakyRelu") constants.push_back(node->attr<float>("alpha"));
    }
    // The first input's buffer may become the output's: put one of the full shape there.
    std::ranges::stable_partition(
        inputs, [&](Output o) { return o.shape() == region.root->output_shape(0); });
    const std::vector<int64_t> program = Encode(region, members, inputs, constants);
    const auto num_steps = static_cast<int64_t>(program.size() / 3);
    NodeSpec spec;
    spec.op = graph_.FindOp("_Elementwise");
    spec.control_inputs = std::move(controls);
    SetAttr(spec.attrs, "N", static_cast<int64_t>(inputs.size()));
    SetAttr(spec.attrs, "M", int64_t{1});
    SetAttr(spec.attrs, "T", DType::kFloat);
    SetAttr(spec.attrs, "program", program);
    SetAttr(spec.attrs, "results", std::vector<int64_t>{num_steps - 1});
    SetAttr(spec.attrs, "constants", constants);
    spec.inputs = std::move(inputs);
    graph_.Replace(region.root, std::move(spec));
  }

  // Values are numbered: inputs, constants, steps (ops/fused/elementwise_region.h).
  std::vector<int64_t> Encode(const Region& region, const std::vector<Node*>& members,
                              const std::vector<Output>& inputs,
                              const std::vector<float>& constants) const {
    const auto num_inputs = static_cast<int64_t>(inputs.size());
    int64_t next_constant = num_inputs;
    const int64_t first_step = num_inputs + static_cast<int64_t>(constants.size());
    std::unordered_map<const Node*, int64_t> value_of;
    std::vector<int64_t> program;
    const auto value = [&](Output output) -> int64_t {
      if (region.members.contains(output.node())) return value_of.at(output.node());
      return std::ranges::find(inputs, output) - inputs.begin();
    };
    const auto add_step = [&](ElementwiseOp function, int64_t a, int64_t b) {
      program.insert(program.end(), {static_cast<int64_t>(function), a, b});
      return first_step + static_cast<int64_t>(program.size() / 3) - 1;
    };
    for (const Node* node : members) {
      const ElementwiseOp function = FindElementwise(node->type())->function;
      const int64_t a = value(node->input(0));
      int64_t result;
      if (node->type() == "LeakyRelu") {
        result = add_step(function, a, next_constant++);
      } else if (node->num_inputs() == 1) {
        result = add_step(function, a, 0);
      } else {
        result = a;
        for (int i = 1; i < node->num_inputs(); ++i) {
          result = add_step(function, result, value(node->input(i)));
        }
      }
      value_of[node] = result;
    }
    return program;
  }

  Graph& graph_;
  const std::vector<Node*> order_;
  std::vector<size_t> position_;  // in order_, by node id
  std::unordered_map<const Node*, std::vector<const Node*>> readers_;
  std::unordered_set<const Node*> held_;  // others wait for them
};

}  // namespace

void FuseElementwise(Graph& graph) {
  if (graph.FindOp("_Elementwise") == nullptr) return;
  Fuser(graph).Run();
}

}  // namespace sextant
