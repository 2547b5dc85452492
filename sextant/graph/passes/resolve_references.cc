// A reference is the variable itself: who reads it sees its content when the read happens, who
// changes it returns the same reference. After the rewriting every edge carries either a handle or
// a value, and each read is a ReadVariableOp whose control inputs say when it happens:
//
//   VariableV2 v ─→ AssignAdd(v, d) ─→ Identity        v: VarHandleOp,  AssignAddVariableOp(v, d)
//                                            becomes   ReadVariableOp(v) after it ─→ Identity
//
// Invariant: for every tensor that was a reference, "references_" has the handle and the change
// that its readers come after. A read that stands for a shared buffer, seen later than it was made,
// has been made one of its own before (fresh_reads.h).
#include "sextant/graph/passes/resolve_references.h"

#include <algorithm>
#include <unordered_map>

#include "sextant/base/cancellable_wait.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/passes/fresh_reads.h"
#include "sextant/graph/passes/rewriting.h"

namespace sextant {
namespace {

// Ops that only hand a reference on, and what hands on a handle.
std::string_view HandedOnBy(std::string_view type) {
  static const auto* kOps = new std::unordered_map<std::string_view, std::string_view>{
      {"RefIdentity", "Identity"}, {"RefSwitch", "Switch"}, {"RefMerge", "Merge"},
      {"RefEnter", "Enter"},       {"RefExit", "Exit"},     {"RefNextIteration", "NextIteration"}};
  const auto found = kOps->find(type);
  return found == kOps->end() ? std::string_view() : found->second;
}

// Tables and queues were named by references to strings once; the V2 ops that followed have
// resources.
bool HasResourceV2(const Graph& graph, const Node& node) {
  const OpDef* op = graph.FindOp(node.type() + "V2");
  if (op == nullptr || op->unknown()) return false;
  const auto is_resource = [](const std::vector<ArgDef>& args) {
    return !args.empty() && args[0].type == DType::kResource;
  };
  const bool makes = node.op().inputs().empty() || !node.op().inputs()[0].is_ref;
  return is_resource(makes ? op->outputs() : op->inputs());
}

bool IsNamed(const Graph& graph, const Node& node) {
  return node.num_outputs() == 1 && node.output_type(0) == MakeRef(DType::kString) &&
         HasResourceV2(graph, node);
}

std::string ResourceForm(const Graph& graph, const Node& node) {
  const std::string& type = node.type();
  if (HasResourceV2(graph, node)) return type + "V2";
  static const auto* kOps = new std::unordered_map<std::string_view, std::string_view>{
      {"Assign", "AssignVariableOp"},
      {"AssignAdd", "AssignAddVariableOp"},
      {"AssignSub", "AssignSubVariableOp"},
      {"IsVariableInitialized", "VarIsInitializedOp"}};
  const auto found = kOps->find(type);
  return found != kOps->end() ? std::string(found->second) : "Resource" + type;
}

bool TakesReference(const Node& node) {
  return std::any_of(node.op().inputs().begin(), node.op().inputs().end(),
                     [](const ArgDef& arg) { return arg.is_ref; });
}

class Resolver {
 public:
  explicit Resolver(Graph& graph) : graph_(graph) {}

  void Run() {
    for (Node* node : TopologicalOrder(graph_)) {
      CancellationScope::ThrowIfCancelled();
      Resolve(node);
      order_.push_back(node);
    }
    if (!reads_.empty()) ReorderNodes(graph_, order_);
  }

 private:
  void Resolve(Node* node) {
    if (node->type() == "Variable" || node->type() == "VariableV2") {
      ReplaceVariable(node);
    } else if (IsNamed(graph_, *node)) {
      ReplaceNamed(node);
    } else if (!UsesReference(*node)) {
      return;
    } else if (const std::string_view op = HandedOnBy(node->type()); !op.empty()) {
      HandOn(node, op);
    } else if (TakesReference(*node)) {
      ReplaceChange(node);
    } else {
      ReadReferences(node);
    }
  }

  // A reference that was: the variable's handle, and the change it is seen after (or null).
  struct Reference {
    Output handle;
    DType dtype = DType::kInvalid;
    Node* after = nullptr;
  };

  const Reference* Find(Output output) const {
    const auto found = references_.find(output);
    return found == references_.end() ? nullptr : &found->second;
  }

  bool UsesReference(const Node& node) const {
    return std::any_of(node.inputs().begin(), node.inputs().end(),
                       [&](const Output& input) { return Find(input) != nullptr; });
  }

  void ReplaceVariable(Node* node) {
    const std::string& shared = node->attr<std::string>("shared_name");
    NodeSpec spec;
    spec.op = RequireOp(graph_, "VarHandleOp");
    spec.control_inputs.assign(node->control_inputs().begin(), node->control_inputs().end());
    spec.attrs = {{"dtype", node->attr<DType>("dtype")},
                  {"shape", node->output_shape(0)},
                  {"container", node->attr<std::string>("container")},
                  {"shared_name", shared.empty() ? node->name() : shared}};
    const DType dtype = node->attr<DType>("dtype");
    graph_.Replace(node, std::move(spec));
    references_[node->output(0)] = {node->output(0), dtype, nullptr};
  }

  void ReplaceNamed(Node* node) {
    NodeSpec spec;
    spec.op = RequireOp(graph_, node->type() + "V2");
    spec.inputs.assign(node->inputs().begin(), node->inputs().end());
    spec.control_inputs.assign(node->control_inputs().begin(), node->control_inputs().end());
    spec.attrs = node->attrs();
    graph_.Replace(node, std::move(spec));
    references_[node->output(0)] = {node->output(0), DType::kString, nullptr};
  }

