// OpBuilder: adds one node to the current graph. Builder functions of the op families are thin
// wrappers around it:
//
//   Output MatMul(Output a, Output b, MatMulOptions o) {
//     return OpBuilder("MatMul").Input(a).Input(b).Attr("transpose_a", o.transpose_a).Build();
//   }
//
// Type and count attributes are inferred from the inputs, defaults filled in, tensors of an
// enclosing graph captured. Errors name the node and the values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/attr.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API OpBuilder {
 public:
  explicit OpBuilder(std::string_view op);

  // The next input argument: one tensor, or a list.
  OpBuilder& Input(Output value);
  OpBuilder& Input(std::vector<Output> values);
  OpBuilder& ControlInput(Operation operation);
  OpBuilder& ControlInputs(const std::vector<Operation>& operations);
  OpBuilder& Attr(std::string_view name, sextant::Attr value);
  // Base of the node's name; the op's name when empty. The name scope goes in front.
  OpBuilder& Name(std::string_view name);
  OpBuilder& Device(std::string_view device);

  Node* BuildNode();  // also for ops without outputs
  // The first output. REQUIRES: the op has at least one.
  Output Build();
  std::vector<Output> BuildAll();
  Operation BuildOperation() { return Operation(BuildNode()); }

 private:
  struct Arg {
    std::vector<Output> values;
    bool is_list;
  };
  std::string op_, name_, device_;
  bool device_set_ = false;
  std::vector<Arg> args_;
  std::vector<Node*> control_inputs_;
  AttrMap attrs_;
};

// A constant in the current graph.
Output Const(const Tensor& value, std::string_view name = "Const");
Output ConstInts(const std::vector<int64_t>& values, DType dtype = DType::kInt32);

}  // namespace sextant

#pragma GCC visibility pop
