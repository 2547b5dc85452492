#include "sextant/runtime/analysis.h"

#include <algorithm>
#include <cctype>

#include "sextant/device/kernel_registry.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/passes/effects.h"
#include "sextant/graph/shape_context.h"
#include "sextant/runtime/checks_first.h"
#include "sextant/runtime/compute_ahead.h"
#include "sextant/runtime/lowered_branches.h"

namespace sextant {
namespace {

// Values larger than this are not computed ahead unless they shrink what they are made from.
constexpr size_t kMaxFoldedBytes = 1 << 20;
// Nor, as in TensorFlow, larger ones at all: they would be computed while planning, and be kept.
constexpr size_t kMostFoldedBytes = 10 << 20;
constexpr int kMaxFunctionDepth = 50;
constexpr int kMaxFunctionBodies = 10'000;

// Functions may be called what nodes may not: "__inference_<lambda>_7".
std::string NodeNamePart(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.'; },
      '_');
  return name;
}

class Analyzer {
 public:
  Analyzer(Graph& graph, const PlanRequest& request, const PlanEnvironment& environment)
      : graph_(graph), request_(request), environment_(environment) {}

  Analysis Run(const std::vector<Output>& feeds) {
    for (size_t i = 0; i < feeds.size() && environment_.optimizer.fold_constants; ++i) {
      if (!request_.feeds[i].value) continue;
      result_.values.emplace(feeds[i], *request_.feeds[i].value);
      result_.constants.insert(feeds[i].node());
    }
    for (Node* node : TopologicalOrder(graph_)) {
      result_.deadness.Visit(*node, KnownPredicate(*node));
      if (!result_.deadness.NeverLive(*node)) Visit(node);
    }
    return std::move(result_);
  }

 private:
  void Visit(Node* node) {
    request_.ThrowIfCancelled();
    const std::string& type = node->type();
    if (type == "Const") {
      // With a control input it may lie on a branch that is not taken: then it has no value.
      const bool constant = WaitsForConstantsOnly(*node);
      if (constant || result_.deadness.AlwaysLive(*node))
        result_.values.emplace(node->output(0), node->attr<Tensor>("value"));
      if (constant) result_.constants.insert(node);
      NoteWaits(node, {});
    } else if (type == "Switch" || type == "Merge") {
      Infer(node);
      HandOn(node);
    } else if (type == "If" || type == "StatelessIf") {
      PlanIf(node, {"else_branch", "then_branch"});
    } else if (type == "Case" || type == "StatelessCase") {
      PlanCase(node);
    } else if (type == "While" || type == "StatelessWhile") {
      PlanWhile(node);
    } else if (node->op().shape() && type != "_Feed" && type != "_Recv") {
      Infer(node);
      if (environment_.optimizer.fold_constants) Fold(node);
    }
  }

  // What the condition of a Switch is known to be.
  std::optional<bool> KnownPredicate(const Node& node) const {
    if (node.type() != "Switch") return std::nullopt;
    const auto [source, negated] = Deadness::SourceOfPredicate(node.input(1));
    const auto value = result_.values.find(source);
    if (value == result_.values.end() || value->second.dtype() != DType::kBool ||
        value->second.rank() != 0) {
      return std::nullopt;
    }
    return *value->second.data<bool>() != negated;
  }

  bool WaitsForConstantsOnly(const Node& node) const {
    return std::ranges::all_of(node.control_inputs(), [&](const Node* control) {
      return result_.constants.contains(control);
    });
  }

  // What the node waits for, and those do that its value is computed from.
  void NoteWaits(const Node* node, std::span<const Output> inputs) {
    std::vector<Node*> waits;
    const auto add = [&waits](Node* other) {
      if (std::ranges::find(waits, other) == waits.end()) waits.push_back(other);
    };
    for (Node* control : node->control_inputs()) {
      if (!result_.constants.contains(control)) add(control);
    }
    for (const Output& input : inputs) {
      const auto found = result_.waits.find(input.node());
      if (found != result_.waits.end()) std::ranges::for_each(found->second, add);
    }
    if (!waits.empty()) result_.waits.emplace(node, std::move(waits));
  }

