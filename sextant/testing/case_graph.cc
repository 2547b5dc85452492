#include "sextant/testing/case_graph.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"

namespace sextant::testing {

const char* StaticShapesName(StaticShapes shapes) {
  switch (shapes) {
    case StaticShapes::kFull:
      return "static shapes known";
    case StaticShapes::kFirstUnknown:
      return "first dimension unknown";
    default:
      return "rank unknown";
  }
}

CaseGraph::CaseGraph(const OpCase& op_case, StaticShapes shapes, bool constants)
    : shapes_(shapes), constants_(constants) {
  const GraphScope scope(graph_);
  node_ = Build(op_case.call);
  for (int i = 0; i < node_->num_outputs(); ++i) {
    const DType dtype = RemoveRef(node_->output_type(i));
    if (IsPlain(dtype) || dtype == DType::kString) outputs_.push_back(node_->output(i));
  }
  // A reference variable that is itself the op under test can be read once it has a value.
  if (node_->num_inputs() == 0 && node_->num_outputs() == 1 && IsRef(node_->output_type(0))) {
    const Output variable = node_->output(0);
    const Tensor zeros = Tensor::Zeros(RemoveRef(variable.dtype()), variable.shape().AsShape());
    initializers_.push_back(
        OpBuilder("Assign").Input(variable).Input(Const(zeros)).BuildOperation());
  }
}

std::vector<Tensor> CaseGraph::Run(Session& session, const std::vector<Input>& inputs,
                                   const std::vector<Output>& fetches) const {
  FeedMap feeds;
  for (const Input& input : inputs) feeds.emplace_back(input.feed, input.value);
  if (!initializers_.empty()) session.Run(feeds, {}, initializers_);
  return session.Run(feeds, fetches, {node_});
}

Node* CaseGraph::Build(const CaseCall& call) {
  std::vector<std::vector<Output>> args;
  for (const CaseInput& input : call.inputs) {
    std::vector<Output> values;
    if (input.kind == CaseInput::Kind::kList) {
      for (const CaseInput& element : input.list) values.push_back(Build(element));
    } else {
      values.push_back(Build(input));
    }
    args.push_back(std::move(values));
  }
  OpBuilder builder(call.op);
  for (size_t i = 0; i < args.size(); ++i) {
    if (call.inputs[i].kind == CaseInput::Kind::kList) {
      builder.Input(std::move(args[i]));
    } else {
      builder.Input(args[i][0]);
    }
  }
  for (const auto& [name, value] : call.attrs) builder.Attr(name, value);
  return builder.BuildNode();
}

Output CaseGraph::Build(const CaseInput& input) {
  switch (input.kind) {
    case CaseInput::Kind::kConst:
      return Const(input.value);
    case CaseInput::Kind::kVariable:
      return BuildVariable(input.value);
    case CaseInput::Kind::kRefVariable:
      return BuildRefVariable(input.value);
    case CaseInput::Kind::kList:
      throw InvalidArgument("a list inside a list");
    case CaseInput::Kind::kCall: {
      Node* node = Build(*input.call);
      if (input.output >= node->num_outputs()) {
        throw InvalidArgument("{} has no output {}", input.call->op, input.output);
      }
      return node->output(input.output);
    }
    case CaseInput::Kind::kPlaceholder:
      break;
  }
  if (constants_) return Const(input.value);
  const Output x = BuildPlaceholder(input.value, shapes_);
  inputs_.push_back({x, x, input.value});
  return x;
}

Output CaseGraph::BuildPlaceholder(const Tensor& value, StaticShapes shapes) {
  PartialShape shape = value.shape();
  if (shapes == StaticShapes::kNone) shape = PartialShape();
  if (shapes == StaticShapes::kFirstUnknown && value.rank() > 0)
    shape.set_dim(0, PartialShape::kUnknown);
  return OpBuilder("Placeholder").Attr("dtype", value.dtype()).Attr("shape", shape).Build();
}

Output CaseGraph::BuildVariable(const Tensor& value) {
  const Output feed = BuildPlaceholder(value, StaticShapes::kFull);
  const Output handle = OpBuilder("VarHandleOp")
                            .Attr("dtype", value.dtype())
                            .Attr("shape", PartialShape(value.shape()))
                            .Attr("shared_name", feed.node()->name() + "/variable")
                            .Build();
  initializers_.push_back(OpBuilder("AssignVariableOp").Input(handle).Input(feed).BuildOperation());
  inputs_.push_back({feed, handle, value});
  return handle;
}

Output CaseGraph::BuildRefVariable(const Tensor& value) {
  const Output feed = BuildPlaceholder(value, StaticShapes::kFull);
  const Output variable = OpBuilder("VariableV2")
                              .Attr("dtype", value.dtype())
                              .Attr("shape", PartialShape(value.shape()))
                              .Build();
  initializers_.push_back(OpBuilder("Assign").Input(variable).Input(feed).BuildOperation());
  inputs_.push_back({feed, variable, value});
  return variable;
}

}  // namespace sextant::testing
