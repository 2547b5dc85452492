#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/graph/replica.h"
#include "sextant/ops/state/variable.h"

namespace sextant {
namespace {

Graph& OutermostGraph() {
  Graph* graph = &CurrentGraph();
  while (graph->outer() != nullptr) graph = graph->outer();
  return *graph;
}

const HandleShape& HandleInfo(Output handle) {
  if (!handle) throw InvalidArgument("a variable's handle is needed, got an empty Output");
  const HandleShape* info = handle.node()->output_handle(handle.index());
  if (info == nullptr)
    throw InvalidArgument("a variable's handle is needed, got {}", handle.name());
  return *info;
}

}  // namespace

Output VarHandle(DType dtype, const PartialShape& shape, std::string_view name) {
  return OpBuilder("VarHandleOp").Attr("dtype", dtype).Attr("shape", shape).Name(name).Build();
}

Output ReadVariable(Output handle) {
  return OpBuilder("ReadVariableOp").Input(handle).Attr("dtype", HandleInfo(handle).dtype).Build();
}

Operation AssignVariable(Output handle, Output value) {
  return OpBuilder("AssignVariableOp").Input(handle).Input(value).BuildOperation();
}

Output VariableShape(Output handle, DType out_type) {
  return OpBuilder("VariableShape").Input(handle).Attr("out_type", out_type).Build();
}

Variable::Variable(std::string_view name, const Tensor& initial_value,
                   const VariableOptions& options) {
  Create(
      name, [&] { return Const(initial_value, "initial_value"); }, options);
}

Variable::Variable(std::string_view name, Output initial_value, const VariableOptions& options) {
  Create(
      name, [&] { return initial_value; }, options);
}

Variable::Variable(std::string_view name, const Initializer& initializer,
                   const VariableOptions& options) {
  Create(name, initializer, options);
}

void Variable::Create(std::string_view name, const Initializer& initializer,
                      const VariableOptions& options) {
  if (name.empty()) throw InvalidArgument("a variable needs a name");
  Replica* replica = Replica::Current();
  if (replica != nullptr && replica->index() > 0) {
    *this = FromHandle(replica->NextVariable(name));
    return;
  }
  const std::vector<std::string> scope_collections = CurrentScope().collections;
  std::optional<GraphScope> outermost;
  if (CurrentGraph().outer() != nullptr) outermost.emplace(OutermostGraph());
  Graph& graph = CurrentGraph();
  const ControlDependencies none({});
  const std::string full_name = graph.UniqueName(CurrentScope().name + std::string(name));
  const NameScope inside(full_name + "/");
  Output initial;
  {
    const NameScope scope(full_name + "/Initializer/");
    initial = initializer();
  }
  if (!initial) throw InvalidArgument("the initializer of variable '{}' gave no value", full_name);
  const PartialShape shape =
      options.shape ? options.shape->MergeWith(initial.shape()) : initial.shape();
  NodeSpec spec{.name = full_name, .op = graph.FindOp("VarHandleOp")};
  if (spec.op == nullptr) throw NotFound("op type 'VarHandleOp' is not registered");
  spec.attrs = {{"container", ""},         {"shared_name", full_name},
                {"debug_name", full_name}, {"dtype", initial.dtype()},
                {"shape", shape},          {"allowed_devices", std::vector<std::string>()}};
  ApplyDeviceScopes(spec);
  const std::string device = spec.device;  // of all that has to do with it
  handle_ = graph.AddNode(std::move(spec))->output(0);
  OpBuilder("VarIsInitializedOp")
      .Input(handle_)
      .Device(device)
      .Name("IsInitialized/VarIsInitializedOp")
      .Build();
  initializer_ = OpBuilder("AssignVariableOp")
                     .Input(handle_)
                     .Input(initial)
                     .Device(device)
                     .Name("Assign")
                     .BuildOperation();
  read_ = OpBuilder("ReadVariableOp")
              .Input(handle_)
              .Attr("dtype", dtype())
              .Device(device)
              .Name("Read/ReadVariableOp")
              .Build();
  if (replica != nullptr) replica->NoteVariable(name, handle_);

  std::vector<std::string> collections = options.collections;
  collections.insert(collections.end(), scope_collections.begin(), scope_collections.end());
  if (options.trainable) collections.push_back(kTrainableVariables);
  for (size_t i = 0; i < collections.size(); ++i) {
    const auto end = collections.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(collections.begin(), end, collections[i]) == end) {
      graph.AddToCollection(collections[i], handle_);
    }
  }
}

