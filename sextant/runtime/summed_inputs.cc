#include "sextant/runtime/summed_inputs.h"

#include "sextant/base/error.h"
#include "sextant/device/remote_task.h"
#include "sextant/graph/gradient_mark.h"

namespace sextant {
namespace {

// As the gradients of several devices are put together (train/replica_gradients.h).
class MeanBuilder {
 public:
  MeanBuilder(Graph& graph, const Node& mark) : graph_(graph), mark_(mark) {}

  Output Build(const std::vector<Output>& all) {
    if (all.size() == 1) return all[0];
    const GradientMark::Kind kind = GetGradientMark(mark_).kind;
    const DType dtype = RemoveRef(all[0].dtype());
    const auto count = static_cast<int64_t>(all.size());
    if (kind == GradientMark::Kind::kDense)
      return Share(Add("AddN", "sum", all, {{"N", count}, {"T", dtype}}), count);
    std::vector<Output> inputs = all;
    inputs.push_back(
        Add("Const", "axis", {}, {{"value", Tensor(int32_t{0})}, {"dtype", DType::kInt32}}));
    const Output rows =
        Add("ConcatV2", "rows", inputs, {{"N", count}, {"T", dtype}, {"Tidx", DType::kInt32}});
    return kind == GradientMark::Kind::kIndices ? rows : Share(rows, count);
  }

 private:
  Output Share(Output sum, int64_t count) {
    const double share = 1.0 / static_cast<double>(count);
    Output factor =
        Add("Const", "share", {}, {{"value", Tensor(share)}, {"dtype", DType::kDouble}});
    if (sum.dtype() != DType::kDouble) {
      factor = Add("Cast", "share_cast", {factor},
                   {{"SrcT", DType::kDouble}, {"DstT", sum.dtype()}, {"Truncate", false}});
    }
    return Add("Mul", "mean", {sum, factor}, {{"T", sum.dtype()}});
  }
  Output Add(const char* op, const char* name, std::vector<Output> inputs, AttrMap attrs) {
    return graph_
        .AddNode({.name = mark_.name() + "/" + name,
                  .op = graph_.FindOp(op),
                  .inputs = std::move(inputs),
                  .attrs = std::move(attrs),
                  .device = mark_.device()})
        ->output(0);
  }

  Graph& graph_;
  const Node& mark_;
};

}  // namespace

Output AddStandIn(Graph& graph, const std::string& name, Output tensor) {
  return graph
      .AddNode({.name = name,
                .op = graph.FindOp("Placeholder"),
                .attrs = {{"dtype", RemoveRef(tensor.dtype())}, {"shape", PartialShape()}}})
      ->output(0);
}

SummedInputs SumContributions(Graph& graph, const std::vector<Node*>& nodes,
                              const std::unordered_map<Output, Output>& inputs) {
  SummedInputs result;
  const std::unordered_set<const Node*> part(nodes.begin(), nodes.end());
  std::vector<Node*> marks;
  for (Node* node : nodes) {
    if (!IsGradientMark(*node)) continue;
    if (part.contains(node->input(0).node())) continue;  // has been summed up
    const int replicas = GetGradientMark(*node).replicas_to_aggregate;
    if (!marks.empty() && replicas != result.replicas) {
      throw InvalidArgument(
          "[{} {}] is the mean of {} replicas, [{} {}] that of {}: they are updated in one step "
          "and must agree",
          node->type(), node->name(), replicas, marks[0]->type(), marks[0]->name(),
          result.replicas);
    }
    result.replicas = replicas;
    marks.push_back(node);
  }
  std::unordered_map<Output, std::vector<Output>> contributions;
  std::unordered_map<Output, Output> means;
  for (Node* mark : marks) {
    const Output gradient = mark->input(0);
    std::vector<Output>& all = contributions[gradient];
    const auto input = inputs.find(gradient);  // none: a constant, which all have
    for (int i = 0; all.size() < static_cast<size_t>(result.replicas); ++i) {
      if (input == inputs.end()) {
        all.push_back(gradient);
      } else if (i == 0) {
        all.push_back(input->second);
      } else {
        all.push_back(
            AddStandIn(graph, InputOfContribution(input->second.node()->name(), i), gradient));
      }
    }
    if (input != inputs.end()) result.gradients.insert(gradient);
    means[mark->output(0)] = MeanBuilder(graph, *mark).Build(all);
  }
  for (Node* node : nodes) {
    for (int i = 0; i < node->num_inputs(); ++i) {
      if (const auto found = means.find(node->input(i)); found != means.end())
        graph.SetInput(node, i, found->second);
    }
  }
  return result;
}

}  // namespace sextant