  // Shape and value of what a Switch or a Merge hands on where only one side can be live.
  void HandOn(Node* node) {
    const bool merge = node->type() == "Merge";
    const auto may_live = [&](const Output& o) { return !result_.deadness.NeverLive(o); };
    int from = 0, to = 0;
    if (merge) {
      if (std::ranges::count_if(node->inputs(), may_live) != 1) return;
      from =
          static_cast<int>(std::ranges::find_if(node->inputs(), may_live) - node->inputs().begin());
    } else {
      if (may_live(node->output(0)) == may_live(node->output(1))) return;
      to = may_live(node->output(1)) ? 1 : 0;
    }
    const Output input = node->input(from);
    node->set_output_shape(to, input.shape());
    const auto value = result_.values.find(input);
    if (value == result_.values.end() || !result_.deadness.AlwaysLive(node->output(to)) ||
        !WaitsForConstantsOnly(*node) || !environment_.optimizer.fold_constants) {
      return;
    }
    result_.values.emplace(node->output(to), Tensor(value->second));
    if (merge) result_.values.emplace(node->output(1), Tensor(from));
    if (result_.constants.contains(input.node())) result_.constants.insert(node);
    NoteWaits(node, {{input}});
  }

  std::optional<Tensor> Value(Output output) const {
    if (const auto it = result_.values.find(output); it != result_.values.end()) return it->second;
    return ConstantValue(output);
  }

  void Infer(Node* node) {
    try {
      graph_.InferShapes(
          node, [&](int i) { return Value(node->input(i)); },
          [&](int i) {
            if (const auto value = Value(node->input(i))) return AsShape(*value);
            return ConstantValueAsShape(node->input(i));
          });
    } catch (const Error&) {
      for (int i = 0; i < node->num_outputs(); ++i) node->set_output_shape(i, PartialShape());
    }
  }

  static PartialShape AsShape(const Tensor& value) {
    if (value.rank() != 1) return PartialShape();
    return PartialShape(value.AsInt64s());
  }

  void Fold(Node* node) {
    if (node->op().stateful() || node->op().structural() || node->num_outputs() == 0) return;
    if (MayAwaitInput(*node)) return;  // a file may change, or be a pipe
    bool constant = WaitsForConstantsOnly(*node);
    if (!constant && !result_.deadness.AlwaysLive(*node)) return;
    // Defaults stay unknown, as if they were fed, except for those that decide conditionals.
    if (node->type().starts_with("Placeholder") &&
        (node->num_inputs() == 0 || node->output_type(0) != DType::kBool)) {
      return;
    }
    size_t input_bytes = 0, output_bytes = 0;
    std::vector<Tensor> inputs;
    if (FoldShape(node)) return;
    for (const Output& input : node->inputs()) {
      const auto value = result_.values.find(input);
      if (value == result_.values.end()) return;
      constant = constant && result_.constants.contains(input.node());
      input_bytes += value->second.bytes();
      inputs.push_back(value->second);
    }
    for (int i = 0; i < node->num_outputs(); ++i) {
      const DType dtype = node->output_type(i);
      if (dtype == DType::kVariant || dtype == DType::kResource) return;
      const int64_t count =
          node->output_shape(i).rank_known() ? node->output_shape(i).num_elements() : -1;
      if (count < 0 && input_bytes > kMaxFoldedBytes) return;
      output_bytes += std::max<int64_t>(count, 0) * DTypeSize(dtype);
    }
    if (output_bytes > kMaxFoldedBytes && output_bytes > input_bytes) return;
    if (output_bytes > kMostFoldedBytes) return;
    const KernelDef* kernel = KernelRegistry::Global().Find(*node, "CPU");
    if (!kernel) return;
    try {
      Evaluate(node, *kernel, std::move(inputs));
      if (constant) result_.constants.insert(node);
      NoteWaits(node, node->inputs());
    } catch (...) {
      // It will fail again, with its name, if it is reached.
    }
  }

