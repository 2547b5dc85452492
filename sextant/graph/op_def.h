// OpDef: all that is true of an op whatever device runs it: its signature, documentation, shape
// function and gradient, written as one chain:
//
//   registry.Add(OpDef("MatMul")
//       .Inputs("a:T, b:T").Outputs("product:T")
//       .Attrs("transpose_a:bool=False; transpose_b:bool=False; T:type in [float,double]")
//       .Doc("Product of two matrices.")
//       .Shape(MatMulShape)
//       .Gradient(MatMulGradient));
//
// The signature strings are spelled as in testdata/tf215_ops.tsv, with which a test compares them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/attr.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class OpDef;
}

namespace sextant {

class GradientContext;
class ShapeContext;

using ShapeFunction = std::function<void(ShapeContext&)>;
using GradientFunction = std::function<void(GradientContext&)>;

// One input or output: "x:float", "x:T", "xs:N*T", "xs:Tlist", "v:ref(T)".
struct SEXTANT_API ArgDef {
  std::string name;              // as in TensorFlow
  DType type = DType::kInvalid;  // fixed type, if no attr gives it
  std::string type_attr;         // the attribute that is its type, or ""
  std::string number_attr;       // the length of the list, or ""
  std::string type_list_attr;    // the types of the list, or ""
  bool is_ref = false;
};

struct SEXTANT_API AttrDef {
  std::string name;                          // as in TensorFlow
  std::string type;                          // "int", "type", "list(shape)", "func", ...
  std::optional<Attr> default_value;         // none: required
  std::optional<int64_t> minimum;            // of an int, or of a list's length
  std::vector<DType> allowed_types;          // empty = any
  std::vector<std::string> allowed_strings;  // empty = any
};

class SEXTANT_API OpDef {
 public:
  explicit OpDef(std::string name) : name_(std::move(name)) {}

  OpDef& Inputs(std::string_view list);   // "a:T, b:T"
  OpDef& Outputs(std::string_view list);  // "product:T"
  OpDef& Attrs(std::string_view list);    // "T:type; n:int=1"
  // Has an effect or a state: never folded, merged or dropped, keeps its place in program order.
  OpDef& Stateful() {
    stateful_ = true;
    return *this;
  }
  OpDef& Commutative() {
    commutative_ = true;
    return *this;
  }
  OpDef& Aggregate() {
    aggregate_ = true;
    return *this;
  }
  OpDef& AllowsUninitializedInput() {
    allows_uninitialized_input_ = true;
    return *this;
  }
  OpDef& Deprecated(int version) {
    deprecated_ = version;
    return *this;
  }
  OpDef& Doc(std::string text) {
    doc_ = std::move(text);
    return *this;
  }
  OpDef& Shape(ShapeFunction function) {
    shape_ = std::move(function);
    return *this;
  }
  OpDef& Gradient(GradientFunction function) {
    gradient_ = std::move(function);
    return *this;
  }
  // No gradient flows through the op, for the reason given.
  OpDef& NotDifferentiable(std::string reason) {
    no_gradient_ = std::move(reason);
    return *this;
  }
  // Asking for its gradient is an error, for the reason given.
  OpDef& GradientForbidden(std::string reason) {
    forbidden_ = std::move(reason);
    return *this;
  }
  // Rewritten or executed by the runtime itself; has no kernel.
  OpDef& Structural() {
    structural_ = true;
    return *this;
  }

  const std::string& name() const { return name_; }
  const std::vector<ArgDef>& inputs() const { return inputs_; }
  const std::vector<ArgDef>& outputs() const { return outputs_; }
  const std::vector<AttrDef>& attrs() const { return attrs_; }
  const AttrDef* FindAttr(std::string_view name) const;  // null if none
  bool stateful() const { return stateful_; }
  bool commutative() const { return commutative_; }
  bool aggregate() const { return aggregate_; }
  bool allows_uninitialized_input() const { return allows_uninitialized_input_; }
  int deprecated() const { return deprecated_; }
  bool structural() const { return structural_; }
  const std::string& doc() const { return doc_; }
  const ShapeFunction& shape() const { return shape_; }
  const GradientFunction& gradient() const { return gradient_; }
  const std::string& not_differentiable() const { return no_gradient_; }
  const std::string& gradient_forbidden() const { return forbidden_; }
  // Stands for an op of an imported graph that nobody registered: it can be exported and fed, not
  // run.
  bool unknown() const { return unknown_; }
  static OpDef Unknown(std::string name);

  // As a line of testdata/tf215_ops.tsv: name, inputs, outputs, attributes, flags, separated by
  // tabs.
  std::string Signature() const;

 private:
  friend OpDef OpDefFromProto(const proto::OpDef& proto);  // function.h
  std::string name_;
  std::string inputs_text_, outputs_text_, attrs_text_;  // as written
  std::vector<ArgDef> inputs_, outputs_;
  std::vector<AttrDef> attrs_;
  bool stateful_ = false, commutative_ = false, aggregate_ = false;
  bool allows_uninitialized_input_ = false, structural_ = false, unknown_ = false;
  int deprecated_ = 0;
  std::string doc_, no_gradient_, forbidden_;
  ShapeFunction shape_;
  GradientFunction gradient_;
};

}  // namespace sextant

#pragma GCC visibility pop
