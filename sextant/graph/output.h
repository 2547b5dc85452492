// Output: one output of a node, the value that builders take and give. Operation: a node seen from
// outside, for those that are run rather than read. Both are small handles, valid as long as their
// Graph.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/tensor/dtype.h"
#include "sextant/tensor/shape.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

class Graph;
class Node;
class Operation;
class Output;

using FeedMap = std::vector<std::pair<Output, Tensor>>;

class SEXTANT_API Output {
 public:
  Output() = default;
  Output(Node* node, int index) : node_(node), index_(index) {}

  Node* node() const { return node_; }
  int index() const { return index_; }
  explicit operator bool() const { return node_ != nullptr; }
  operator Operation() const;  // NOLINT

  DType dtype() const;                // of the tensor
  const PartialShape& shape() const;  // as far as it is inferred
  // "scope/MatMul:0"
  std::string name() const;
  Graph& graph() const;
  // Its value in the innermost SessionScope.
  Tensor Eval(const FeedMap& feeds = {}) const;

  bool operator==(const Output& other) const = default;

 private:
  Node* node_ = nullptr;
  int index_ = 0;
};

class SEXTANT_API Operation {
 public:
  Operation() = default;
  Operation(Node* node) : node_(node) {}  // NOLINT

  Node* node() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  const std::string& name() const;  // of the node
  // Runs the operation in the innermost SessionScope.
  void Run(const FeedMap& feeds = {}) const;
  bool operator==(const Operation& other) const = default;

 private:
  Node* node_ = nullptr;
};

inline Output::operator Operation() const { return Operation(node_); }

// Who answers Output::Eval and Operation::Run; a Session does. Installed per thread by
// SessionScope.
class SEXTANT_API Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual std::vector<Tensor> Evaluate(const FeedMap& feeds, const std::vector<Output>& fetches,
                                       const std::vector<Operation>& targets) = 0;  // as Run
  static Evaluator* Current();  // of the thread; null if none
  // Returns the previous one.
  static Evaluator* SetCurrent(Evaluator* evaluator);
};

}  // namespace sextant

template <>
struct std::hash<sextant::Output> {
  size_t operator()(const sextant::Output& o) const {
    return std::hash<const void*>()(o.node()) * 31 + static_cast<size_t>(o.index());
  }
};

#pragma GCC visibility pop