  // Shape, ShapeN, Size and Rank depend on the shape of their input only.
  bool FoldShape(Node* node) {
    const std::string& type = node->type();
    if (type != "Shape" && type != "ShapeN" && type != "Size" && type != "Rank") return false;
    if (!result_.deadness.AlwaysLive(*node)) return true;
    for (int i = 0; i < node->num_outputs(); ++i) {
      auto value = ConstantValue(node->output(i));
      if (!value) continue;
      result_.values[node->output(i)] = std::move(*value);
    }
    NoteWaits(node, {});
    return true;
  }

  void Evaluate(Node* node, const KernelDef& def, std::vector<Tensor> inputs) {
    std::vector<Tensor> outputs =
        ComputeAhead(*node, def, std::move(inputs), environment_.allocator);
    for (int i = 0; i < node->num_outputs(); ++i) {
      Tensor& value = outputs[static_cast<size_t>(i)];
      node->set_output_shape(i, value.shape());
      result_.values[node->output(i)] = std::move(value);
    }
  }

  // ---- branches

  PlanRequest BranchRequest(const Node& node, const FuncAttr& function, const FunctionBody& body,
                            const std::string& label, size_t first_input) {
    if (request_.depth >= kMaxFunctionDepth) {
      throw InvalidArgument("functions are nested more than {} deep", kMaxFunctionDepth);
    }
    PlanRequest request;
    request.source = body.graph.get();
    request.fetches = body.results;
    request.lowered = request_.lowered && IsLowered(node);
    request.targets = request.lowered ? ControlResults(graph_.functions().Get(function.name), body)
                                      : EffectsOf(body);
    request.name_prefix = node.name() + "/" + NodeNamePart(label) + "/";
    request.depth = request_.depth + 1;
    request.cancellation = request_.cancellation;
    request.bodies_left = request_.bodies_left ? request_.bodies_left : &bodies_left_;
    if (--*request.bodies_left < 0) {
      throw ResourceExhausted("there are more than {} branches and loops", kMaxFunctionBodies);
    }
    if (body.args.size() + first_input != static_cast<size_t>(node.num_inputs())) {
      throw InvalidArgument("branch '{}' takes {} arguments, the node gives {}", label,
                            body.args.size(), node.num_inputs() - first_input);
    }
    for (size_t i = 0; i < body.args.size(); ++i) {
      const Output input = node.input(static_cast<int>(i + first_input));
      CheckType(label, "argument", i, body.args[i].dtype(), input.dtype());
      request.feeds.push_back(
          {.tensor = body.args[i], .dtype = RemoveRef(input.dtype()), .shape = input.shape()});
    }
    return request;
  }

  static std::vector<Operation> EffectsOf(const FunctionBody& body) {
    for (int id = 0; id < body.graph->num_nodes(); ++id) {
      if (body.graph->node(id)->type() != "Enter") continue;
      // Nodes inside of a v1 loop cannot be targets.
      const std::vector<Node*> ends = Effects(*body.graph).EndsIn(body);
      return {ends.begin(), ends.end()};
    }
    return body.effects;
  }

  static void CheckType(const std::string& label, const char* what, size_t i, DType own,
                        DType wanted) {
    if (RemoveRef(own) == RemoveRef(wanted)) return;
    throw InvalidArgument("{} {} of branch '{}' is {}, the node's is {}", what, i, label,
                          DTypeName(own), DTypeName(wanted));
  }

  static void CheckResults(const Node& node, const FunctionBody& body, const std::string& label) {
    if (body.results.size() != static_cast<size_t>(node.num_outputs())) {
      throw InvalidArgument("branch '{}' returns {} values, the node gives {}", label,
                            body.results.size(), node.num_outputs());
    }
    for (size_t i = 0; i < body.results.size(); ++i) {
      CheckType(label, "result", i, body.results[i].dtype(), node.output_type(static_cast<int>(i)));
    }
  }

  std::shared_ptr<const FunctionBody> Body(const FuncAttr& function) {
    static const AttrMap kNone;
    return graph_.functions()
        .Get(function.name)
        .Instantiate(graph_.functions(), function.attrs ? *function.attrs : kNone);
  }

