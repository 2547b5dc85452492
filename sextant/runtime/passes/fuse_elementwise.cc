// Operator fusion by greedy growth. A region is grown from its root, the one node whose value
// others may read, against the direction of the edges: a producer joins when everybody who reads it
// is inside. Roots are taken in reverse topological order, so that regions are as long as possible.
//
//   m = a * b           region of y, its root: y, t, m      y = _Elementwise(a, b, s)
//   t = Tanh(m)         s has a reader outside and stays      v0 = a, v1 = b, v2 = s
//   s = c - x                                                 v3 = v0 * v1
//   y = t + s                                                 v4 = tanh v3
//   z = MatMul(s, w)                                          v5 = v4 + v2, the result
//
// Invariant: only the root's value leaves a region, so no path leaves it and comes back: replacing
// the region by one node makes no cycle. All steps have the root's shape, inputs may be repeated as
// blocks of it; a region runs tile by tile through all of its steps (loop fusion and strip mining,
// ops/fused/elementwise_region_cpu.cc), which is why its steps and inputs are limited.
#include <algorithm>
#include <unordered_map>
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
  const bool equal_shapes = any_count || !ElementwiseBroadcasts(entry->function);
  return std::ranges::all_of(node.inputs(), [&](Output input) {
    if (equal_shapes) return input.shape() == shape;
    return input.shape().fully_known() && RepeatsAsBlock(input.shape(), shape);
  });
}

struct Region {
  int index = 0;
  Node* root = nullptr;
  std::vector<Node*> members;
};

class Fuser {
 public:
  explicit Fuser(Graph& graph)
      : graph_(graph),
        order_(TopologicalOrder(graph)),
        position_(order_.size()),
        region_(order_.size(), kNone),
        fusible_(order_.size()),
        num_readers_(order_.size()),
        readers_inside_(order_.size()) {
    for (size_t i = 0; i < order_.size(); ++i) {
      const Node* node = order_[i];
      position_[node->id()] = i;
      fusible_[node->id()] = Fusible(*node);
      for (const Output& input : node->inputs()) ++num_readers_[input.node()->id()];
    }
    // Those whom others wait for keep their node.
    for (const Node* node : order_) {
      for (const Node* control : node->control_inputs()) ++num_readers_[control->id()];
    }
  }

  void Run() {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (region_[(*it)->id()] != kNone || !fusible_[(*it)->id()]) continue;
      const Region region = Grow(*it);
      if (region.members.size() > 1) Rewrite(region);
    }
  }

 private:
  static constexpr int kNone = -1;

  bool Inside(const Node* node, const Region& region) const {
    return region_[node->id()] == region.index;
  }

  void Join(Node* node, Region& region) {
    region_[node->id()] = region.index;
    region.members.push_back(node);
    for (const Output& input : node->inputs()) ++readers_inside_[input.node()->id()];
  }

  void Leave(Node* node, Region& region) {
    region_[node->id()] = kNone;
    region.members.pop_back();
    for (const Output& input : node->inputs()) --readers_inside_[input.node()->id()];
  }

  // A producer joins when everybody who reads it is inside.
  bool MayJoin(const Node* node, const Region& region) const {
    const int id = node->id();
    return fusible_[id] && region_[id] == kNone && readers_inside_[id] == num_readers_[id] &&
           node->device() == region.root->device() &&
           node->output_shape(0) == region.root->output_shape(0);
  }

  Region Grow(Node* root) {
    Region region{.index = root->id(), .root = root};
    Join(root, region);
    std::vector<Node*> candidates;
    const auto add_inputs = [&](const Node* node) {
      for (const Output& input : node->inputs()) candidates.push_back(input.node());
    };
    add_inputs(root);
    while (!candidates.empty() && region.members.size() < kMaxSteps) {
      Node* node = candidates.back();
      candidates.pop_back();
      if (!MayJoin(node, region)) continue;
      Join(node, region);
      if (CountInputs(region) > kMaxInputs) {
        Leave(node, region);
      } else {
        add_inputs(node);
      }
    }
    // Counts are per region: readers in this one do not help another to take a producer.
    for (const Node* member : region.members) {
      for (const Output& input : member->inputs()) readers_inside_[input.node()->id()] = 0;
    }
    return region;
  }

  size_t CountInputs(const Region& region) const {
    std::vector<Output> inputs;
    for (const Node* member : region.members) {
      for (const Output& input : member->inputs()) {
        if (!Inside(input.node(), region) && std::ranges::find(inputs, input) == inputs.end()) {
          inputs.push_back(input);
        }
      }
    }
    return inputs.size();
  }

  void Rewrite(const Region& region) {
    std::vector<Output> inputs;
    std::vector<Node*> controls, members;
    std::vector<float> constants;
    members = region.members;
    std::ranges::sort(members, {}, [&](const Node* node) { return position_[node->id()]; });
    for (Node* node : members) {
      for (const Output& input : node->inputs()) {
        const bool outside = !Inside(input.node(), region);
        if (outside && std::ranges::find(inputs, input) == inputs.end()) inputs.push_back(input);
      }
      for (Node* control : node->control_inputs()) {
        if (std::ranges::find(controls, control) == controls.end()) controls.push_back(control);
      }
      if (node->type() == "LeakyRelu") constants.push_back(node->attr<float>("alpha"));
    }
    // The first input's buffer may become the output's: put one of the full shape there.
    std::stable_partition(inputs.begin(), inputs.end(),
                          [&](Output o) { return o.shape() == region.root->output_shape(0); });
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
      if (Inside(output.node(), region)) return value_of.at(output.node());
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
  // All by node id:
  std::vector<size_t> position_;  // in order_
  std::vector<int> region_;       // id of its root, or kNone
  std::vector<bool> fusible_;
  std::vector<int> num_readers_;     // edges that leave it
  std::vector<int> readers_inside_;  // those of them into the region being grown
};

}  // namespace

void FuseElementwise(Graph& graph, const Device&) {
  if (graph.FindOp("_Elementwise") == nullptr) return;
  Fuser(graph).Run();
}

}  // namespace sextant