Variable Variable::FromHandle(Output handle) {
  HandleInfo(handle);
  Variable variable;
  variable.handle_ = handle;
  const Graph& graph = handle.graph();
  if (Node* read = graph.FindNode(variable.name() + "/Read/ReadVariableOp")) {
    variable.read_ = read->output(0);
  }
  variable.initializer_ = graph.FindNode(variable.name() + "/Assign");
  return variable;
}

Output Variable::is_initialized() const {
  if (Node* node = handle_.graph().FindNode(name() + "/IsInitialized/VarIsInitializedOp")) {
    return node->output(0);
  }
  return OpBuilder("VarIsInitializedOp").Input(handle_).Build();
}

Output Variable::Read() const {
  return OpBuilder("ReadVariableOp")
      .Input(handle_)
      .Attr("dtype", dtype())
      .Device(handle_.node()->device())
      .Build();
}

Output Variable::value() const {
  const bool ordered = HasCurrentScope() && (&CurrentGraph() != &handle_.graph() ||
                                             !CurrentScope().control_inputs.empty());
  return read_ && !ordered ? read_ : Read();
}

Output Variable::Update(const char* op, Output value) const {
  const Operation update =
      OpBuilder(op).Input(handle_).Input(value).Device(handle_.node()->device()).BuildOperation();
  const ControlDependencies after({update});
  return Read();
}

Variable GetVariable(std::string_view name, const Variable::Initializer& initializer,
                     const VariableOptions& options) {
  const std::string full_name = VariableScope::CurrentName() + std::string(name);
  const Replica* replica = Replica::Current();
  const bool shared = replica != nullptr && replica->index() > 0;
  const Reuse reuse = shared ? Reuse::kTrue : VariableScope::CurrentReuse();
  const OutsideReplicas by_name;  // not by the order in which they are made
  Graph& graph = OutermostGraph();
  Node* existing = graph.FindNode(full_name);
  if (existing != nullptr && existing->type() != "VarHandleOp") existing = nullptr;
  if (existing == nullptr) {
    if (reuse == Reuse::kTrue) {
      throw InvalidArgument("there is no variable '{}' to reuse", full_name);
    }
    const NameScope root("");
    return Variable(full_name, initializer, options);
  }
  if (reuse != Reuse::kTrue && reuse != Reuse::kAuto) {
    throw InvalidArgument(
        "variable '{}' already exists; open its VariableScope with Reuse::kTrue "
        "or Reuse::kAuto to share it",
        full_name);
  }
  const Variable found = Variable::FromHandle(existing->output(0));
  if (options.shape && !found.shape().CompatibleWith(*options.shape)) {
    throw InvalidArgument("variable '{}' has shape {} and cannot be reused with shape {}",
                          full_name, found.shape().ToString(), options.shape->ToString());
  }
  return found;
}

std::vector<Variable> CollectedVariables(std::string_view collection, std::string_view scope) {
  std::vector<Variable> variables;
  for (const Output& handle : OutermostGraph().Collection(collection, scope)) {
    variables.push_back(Variable::FromHandle(handle));
  }
  return variables;
}

Operation VariablesInitializer(const std::vector<Variable>& variables, std::string_view name) {
  OpBuilder group("NoOp");
  for (const Variable& variable : variables) {
    if (!variable.initializer()) {
      throw FailedPrecondition("variable '{}' has no initializer", variable.name());
    }
    group.ControlInput(variable.initializer());
  }
  return group.Name(name).BuildOperation();
}

}  // namespace sextant
