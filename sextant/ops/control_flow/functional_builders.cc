#include <algorithm>
#include <unordered_map>

#include "sextant/graph/body_copy.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/passes/effects.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/control_flow/functional.h"

namespace sextant {

namespace {

// A function traced from a lambda: a graph that captures from the enclosing one.
struct Traced {
  std::unique_ptr<Graph> graph;
  std::vector<Output> args, results;
};

template <typename Call>
Traced Trace(Graph& outer, const std::vector<PartialShape>& shapes, const std::vector<DType>& types,
             const Call& call) {
  FunctionBody body;
  body.graph = std::make_unique<Graph>(&outer);
  const GraphScope use(*body.graph);
  for (size_t i = 0; i < types.size(); ++i) AddArgument(body, types[i], shapes[i], "var");
  Traced traced;
  traced.results = call(body.args);
  for (Output& result : traced.results) {
    if (!result) throw InvalidArgument("a control flow function gave an empty Output");
    result = body.graph->Capture(result);
  }
  traced.args = std::move(body.args);
  traced.graph = std::move(body.graph);
  return traced;
}

// The enclosing tensors that any of the functions captured, each once.
std::vector<Output> AllCaptures(const std::vector<const Traced*>& functions) {
  std::vector<Output> captures;
  for (const Traced* function : functions) {
    for (const auto& [outer, inner] : function->graph->captures()) {
      if (std::ranges::find(captures, outer) == captures.end()) captures.push_back(outer);
    }
  }
  return captures;
}

// The function with one argument per variable and per capture. Loop bodies return the captures too.
FunctionBody Close(const Traced& traced, const std::vector<Output>& captures,
                   bool return_captures) {
  FunctionBody body;
  body.graph = std::make_unique<Graph>();
  body.graph->set_seed(traced.graph->seed());
  GraphCopier copier(*traced.graph, *body.graph);
  for (Output arg : traced.args) {
    copier.Map(arg, AddArgument(body, arg.dtype(), arg.shape(), arg.node()->name()));
  }
  std::unordered_map<Output, Output> inner_of(traced.graph->captures().begin(),
                                              traced.graph->captures().end());
  for (Output outer : captures) {
    const Output arg = AddArgument(body, RemoveRef(outer.dtype()), outer.shape(), "captured",
                                   outer.node()->output_handle(outer.index()));
    if (const auto it = inner_of.find(outer); it != inner_of.end()) copier.Map(it->second, arg);
  }
  for (Output result : traced.results) body.results.push_back(copier.Copy(result));
  if (return_captures) {
    body.results.insert(body.results.end(), body.args.end() - captures.size(), body.args.end());
  }
  Effects effects(*traced.graph);
  for (int i = 0; i < traced.graph->num_nodes(); ++i) {
    Node* node = traced.graph->node(i);
    if (effects.HasEffect(*node)) body.effects.push_back(copier.CopyNode(node));
  }
  return body;
}

std::vector<Output> Branches(const char* op, const char* name, Output selector,
                             const std::vector<BranchFunction>& functions) {
  Graph& graph = CurrentGraph();
  const NameScope scope(name);
  std::vector<Traced> traced;
  for (const BranchFunction& function : functions) {
    traced.push_back(Trace(graph, {}, {}, [&](const std::vector<Output>&) { return function(); }));
    if (traced.back().results.size() != traced.front().results.size()) {
      throw InvalidArgument("the branches of {} give {} and {} tensors", name,
                            traced.front().results.size(), traced.back().results.size());
    }
  }
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
  for (size_t i = 0; i < traced[0].results.size(); ++i) {
    types.push_back(traced[0].results[i].dtype());
    shapes.push_back(traced[0].results[i].shape());
    for (const Traced& branch : traced) {
      if (branch.results[i].dtype() != types[i]) {
        throw InvalidArgument("result {} of the branches of {} is {} and {}", i, name,
                              DTypeName(types[i]), DTypeName(branch.results[i].dtype()));
      }
      shapes[i] = shapes[i].RelaxWith(branch.results[i].shape());
    }
  }
  std::vector<const Traced*> all;
  for (const Traced& branch : traced) all.push_back(&branch);
  const std::vector<Output> captures = AllCaptures(all);
  std::vector<FuncAttr> attrs;
  bool stateful = false;
  for (const Traced& branch : traced) {
    FunctionBody body = Close(branch, captures, false);
    stateful = stateful || IsStateful(body);
    const std::string base = scope.name().substr(0, scope.name().size() - 1);
    attrs.push_back(AddFunction(std::move(body), base + "_branch", graph, graph));
  }
  OpBuilder builder(stateful ? op : std::string("Stateless") + op);
  builder.Input(selector).Input(captures).Attr("Tout", types).Attr("output_shapes", shapes);
  if (std::string_view(op) == "If") {
    builder.Attr("then_branch", attrs[0]).Attr("else_branch", attrs[1]);
  } else {
    builder.Attr("branches", attrs);
  }
  return builder.BuildAll();
}

// The variable may not be known less well after an iteration than before it.
void CheckInvariant(size_t i, const PartialShape& before, DType before_type, Output after) {
  if (after.dtype() != before_type) {
    throw InvalidArgument("loop variable {} is {}, the body makes it {}", i, DTypeName(before_type),
                          DTypeName(after.dtype()));
  }
  if (before.RelaxWith(after.shape()) == before) return;
  throw InvalidArgument(
      "loop variable {} has shape {} before an iteration and {} after it; give shape_invariants", i,
      before.ToString(), after.shape().ToString());
}

}  // namespace

std::vector<Output> Cond(Output pred, const BranchFunction& then_branch,
                         const BranchFunction& else_branch) {
  return Branches("If", "cond", pred, {then_branch, else_branch});
}

std::vector<Output> SwitchCase(Output index, const std::vector<BranchFunction>& branches,
                               const BranchFunction& default_branch) {
  std::vector<BranchFunction> all = branches;
  if (default_branch) all.push_back(default_branch);
  if (all.empty()) throw InvalidArgument("SwitchCase needs at least one branch");
  return Branches("Case", "switch_case", index, all);
}

std::vector<Output> While(const LoopCondition& condition, const LoopBody& body,
                          const std::vector<Output>& init, const WhileOptions& options) {
  Graph& graph = CurrentGraph();
  const NameScope scope("while");
  const bool counted = options.maximum_iterations.has_value();
  std::vector<Output> inputs = init;
  std::vector<PartialShape> shapes = options.shape_invariants;
  if (!shapes.empty() && shapes.size() != init.size()) {
    throw InvalidArgument("{} shape invariants for {} loop variables", shapes.size(), init.size());
  }
  for (size_t i = shapes.size(); i < init.size(); ++i) shapes.push_back(init[i].shape());
  if (counted) {  // the last variable counts iterations
    inputs.push_back(Const(Tensor(int64_t{0}), "iteration"));
    shapes.push_back(Shape());
  }
  std::vector<DType> types;
  for (Output input : inputs) types.push_back(RemoveRef(input.dtype()));
  const auto user_vars = [&](const std::vector<Output>& vars) {
    return std::vector<Output>(vars.begin(), vars.begin() + init.size());
  };
  const Traced traced_condition = Trace(graph, shapes, types, [&](const std::vector<Output>& vars) {
    Output holds = condition(user_vars(vars));
    if (counted) {
      const Output limit = Const(Tensor(*options.maximum_iterations), "limit");
      const Output below = OpBuilder("Less").Input(vars.back()).Input(limit).Build();
      holds = OpBuilder("LogicalAnd").Input(below).Input(holds).Build();
    }
    return std::vector<Output>{holds};
  });
  const Traced traced_body = Trace(graph, shapes, types, [&](const std::vector<Output>& vars) {
    std::vector<Output> results = body(user_vars(vars));
    if (results.size() != init.size()) {
      throw InvalidArgument("the loop body gives {} values for {} variables", results.size(),
                            init.size());
    }
    if (counted) {
      const Output one = Const(Tensor(int64_t{1}), "one");
      results.push_back(OpBuilder("AddV2").Input(vars.back()).Input(one).Build());
    }
    return results;
  });
  for (size_t i = 0; i < inputs.size(); ++i) {
    CheckInvariant(i, shapes[i], types[i], traced_body.results[i]);
  }
  const std::vector<Output> captures = AllCaptures({&traced_condition, &traced_body});
  FunctionBody closed_condition = Close(traced_condition, captures, false);
  FunctionBody closed_body = Close(traced_body, captures, true);
  const bool stateful = IsStateful(closed_condition) || IsStateful(closed_body);
  const std::string base = scope.name().substr(0, scope.name().size() - 1);
  for (Output capture : captures) {
    inputs.push_back(capture);
    shapes.push_back(capture.shape());
  }
  const FuncAttr cond_attr = AddFunction(std::move(closed_condition), base + "_cond", graph, graph);
  const FuncAttr body_attr = AddFunction(std::move(closed_body), base + "_body", graph, graph);
  std::vector<Output> outputs = OpBuilder(stateful ? "While" : "StatelessWhile")
                                    .Input(inputs)
                                    .Attr("cond", cond_attr)
                                    .Attr("body", body_attr)
                                    .Attr("output_shapes", shapes)
                                    .Attr("parallel_iterations", options.parallel_iterations)
                                    .BuildAll();
  outputs.resize(init.size());
  return outputs;
}

}  // namespace sextant
