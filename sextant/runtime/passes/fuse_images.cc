// What follows a convolution or a batch normalization on blocked images is computed in its last
// pass over the memory: bias, folded normalization, addition and Relu. The gradient of a Relu goes
// into the normalization's before it.
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/passes/image_layouts.h"
#include "sextant/runtime/passes/pass.h"

namespace sextant {
namespace {

class ImageFuser {
 public:
  explicit ImageFuser(Graph& graph) : graph_(graph) {}

  void Run() {
    const std::vector<Node*> order = TopologicalOrder(graph_);
    for (const Node* node : order) {
      position_[node] = static_cast<int>(position_.size());
      for (const Output& input : node->inputs()) ++readers_[input];
      for (const Node* control : node->control_inputs()) awaited_[control] = true;
    }
    for (Node* node : order) {
      const std::string& type = node->type();
      if (type == "Relu") FuseRelu(node);
      if (type == "AddV2" || type == "Add") FuseAdd(node);
      if (type == "_BlockedBatchNorm") FoldNorm(node);
      if (type == "_BlockedBatchNormGrad") FuseReluGrad(node);
    }
  }

 private:
  // The producer of an input that nobody else reads or waits for, if it is of this type.
  Node* Only(Output input, std::string_view type) const {
    Node* node = input.node();
    if (node->type() != type || input.index() != 0 || readers_.at(input) != 1 ||
        awaited_.contains(node))
      return nullptr;
    return node;
  }

  static bool Is(const Node& node, const char* attr) { return node.attr<bool>(attr); }

  // Makes "node" what "from" was, with some attributes and inputs changed.
  void Become(Node* node, const Node& from, std::vector<Output> inputs, AttrMap attrs) {
    NodeSpec spec;
    spec.op = &from.op();
    spec.attrs = from.attrs();
    for (auto& [name, value] : attrs) SetAttr(spec.attrs, name, value);
    spec.inputs = std::move(inputs);
    spec.control_inputs.assign(node->control_inputs().begin(), node->control_inputs().end());
    if (node != &from) {
      for (Node* control : from.control_inputs()) spec.control_inputs.push_back(control);
    }
    graph_.Replace(node, std::move(spec));
  }

  // The other outputs of a normalization move with it.
  void MoveStatistics(const Node& from, Node* to) {
    for (int id = 0; id < graph_.num_nodes(); ++id) {
      Node* reader = graph_.node(id);
      for (int i = 0; i < reader->num_inputs(); ++i) {
        const Output input = reader->input(i);
        if (input.node() == &from && input.index() > 0)
          graph_.SetInput(reader, i, to->output(input.index()));
      }
    }
    for (int i = 1; i < from.num_outputs(); ++i) readers_[to->output(i)] = readers_[from.output(i)];
  }

  void FuseRelu(Node* relu) {
    const Output x = relu->input(0);
    if (Node* conv = Only(x, "_BlockedConv2D"); conv && !Is(*conv, "relu")) {
      Become(relu, *conv, {conv->inputs().begin(), conv->inputs().end()}, {{"relu", true}});
    } else if (Node* norm = Only(x, "_BlockedBatchNorm"); norm && !Is(*norm, "relu")) {
      Become(relu, *norm, {norm->inputs().begin(), norm->inputs().end()}, {{"relu", true}});
      MoveStatistics(*norm, relu);
    }
  }

  void FuseAdd(Node* add) {
    for (const int i : {0, 1}) {
      const Output x = add->input(i), other = add->input(1 - i);
      if (Node* conv = Only(x, "_BlockedConv2D"); conv && !Is(*conv, "relu") && !Is(*conv, "sum")) {
        std::vector<Output> inputs(conv->inputs().begin(), conv->inputs().end());
        const auto count = static_cast<int64_t>(inputs.size()) - 2;
        if (const Output bias = ChannelVector(other); bias && count == 0) {
          inputs.push_back(bias);
          return Become(add, *conv, std::move(inputs), {{"bias", true}, {"N", int64_t{1}}});
        }
        if (other.shape() != x.shape()) continue;
        inputs.insert(inputs.begin() + 2, other);
        return Become(add, *conv, std::move(inputs), {{"sum", true}, {"N", count + 1}});
      }
      Node* norm = Only(x, "_BlockedBatchNorm");
      if (norm == nullptr || Is(*norm, "relu") || norm->num_inputs() > 5 ||
          other.shape() != x.shape())
        continue;
      // What comes before cannot depend on the statistics, which others may read.
      if (position_.at(other.node()) > position_.at(norm)) continue;
      std::vector<Output> inputs(norm->inputs().begin(), norm->inputs().end());
      inputs.push_back(other);
      Become(add, *norm, std::move(inputs), {{"N", int64_t{1}}});
      return MoveStatistics(*norm, add);
    }
  }

  // The vector that the layout pass shaped to be added to blocked images; or empty.
  static Output ChannelVector(Output shaped) {
    const Node& node = *shaped.node();
    const PartialShape& s = shaped.shape();
    if (node.type() != "Reshape" || s.rank() != 5 || s[0] != 1 || s[2] != 1 || s[3] != 1) return {};
    return node.input(0).shape().rank() == 1 ? node.input(0) : Output();
  }

  void FoldNorm(Node* norm) {
    Node* conv = Only(norm->input(0), "_BlockedConv2D");
    if (conv == nullptr || Is(*norm, "is_training") || conv->num_inputs() != 2 || Is(*conv, "relu"))
      return;
    if (Is(*norm, "relu") || norm->num_inputs() > 5) return;
    for (int i = 1; i < norm->num_outputs(); ++i) {
      if (readers_.contains(norm->output(i)) && readers_.at(norm->output(i)) > 0) return;
    }
    std::vector<Output> inputs(conv->inputs().begin(), conv->inputs().end());
    for (int i = 1; i < 5; ++i) inputs.push_back(norm->input(i));
    const float epsilon = norm->attr<float>("epsilon");
    Become(norm, *conv, std::move(inputs),
           {{"norm", true}, {"epsilon", epsilon}, {"N", int64_t{4}}});
  }

  void FuseReluGrad(Node* grad) {
    const Node* relu = Only(grad->input(0), "ReluGrad");
    if (relu == nullptr || grad->num_inputs() > 5 ||
        relu->input(1).shape() != grad->input(0).shape())
      return;
    std::vector<Output> inputs(grad->inputs().begin(), grad->inputs().end());
    inputs[0] = relu->input(0);
    inputs.push_back(relu->input(1));
    Become(grad, *grad, std::move(inputs), {{"N", int64_t{1}}});
  }

  Graph& graph_;
  std::unordered_map<Output, int> readers_;
  std::unordered_map<const Node*, bool> awaited_;
  std::unordered_map<const Node*, int> position_;  // in topological order
};

}  // namespace

void FuseImages(Graph& graph, const Device&) {
  if (AnyOfType(graph, "_Blocked")) ImageFuser(graph).Run();
}

}  // namespace sextant
