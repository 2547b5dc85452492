// Copies of function bodies: private ones to rewrite, and ones without dead code.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sextant/graph/function.h"
#include "sextant/graph/graph.h"

namespace sextant {

// Copies nodes from one graph to another, each once, with all they are computed from.
class GraphCopier {
 public:
  // Both must outlive the copier. Functions of "from" are added to "to".
  GraphCopier(const Graph& from, Graph& to);

  // "to_tensor" stands for "from_tensor", which is not copied then.
  void Map(Output from_tensor, Output to_tensor);
  // Throws INVALID_ARGUMENT on a cycle.
  Output Copy(Output tensor);
  Node* CopyNode(Node* node);

 private:
  void CopyOne(Node* node);

  Graph& to_;
  std::unordered_map<Output, Output> map_;
  std::unordered_map<Node*, Node*> nodes_;
};

// Adds an argument to a body under construction: index is the number of those before.
Output AddArgument(FunctionBody& body, DType dtype, const PartialShape& shape,
                   const std::string& name, const HandleShape* handle = nullptr);

// A body of its own with the same arguments, results and effects; what none of them needs is left
// out. "shapes_of" tells what is known of the arguments: tensors of the caller, or none.
FunctionBody CopyBody(const FunctionBody& body, const FunctionLibrary& library,
                      const std::vector<Output>& shapes_of = {});

// The body of the function that the attribute names.
std::shared_ptr<const FunctionBody> BodyOf(const Graph& graph, const FuncAttr& function);

// Makes the body a function of both graphs (which may be one) and of those around them, under a
// name that is free in all.
FuncAttr AddFunction(FunctionBody body, const std::string& base_name, Graph& graph, Graph& other);

// Whether a node of the body, nested calls included, has an effect or a state.
bool IsStateful(const FunctionBody& body);

// By node: whether it may be dead because a Switch before it took the other side.
std::vector<bool> ConditionalNodes(const Graph& graph);
// For keeping a tensor that may be dead: an optional that is empty then, and the way back, which is
// dead where the tensor was. Added to the current graph.
Output WrapIfLive(Output tensor);
Output UnwrapIfLive(Output optional, DType dtype, const PartialShape& shape);

}  // namespace sextant
