#include "sextant/ops/sparse/sparse_cwise.h"

#include <fmt/format.h>

#include <string>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/sparse/sparse_add.h"
#include "sextant/ops/sparse/sparse_reduce.h"
#include "sextant/ops/state/number_types.h"

namespace sextant {
namespace {

Output Build(const char* op, const SparseTensor& x, Output y) {
  return OpBuilder(op).Input(x.indices).Input(x.values).Input(x.dense_shape).Input(y).Build();
}

void EntriesShape(ShapeContext& c) {
  const PartialShape indices = c.InputOfRank(0, 2);
  c.set_output(0, PartialShape{indices[0]}.MergeWith(c.InputOfRank(1, 1)));
}

// The index in y of what each entry of x meets.
Output IndicesInDense(Output x_indices, Output x_shape, Output y) {
  const Output y_shape = ShapeOf(y, DType::kInt64);
  const Output added = Reshape(Sub(Size(x_shape), Size(y_shape)), {1});
  const Output ones = Fill(added, Const(Tensor(int64_t{1})));
  // Sizes are at least 1 where there is an entry; elsewhere they must only not be 0.
  const Output one = Const(Tensor(int64_t{1}));
  const Output wide = Maximum(Concat({ones, y_shape}, 0), one);
  const Output scaled = FloorDiv(x_indices, FloorDiv(Maximum(x_shape, one), wide));
  return Slice(scaled, Concat({ConstInts({0}), added}, 0), {-1, -1});
}

void CwiseGradient(GradientContext& c) {
  const Output values = c.input(1), y = c.input(3), grad = c.grad();
  const std::string& op = c.node()->type();
  const Output indices = IndicesInDense(c.input(0), c.input(2), y);
  Output grad_x = grad, grad_y = grad;
  if (op != "SparseDenseCwiseAdd") {
    const Output met = GatherNd(y, indices);
    const bool mul = op == "SparseDenseCwiseMul";
    grad_x = mul ? Mul(grad, met) : RealDiv(grad, met);
    grad_y = Mul(grad, mul ? values : RealDiv(Neg(values), Square(met)));
  }
  c.set(1, grad_x);
  if (c.wanted(3)) {
    c.set(3, SparseTensorDenseAdd({indices, grad_y, ShapeOf(y, DType::kInt64)}, ZerosLike(y)));
  }
}

// (grad - sum over the row of grad * softmax) * softmax
void SoftmaxGradient(GradientContext& c) {
  const Output indices = c.input(0), shape = c.input(2), softmax = c.output(0), grad = c.grad();
  const Output sum =
      SparseReduceSum({indices, Mul(softmax, grad), shape}, {-1}, {.keep_dims = true});
  c.set(1, Mul(SparseDenseCwiseAdd({indices, grad, shape}, Neg(sum)), softmax));
}

}  // namespace

Output SparseDenseCwiseAdd(const SparseTensor& x, Output y) {
  return Build("SparseDenseCwiseAdd", x, y);
}
Output SparseDenseCwiseMul(const SparseTensor& x, Output y) {
  return Build("SparseDenseCwiseMul", x, y);
}
Output SparseDenseCwiseDiv(const SparseTensor& x, Output y) {
  return Build("SparseDenseCwiseDiv", x, y);
}
Output SparseSoftmax(const SparseTensor& x) {
  return OpBuilder("SparseSoftmax").Input(x.indices).Input(x.values).Input(x.dense_shape).Build();
}

void RegisterSparseCwise(OpRegistry& registry) {
  struct Entry {
    const char *op, *doc;
  };
  for (const Entry& e : {Entry{"SparseDenseCwiseAdd",
                               "The entries plus the elements they meet in a "
                               "dense tensor broadcast to the same shape."},
                         Entry{"SparseDenseCwiseMul",
                               "The entries times the elements they meet in a "
                               "dense tensor broadcast to the same shape."},
                         Entry{"SparseDenseCwiseDiv",
                               "The entries divided by the elements they meet "
                               "in a dense tensor broadcast to the same "
                               "shape; a zero divisor is an error."}}) {
    registry.Add(OpDef(e.op)
                     .Inputs("sp_indices:int64, sp_values:T, sp_shape:int64, dense:T")
                     .Outputs("output:T")
                     .Attrs(fmt::format("T:type in [{}]", kNumberTypes))
                     .Doc(e.doc)
                     .Shape(EntriesShape)
                     .Gradient(CwiseGradient));
  }
  registry.Add(OpDef("SparseSoftmax")
                   .Inputs("sp_indices:int64, sp_values:T, sp_shape:int64")
                   .Outputs("output:T")
                   .Attrs("T:type in [half,float,double]")
                   .Doc("Softmax over the entries of each row; missing elements take no part.")
                   .Shape(EntriesShape)
                   .Gradient(SoftmaxGradient));
}

}  // namespace sextant
