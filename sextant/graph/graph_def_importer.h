// GraphDefImporter: makes nodes of NodeDefs, all or none. Graphs and function bodies share it; they
// differ in how inputs are spelled ("node:1" and "node:output:1") and in that a body has arguments
// and attributes of its own.
//
// Two sweeps. The first makes a node for every NodeDef, in their order, with its attributes, so
// that names can be looked up. The second visits the nodes inputs first and sets edges, types and
// shapes, which need those of the inputs. A v1 loop is a cycle; it is cut between NextIteration and
// Merge:
//
//   Enter ─→ Merge ─→ Switch ─→ Add ─→ NextIteration ─(back edge, not followed)─→ Merge
//
// NextIteration therefore gets its output type, from its attribute, in the first sweep.
//
// Invariant: names and edges are right or nothing is imported. A node whose attributes, types or
// shapes are wrong stays, as one of an unknown op (unknown_op.h): the error comes from the run that
// needs it. So does a constant that is much larger than its message, or that together with those
// before it is (Attr::kMaxExpansion): runs decode it within their memory limit.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant::proto {
class FunctionDefLibrary;
class GraphDef;
class NodeDef;
}  // namespace sextant::proto

namespace sextant {

class GraphDefImporter {
 public:
  enum class Spelling { kGraph, kFunction };
  using NodeDefs = google::protobuf::RepeatedPtrField<proto::NodeDef>;

  GraphDefImporter(Graph& graph, Spelling spelling, std::string prefix = "");
  // Takes back all that was added, unless Commit() was called.
  ~GraphDefImporter();
  GraphDefImporter(const GraphDefImporter&) = delete;
  GraphDefImporter& operator=(const GraphDefImporter&) = delete;

  void AddVersions(const proto::GraphDef& def);
  void AddFunctions(const proto::FunctionDefLibrary& library);
  // In a function body: inputs "name" and "name:i" mean these tensors.
  void AddArgument(std::string_view name, std::vector<Output> values);
  // In a function body: what placeholders stand for. REQUIRES: outlives this.
  void SetAttrs(const AttrMap* attrs) { substitutes_ = attrs; }
  // Nodes get ids in the order of "defs", whatever the order of their edges. Called once.
  // REQUIRES: "defs" and the arguments' names outlive this.
  void AddNodes(const NodeDefs& defs);
  // After AddNodes: the tensors that a reference as in "ret" of a FunctionDef means.
  std::vector<Output> Resolve(std::string_view reference) const;
  Node* FindNode(std::string_view name) const;
  void Commit();

 private:
  // A parsed input: data or control, of node "node" of defs or, when negative, of argument ~node.
  struct Ref {
    int node;
    bool control;
    std::string_view selector;  // what follows the name, without its colon
  };

  void CreateNode(const proto::NodeDef& def);
  void ImportAttrs(const proto::NodeDef& def, Node* node, bool* undecoded);
  void MarkMalformed(Node* node, const Error& error);
  void MakeUnrunnable(Node* node, const char* kind, const std::string& reason);
  static void TypeDeferredConstant(const proto::NodeDef& def, Node* node);
  Attr Substitute(Attr attr) const;
  void CountExpansion(const Attr& attr, size_t encoded_bytes);
  Ref ParseRef(std::string_view text) const;
  void ParseRefs(const NodeDefs& defs);
  void ReserveUnknownOutput(const Ref& ref) const;
  // From NextIteration to Merge: closes a v1 loop.
  bool IsBackEdge(const Ref& ref, int consumer) const;
  void Append(const Ref& ref, std::vector<Output>* outputs) const;
  void FinishNode(int i);
  void TypeUnknownOutputs();
  Node* node(int i) const { return graph_.nodes_[first_node_ + i].get(); }

  Graph& graph_;
  const Spelling spelling_;
  const std::string prefix_;
  const AttrMap* substitutes_ = nullptr;
  std::vector<std::vector<Output>> arguments_;
  int first_node_ = 0;                               // of those that AddNodes made
  std::unordered_map<std::string_view, int> index_;  // as in Ref
  std::vector<Ref> refs_;                            // of all nodes, one after the other
  std::vector<size_t> first_ref_;                    // by node, and the end
  size_t expansion_ = 0;                             // bytes of tensors above those of their protos
  bool has_unknown_ = false;

  // What to go back to.
  bool committed_ = false;
  const int old_num_nodes_;
  const FunctionLibrary old_functions_;
  const int old_producer_, old_min_consumer_;
  const std::vector<int> old_bad_consumers_;
  const std::shared_ptr<const proto::GraphDef> old_extra_;
};

}  // namespace sextant
