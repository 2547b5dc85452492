// Graph: nodes connected by tensors and control edges, a library of functions, named collections.
//
// A Graph only grows, except where Rewrite functions of this module say otherwise. It is built by
// one thread at a time; sessions may run it meanwhile only if nothing is being added.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/attr.h"
#include "sextant/graph/function.h"
#include "sextant/graph/op_def.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class GraphDef;
class NodeDef;
}  // namespace sextant::proto

namespace sextant {

class OpRegistry;

// What a resource or variant output holds: type and shape of the variable or of the list's
// elements.
struct SEXTANT_API HandleShape {
  DType dtype = DType::kInvalid;
  PartialShape shape;  // of the value
};

class SEXTANT_API Node {
 public:
  int id() const { return id_; }  // position in Graph::nodes()
  const std::string& name() const { return name_; }
  const OpDef& op() const { return *op_; }
  const std::string& type() const { return op_->name(); }
  Graph& graph() const { return *graph_; }
  const std::string& device() const { return device_; }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  Output input(int i) const { return inputs_[i]; }
  std::span<const Output> inputs() const { return inputs_; }
  std::span<Node* const> control_inputs() const { return control_inputs_; }
  // The inputs that belong to the op's input argument "name" (one, or a list).
  std::span<const Output> inputs(std::string_view name) const;

  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  Output output(int i) const { return Output(const_cast<Node*>(this), i); }
  DType output_type(int i) const { return outputs_[i].dtype; }
  const PartialShape& output_shape(int i) const { return outputs_[i].shape; }
  const HandleShape* output_handle(int i) const { return outputs_[i].handle.get(); }
  void set_output_shape(int i, PartialShape shape) { outputs_[i].shape = std::move(shape); }
  void set_output_handle(int i, HandleShape handle) {  // by shape functions
    outputs_[i].handle = std::make_shared<HandleShape>(std::move(handle));
  }

  const AttrMap& attrs() const { return attrs_; }
  // The attribute, the op's default where it is not set, or null.
  const Attr* FindAttr(std::string_view name) const;
  // Throws INVALID_ARGUMENT, naming the node, when it is missing or of another kind.
  template <typename T>
  const T& attr(std::string_view name) const;

 private:
  friend class Graph;
  friend class GraphDefImporter;
  friend class GraphDefExporter;
  friend class SubgraphCopier;
  struct OutputInfo {
    DType dtype = DType::kInvalid;
    PartialShape shape;
    std::shared_ptr<const HandleShape> handle;
  };
  const Attr& RequireAttr(std::string_view name) const;
  [[noreturn]] void ThrowAttr(std::string_view name, const char* what) const;

  Graph* graph_ = nullptr;
  int id_ = 0;
  std::string name_;
  const OpDef* op_ = nullptr;
  std::string device_;
  std::vector<Output> inputs_;
  std::vector<Node*> control_inputs_;
  std::vector<OutputInfo> outputs_;
  AttrMap attrs_;
  // Fields of an imported NodeDef that have no place here (debug info, full types).
  std::shared_ptr<const proto::NodeDef> extra_;
};

// All that is needed to add a node; OpBuilder fills one from the current scopes.
struct SEXTANT_API NodeSpec {
  std::string name;  // full and unique
  const OpDef* op = nullptr;
  std::vector<Output> inputs;         // in the order of the op's arguments
  std::vector<Node*> control_inputs;  // run before it
  AttrMap attrs;                      // those that are set
  std::string device;                 // "": any
};

class SEXTANT_API Graph {
 public:
  Graph();
  // A function body: tensors of "outer" that its nodes use are captured (see Capture).
  explicit Graph(Graph* outer);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  int num_nodes() const { return static_cast<int>(nodes_.size()); }
  Node* node(int id) const { return nodes_[id].get(); }
  // By name, or null.
  Node* FindNode(std::string_view name) const;
  // "name", "name:1" → output. Throws NOT_FOUND, naming close matches.
  Output FindOutput(std::string_view name) const;
  Operation FindOperation(std::string_view name) const;

  // Adds a node: checks attributes, counts and types of the inputs against the op, infers output
  // types and shapes. Throws INVALID_ARGUMENT "[Op name] what is wrong".
  Node* AddNode(NodeSpec spec);
  // The name with "_1", "_2", … where needed, compared without regard to case; reserves it.
  std::string UniqueName(const std::string& name);

