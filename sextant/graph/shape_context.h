// ShapeContext: what a shape function sees of its node and what it answers. Used when a node is
// built and again, with the fed shapes, when a Plan is made.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/graph.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API ShapeContext {
 public:
  // Answers the value of input i when it is known before the run, else nullopt.
  using ValueFunction = std::function<std::optional<Tensor>(int)>;
  // Answers what is known of the shape that the integer vector at input i denotes.
  using ShapeValueFunction = std::function<PartialShape(int)>;

  ShapeContext(const Node& node, std::vector<PartialShape> inputs,
               std::vector<const HandleShape*> handles, ValueFunction value,
               ShapeValueFunction shape_value);

  const Node& node() const { return node_; }
  template <typename T>  // of the node
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return node_.num_outputs(); }
  const PartialShape& input(int i) const { return inputs_[i]; }
  // input(i), of which this rank is required: throws INVALID_ARGUMENT on another, gives unknown
  // sizes when the rank is not known.
  PartialShape InputOfRank(int i, int rank) const;
  PartialShape InputOfRankAtLeast(int i, int rank) const;

  // The value of input i when it is known, else nullopt.
  std::optional<Tensor> InputValue(int i) const { return value_(i); }
  // Known integer value of a scalar input.
  std::optional<int64_t> InputInt(int i) const;
  // Known integers of a vector input (or scalar).
  std::optional<std::vector<int64_t>> InputInts(int i) const;
  // Input i read as a shape: elements that are not known become unknown sizes.
  PartialShape InputAsShape(int i) const { return shape_value_(i); }

  const HandleShape* input_handle(int i) const { return handles_[i]; }

  void set_output(int i, PartialShape shape) { outputs_[i] = std::move(shape); }
  void set_output_handle(int i, HandleShape handle) { output_handles_[i] = std::move(handle); }

  std::vector<PartialShape>& outputs() { return outputs_; }
  std::vector<std::optional<HandleShape>>& output_handles() { return output_handles_; }

 private:
  const Node& node_;
  std::vector<PartialShape> inputs_, outputs_;
  std::vector<const HandleShape*> handles_;
  std::vector<std::optional<HandleShape>> output_handles_;
  ValueFunction value_;
  ShapeValueFunction shape_value_;
};

// Shape functions that many ops share.
namespace shapes {
void Unknown(ShapeContext& c);    // every output of unknown rank
void Scalar(ShapeContext& c);     // every output a scalar
void Unchanged(ShapeContext& c);  // every output like input 0
void NoOutputs(ShapeContext& c);
void BroadcastBinary(ShapeContext& c);  // output 0 = broadcast of inputs 0 and 1
void MergeAll(ShapeContext& c);         // output 0 = all inputs, which must agree
void Reduction(ShapeContext& c);        // input 0 over axes in input 1, attr keep_dims
void FromShapeInput(ShapeContext& c);   // output 0 has the shape that input 0 denotes
void FromShapeAttr(ShapeContext& c);    // output 0 has the attr "shape"
// Broadcast of two partial shapes. Throws INVALID_ARGUMENT when they cannot be.
PartialShape Broadcast(const PartialShape& a, const PartialShape& b);
// An axis in [-rank, rank) made non-negative. Throws INVALID_ARGUMENT outside.
int NormalizeAxis(int64_t axis, int rank);
}  // namespace shapes

// The value of a tensor as far as it can be told without running: constants, shapes, ranks and
// sizes of tensors and variables whose shape is known, and what casts, slices, packs and
// concatenations make of them.
std::optional<Tensor> ConstantValue(Output output);
PartialShape ConstantValueAsShape(Output output);

}  // namespace sextant

#pragma GCC visibility pop