  // Constant arguments are told to a branch, so that it can be folded too.
  void TellValues(PlanRequest& request, const Node& node, size_t first_input) {
    for (size_t i = 0; i < request.feeds.size(); ++i) {
      request.feeds[i].value = Value(node.input(static_cast<int>(i + first_input)));
    }
  }

  void PlanIf(Node* node, const std::vector<std::string>& attrs) {
    std::vector<FuncAttr> functions;
    for (const std::string& attr : attrs) functions.push_back(node->attr<FuncAttr>(attr));
    PlanBranches(node, functions);
  }

  void PlanCase(Node* node) { PlanBranches(node, node->attr<std::vector<FuncAttr>>("branches")); }

  void PlanBranches(Node* node, const std::vector<FuncAttr>& functions) {
    auto& plans = result_.branches[node];
    std::vector<int32_t>& outputs = result_.branch_outputs[node];
    LoweredUse use = UseOf(*node, request_.lowered);
    outputs = std::move(use.outputs);
    for (const FuncAttr& function : functions) {
      const auto body = Body(function);
      CheckResults(*node, *body, function.name);
      PlanRequest request = BranchRequest(*node, function, *body, function.name, 1);
      request.fetches.clear();
      for (const int32_t i : outputs) request.fetches.push_back(body->results[i]);
      if (!use.control_results) request.targets.clear();
      TellValues(request, *node, 1);
      plans.push_back(BuildPlan(request, environment_));
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
      PartialShape shape = plans[0]->fetch_shapes[k];
      for (const auto& plan : plans) shape = shape.RelaxWith(plan->fetch_shapes[k]);
      node->set_output_shape(outputs[k], shape);
    }
  }

  // Sizes of the loop's variables that an iteration changes become unknown, until the body agrees
  // with what it is given.
  void PlanWhile(Node* node) {
    const FuncAttr& cond = node->attr<FuncAttr>("cond");
    const FuncAttr& body = node->attr<FuncAttr>("body");
    const auto cond_body = Body(cond), body_body = Body(body);
    PlanRequest cond_request = BranchRequest(*node, cond, *cond_body, "cond", 0);
    PlanRequest body_request = BranchRequest(*node, body, *body_body, "body", 0);
    body_request.loop_body = true;
    CheckResults(*node, *body_body, "body");
    if (body_request.lowered) PassUnneededOn(*node, *body_body, body_request.fetches);
    if (cond_body->results.size() != 1) {
      throw InvalidArgument("the condition returns {} values, must return one",
                            cond_body->results.size());
    }
    for (size_t i = 0; i < body_request.feeds.size(); ++i) {
      if (body_body->results[i] == body_body->args[i]) {
        const auto value = Value(node->input(static_cast<int>(i)));
        cond_request.feeds[i].value = body_request.feeds[i].value = value;
      }
    }
    std::shared_ptr<const Plan> plan;
    for (int round = 0;; ++round) {
      plan = BuildPlan(body_request, environment_);
      bool stable = true;
      for (size_t i = 0; i < body_request.feeds.size(); ++i) {
        PartialShape& given = body_request.feeds[i].shape;
        PartialShape relaxed = round < 2 ? given.RelaxWith(plan->fetch_shapes[i]) : PartialShape();
        if (round >= 2 && given == plan->fetch_shapes[i]) relaxed = given;
        if (!(relaxed == given)) {
          given = relaxed;
          stable = false;
        }
      }
      if (stable) break;
    }
    for (size_t i = 0; i < cond_request.feeds.size(); ++i) {
      cond_request.feeds[i].shape = body_request.feeds[i].shape;
    }
    result_.branches[node] = {BuildPlan(cond_request, environment_), plan};
    for (int i = 0; i < node->num_outputs(); ++i) {
      node->set_output_shape(i, body_request.feeds[i].shape);
    }
  }

  Graph& graph_;
  const PlanRequest& request_;
  const PlanEnvironment& environment_;
  Analysis result_;
  int bodies_left_ = kMaxFunctionBodies;
};

}  // namespace

Analysis AnalyzeGraph(Graph& graph, const PlanRequest& request, const std::vector<Output>& feeds,
                      const PlanEnvironment& environment) {
  return Analyzer(graph, request, environment).Run(feeds);
}

}  // namespace sextant