  FunctionLibrary& functions() { return functions_; }
  const FunctionLibrary& functions() const { return functions_; }
  // Registry's op or, failing that, the signature of a function of the library; null if neither.
  const OpDef* FindOp(std::string_view name) const;

  // Named lists of tensors and operations ("variables", "losses", ...).
  void AddToCollection(std::string_view name, Output value);
  // With a scope, only what a node made whose name begins with it: "tower_1/".
  std::vector<Output> Collection(std::string_view name, std::string_view scope = "") const;
  std::vector<std::string> CollectionNames() const;

  // Graph-level seed, and the count of random ops made without a seed of their own: together they
  // seed such an op, as in TensorFlow 1.
  void set_seed(std::optional<int64_t> seed) { seed_ = seed; }
  std::optional<int64_t> seed() const { return seed_; }
  int64_t NextRandomOpIndex() { return random_ops_++; }

  // Function bodies: the enclosing graph, and for each outer tensor used here its stand-in.
  Graph* outer() const { return outer_; }
  Output Capture(Output outer_tensor);
  const std::vector<std::pair<Output, Output>>& captures() const { return captures_; }

  // Infers the shapes of the node's outputs anew, from what its inputs now say and the values the
  // functions know (see ShapeContext). Throws what the shape function throws.
  void InferShapes(Node* node, const std::function<std::optional<Tensor>(int)>& value,
                   const std::function<PartialShape(int)>& shape_value) const;

  // Rewriting. Bumps version(): plans made from the graph before are stale.
  void SetInput(Node* node, int i, Output value);
  void SetControlInputs(Node* node, std::vector<Node*> inputs);
  void SetDevice(Node* node, std::string device);
  void SetNodeAttr(Node* node, std::string_view name, Attr value);
  // Gives the node another op with other inputs and attributes; its name and id stay.
  void Replace(Node* node, NodeSpec spec);
  // Drops nodes (ids of the others change). REQUIRES: nothing else refers to them.
  void Remove(const std::vector<Node*>& nodes);
  int64_t version() const { return version_; }

  // versions of the imported GraphDef; ours by default.
  static constexpr int kVersion = 1645;
  int producer = kVersion;
  int min_consumer = 0;
  std::vector<int> bad_consumers;

  // For people: op counts, placeholders, variables, functions, the largest constants.
  std::string Summary() const;

 private:
  friend class GraphDefImporter;
  friend class GraphDefExporter;
  friend class SubgraphCopier;
  // The steps of AddNode: checks attributes, then input counts and types; sets output types; infers
  // shapes.
  void CheckAttrs(const Node& node) const;
  void ResolveTypes(Node* node) const;
  void InferShapes(Node* node) const;
  // Appends a node object; checks only its name. Copies of checked graphs need not even that.
  Node* NewNode(std::string name, const OpDef* op);
  Node* NewNodeUnchecked(std::string name, const OpDef* op);
  // by_name_, brought up to date.
  std::unordered_map<std::string_view, Node*>& NameIndex() const;
  const OpDef* UnknownOp(std::string_view name);

  Graph* outer_ = nullptr;
  std::vector<std::unique_ptr<Node>> nodes_;
  // Keys point into the nodes. Made when first asked for: the graph of a Plan hardly needs it.
  mutable std::unordered_map<std::string_view, Node*> by_name_;
  mutable bool indexed_ = true;
  std::unordered_map<std::string, int> used_names_;  // lower case → next suffix
  FunctionLibrary functions_;
  mutable std::unordered_map<std::string, std::unique_ptr<OpDef>>
      local_ops_;  // functions, unknown ops
  std::vector<std::pair<std::string, std::vector<Output>>> collections_;
  std::vector<std::pair<Output, Output>> captures_;
  std::unordered_map<Output, Output> captured_;
  int num_args_ = 0;  // _Arg nodes so far
  std::optional<int64_t> seed_;
  int64_t random_ops_ = 0;
  int64_t version_ = 0;
  // Fields of the imported GraphDef that have no place here (debug info, registered gradients).
  std::shared_ptr<const proto::GraphDef> extra_;
};

template <typename T>
const T& Node::attr(std::string_view name) const {
  const Attr& attr = RequireAttr(name);
  if constexpr (std::is_same_v<T, Attr>) {
    return attr;
  } else {
    try {
      return attr.Get<T>();
    } catch (const Error& e) {
      ThrowAttr(name, e.message().c_str());
    }
  }
}

}  // namespace sextant

#pragma GCC visibility pop
