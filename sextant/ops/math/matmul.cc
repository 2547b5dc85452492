#include "sextant/ops/math/matmul.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/broadcast_to.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/math/complex.h"
#include "sextant/ops/math/reduce.h"

namespace sextant {
namespace {

// Rows and columns of a product of the last two dimensions.
PartialShape ProductShape(const PartialShape& a, bool turn_a, const PartialShape& b, bool turn_b) {
  const auto size = [](const PartialShape& s, bool last) { return s[s.rank() - (last ? 1 : 2)]; };
  const int64_t depth = size(a, !turn_a), other = size(b, turn_b);
  if (depth != PartialShape::kUnknown && other != PartialShape::kUnknown && depth != other) {
    throw InvalidArgument("Matrix size-incompatible: In[0]: {}, In[1]: {}", a.ToString(),
                          b.ToString());
  }
  return {size(a, turn_a), size(b, !turn_b)};
}

void MatMulShape(ShapeContext& c) {
  c.set_output(0, ProductShape(c.InputOfRank(0, 2), c.attr<bool>("transpose_a"),
                               c.InputOfRank(1, 2), c.attr<bool>("transpose_b")));
}

void BatchMatMulShape(ShapeContext& c) {
  const PartialShape a = c.InputOfRankAtLeast(0, 2), b = c.InputOfRankAtLeast(1, 2);
  if (!a.rank_known() || !b.rank_known()) return c.set_output(0, PartialShape());
  const PartialShape batch = shapes::Broadcast(PartialShape(a.dims().first(a.rank() - 2)),
                                               PartialShape(b.dims().first(b.rank() - 2)));
  const PartialShape matrix = ProductShape(a, c.attr<bool>("adj_x"), b, c.attr<bool>("adj_y"));
  PartialShape shape = batch;
  for (int64_t size : matrix.dims()) shape.Append(size);
  c.set_output(0, shape);
}

// product(x, y, turn_x, turn_y) multiplies; sets the gradients of x and y, whatever is turned.
template <typename Product>
void SetProductGradients(GradientContext& c, Output a, Output b, bool turn_a, bool turn_b,
                         Product product) {
  const Output grad = c.grad();
  if (c.wanted(0)) {
    c.set(0, turn_a ? product(b, grad, turn_b, true) : product(grad, b, false, !turn_b));
  }
  if (c.wanted(1)) {
    c.set(1, turn_b ? product(grad, a, true, turn_a) : product(a, grad, !turn_a, false));
  }
}

void MatMulGradient(GradientContext& c) {
  SetProductGradients(c, Conj(c.input(0)), Conj(c.input(1)), c.attr<bool>("transpose_a"),
                      c.attr<bool>("transpose_b"),
                      [](Output x, Output y, bool turn_x, bool turn_y) {
                        return MatMul(x, y, {.transpose_a = turn_x, .transpose_b = turn_y});
                      });
}

// Whether the batch dimensions are known to be equal, so that nothing was broadcast.
bool SameBatch(const PartialShape& a, const PartialShape& b) {
  if (!a.rank_known() || !b.rank_known() || a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank() - 2; ++i) {
    if (a[i] == PartialShape::kUnknown || a[i] != b[i]) return false;
  }
  return true;
}

void BatchMatMulGradient(GradientContext& c) {
  const Output x = c.input(0), y = c.input(1);
  SetProductGradients(c, x, y, c.attr<bool>("adj_x"), c.attr<bool>("adj_y"),
                      [](Output a, Output b, bool turn_a, bool turn_b) {
                        return BatchMatMul(a, b, {.adj_x = turn_a, .adj_y = turn_b});
                      });
  if (SameBatch(x.shape(), y.shape())) return;
  const auto batch = [](Output shape) {
    return StridedSlice(shape, {0}, {-2}, {1}, {.begin_mask = 1});
  };
  const Output shape_x = ShapeOf(x), shape_y = ShapeOf(y);
  const auto [axes_x, axes_y] = BroadcastGradientArgs(batch(shape_x), batch(shape_y));
  if (c.wanted(0)) c.set(0, Reshape(Sum(c.input_gradients()[0], axes_x), shape_x));
  if (c.wanted(1)) c.set(1, Reshape(Sum(c.input_gradients()[1], axes_y), shape_y));
}

OpDef BatchProduct(const char* name, const char* types, const char* doc) {
  return OpDef(name)
      .Inputs("x:T, y:T")
      .Outputs("output:T")
      .Attrs(std::string(types) + "adj_x:bool=False; adj_y:bool=False")
      .Doc(doc)
      .Shape(BatchMatMulShape)
      .Gradient(BatchMatMulGradient);
}

}  // namespace

Output MatMul(Output a, Output b, const MatMulOptions& options) {
  return OpBuilder("MatMul")
      .Input(a)
      .Input(b)
      .Attr("transpose_a", options.transpose_a)
      .Attr("transpose_b", options.transpose_b)
      .Build();
}

Output BatchMatMul(Output x, Output y, const BatchMatMulOptions& options) {
  return OpBuilder("BatchMatMulV2")
      .Input(x)
      .Input(y)
      .Attr("adj_x", options.adj_x)
      .Attr("adj_y", options.adj_y)
      .Build();
}

void RegisterMatMul(OpRegistry& registry) {
  registry.Add(
      OpDef("MatMul")
          .Inputs("a:T, b:T")
          .Outputs("product:T")
          .Attrs("transpose_a:bool=False; transpose_b:bool=False; T:type in [bfloat16,half,"
                 "float,double,int32,int64,uint8,uint16,uint32,uint64,complex64,complex128]")
          .Doc("Product of two matrices, each transposed first if asked.")
          .Shape(MatMulShape)
          .Gradient(MatMulGradient));
  registry.Add(BatchProduct(
      "BatchMatMul", "T:type in [bfloat16,half,float,double,int32,int64,complex64,complex128]; ",
      "Products of the matrices in the last two dimensions; the others must be equal."));
  registry.Add(BatchProduct(
      "BatchMatMulV2",
      "T:type in [bfloat16,half,float,double,int16,int32,int64,uint8,uint16,"
      "uint32,uint64,complex64,complex128]; ",
      "Products of the matrices in the last two dimensions; the others are broadcast."));
  registry.Add(
      OpDef("BatchMatMulV3")
          .Inputs("x:Ta, y:Tb")
          .Outputs("output:Tout")
          .Attrs("Ta:type in [bfloat16,half,float,double,uint8,int8,int16,int32,int64,"
                 "complex64,complex128]; Tb:type in [bfloat16,half,float,double,uint8,int8,"
                 "int16,int32,int64,complex64,complex128]; Tout:type in [bfloat16,half,float,"
                 "double,int16,int32,int64,complex64,complex128]; "
                 "adj_x:bool=False; adj_y:bool=False")
          .Doc("BatchMatMulV2 with a type of its own for the result.")
          .Shape(BatchMatMulShape)
          .Gradient(BatchMatMulGradient));
}

}  // namespace sextant