  void HandOn(Node* node, std::string_view op) {
    NodeSpec spec;
    spec.op = RequireOp(graph_, op);
    spec.control_inputs.assign(node->control_inputs().begin(), node->control_inputs().end());
    DType dtype = DType::kInvalid;
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Reference* reference = Find(node->input(i));
      if (reference == nullptr) {
        spec.inputs.push_back(node->input(i));
      } else if (i == 0 || op == "Merge") {
        spec.inputs.push_back(reference->handle);
        if (reference->after) AddTo(&spec.control_inputs, reference->after);
        dtype = reference->dtype;
      } else {  // the condition of a Switch
        spec.inputs.push_back(Read(*reference, *node));
      }
    }
    spec.attrs = node->attrs();
    SetAttr(spec.attrs, "T", DType::kResource);
    const HandleShape* handle = nullptr;
    for (const Output& input : spec.inputs) {
      if (!handle) handle = input.node()->output_handle(input.index());
    }
    const HandleShape known = handle ? *handle : HandleShape();
    graph_.Replace(node, std::move(spec));
    for (int i = 0; i < (op == "Switch" ? 2 : 1); ++i) {
      if (known.dtype != DType::kInvalid) node->set_output_handle(i, known);
      references_[node->output(i)] = {node->output(i), dtype, nullptr};
    }
  }

  void ReplaceChange(Node* node) {
    const std::string form = ResourceForm(graph_, *node);
    const OpDef* op = graph_.FindOp(form);
    if (op == nullptr) {
      throw Unimplemented("[{} {}] op type '{}' cannot be run: there is no '{}'", node->type(),
                          node->name(), node->type(), form);
    }
    NodeSpec spec;
    spec.op = op;
    spec.control_inputs.assign(node->control_inputs().begin(), node->control_inputs().end());
    // Reference arguments come first and are single tensors in all of these ops.
    Reference first;
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Reference* reference = Find(node->input(i));
      const bool by_reference =
          i < static_cast<int>(node->op().inputs().size()) && node->op().inputs()[i].is_ref;
      if (reference == nullptr) {
        spec.inputs.push_back(node->input(i));
      } else if (by_reference) {
        spec.inputs.push_back(reference->handle);
        if (reference->after) AddTo(&spec.control_inputs, reference->after);
        if (!first.handle) first = *reference;
      } else {
        spec.inputs.push_back(Read(*reference, *node));
      }
    }
    for (const AttrDef& attr : op->attrs()) {
      const Attr* value = node->FindAttr(attr.name);
      if (value == nullptr && attr.name == "dtype") value = node->FindAttr("T");
      if (value != nullptr) spec.attrs.emplace_back(attr.name, *value);
    }
    std::vector<int> refs;
    for (int i = 0; i < node->num_outputs(); ++i) {
      if (IsRef(node->output_type(i))) refs.push_back(i);
    }
    graph_.Replace(node, std::move(spec));
    for (const int i : refs) references_[Output(node, i)] = {first.handle, first.dtype, node};
  }

  void ReadReferences(Node* node) {
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Reference* reference = Find(node->input(i));
      if (reference != nullptr) graph_.SetInput(node, i, Read(*reference, *node));
    }
  }

  // The value of the variable when "reader" would have run. A new read comes right before the
  // reader in the order of the graph, which is that of the program: the reader may go later.
  Output Read(const Reference& reference, const Node& reader) {
    std::vector<Node*> after;
    if (reference.after) after.push_back(reference.after);
    // What a step returns is not all seen at one moment, and of a Merge's inputs one is there.
    if (!reader.type().starts_with('_') && reader.type() != "Merge") {
      for (Node* input : reader.control_inputs()) AddTo(&after, input);
      for (const Output& input : reader.inputs()) {
        const std::string& type = input.node()->type();
        if (Find(input) == nullptr && !IsFreeConstant(*input.node()) && type != "ReadVariableOp") {
          AddTo(&after, input.node());
        }
      }
    }
    const std::string key = Key(reference.handle, after);
    const auto known = reads_.find(key);
    if (known != reads_.end()) return known->second;
    Node* read =
        graph_.AddNode({.name = FreshName(graph_, reference.handle.node()->name() + "/_read"),
                        .op = RequireOp(graph_, "ReadVariableOp"),
                        .inputs = {reference.handle},
                        .control_inputs = std::move(after),
                        .attrs = {{"dtype", reference.dtype}},
                        .device = reference.handle.node()->device()});
    order_.push_back(read);
    return reads_[key] = read->output(0);
  }

  static std::string Key(Output handle, const std::vector<Node*>& after) {
    std::string key = fmt::format("{}:{}", handle.node()->id(), handle.index());
    for (const Node* node : after) key += fmt::format(" {}", node->id());
    return key;
  }

  static void AddTo(std::vector<Node*>* nodes, Node* node) {
    if (std::find(nodes->begin(), nodes->end(), node) == nodes->end()) nodes->push_back(node);
  }

  Graph& graph_;
  std::vector<Node*> order_;  // of the nodes as they will be
  std::unordered_map<Output, Reference> references_;
  std::unordered_map<std::string, Output> reads_;
};

}  // namespace

void ResolveReferences(Graph& graph) {
  AddFreshReads(graph);
  Resolver(graph).Run();
}

}  // namespace sextant
