#include "sextant/ops/array/const_fill.h"

#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/shape.h"

namespace sextant {
namespace {

void ConstShape(ShapeContext& c) {
  const Tensor& value = c.attr<Tensor>("value");
  if (value.dtype() != c.attr<DType>("dtype")) {
    throw InvalidArgument("the value is of type {}, the attribute dtype says {}",
                          DTypeName(value.dtype()), DTypeName(c.attr<DType>("dtype")));
  }
  c.set_output(0, value.shape());
}

// Graphs written before version 24 gave "[]" where they meant that nothing is known.
void PlaceholderShape(ShapeContext& c) {
  const auto& shape = c.attr<PartialShape>("shape");
  const bool legacy = c.node().graph().producer < 24;
  c.set_output(0, legacy && shape.rank_known() && shape.rank() == 0 ? PartialShape() : shape);
}

void PlaceholderWithDefaultShape(ShapeContext& c) {
  const auto& shape = c.attr<PartialShape>("shape");
  shape.MergeWith(c.input(0));  // the default value must be one that could be fed
  c.set_output(0, shape);
}

void FillShape(ShapeContext& c) {
  c.InputOfRank(1, 0);
  shapes::FromShapeInput(c);
}

// d(value) = sum of all
void FillGradient(GradientContext& c) {
  const Output flat = Reshape(c.grad(), {-1});
  c.set(1, OpBuilder("Sum").Input(flat).Input(ConstInts({0})).Build());
}

void PassGradient(GradientContext& c) { c.set(0, c.gradient(0)); }

Output Filled(const Shape& shape, DType dtype, const char* like) {
  const Output scalar = OpBuilder(like).Input(Const(Tensor::Zeros(dtype, Shape()))).Build();
  const auto dims = shape.dims();
  return Fill(ConstInts(std::vector<int64_t>(dims.begin(), dims.end()), DType::kInt64), scalar);
}

}  // namespace

Output Placeholder(DType dtype, const PartialShape& shape, std::string_view name) {
  return OpBuilder("Placeholder").Attr("dtype", dtype).Attr("shape", shape).Name(name).Build();
}
Output PlaceholderWithDefault(Output value, const PartialShape& shape, std::string_view name) {
  return OpBuilder("PlaceholderWithDefault").Input(value).Attr("shape", shape).Name(name).Build();
}
Output Fill(Output dims, Output value) {
  return OpBuilder("Fill").Input(dims).Input(value).Build();
}
Output Fill(const Shape& shape, const Tensor& value) {
  const auto dims = shape.dims();
  return Fill(ConstInts(std::vector<int64_t>(dims.begin(), dims.end()), DType::kInt64),
              Const(value));
}
Output Zeros(const Shape& shape, DType dtype) { return Fill(shape, Tensor::Zeros(dtype, {})); }
Output Ones(const Shape& shape, DType dtype) { return Filled(shape, dtype, "OnesLike"); }
Output ZerosLike(Output x) { return OpBuilder("ZerosLike").Input(x).Build(); }
Output OnesLike(Output x) { return OpBuilder("OnesLike").Input(x).Build(); }
Output Empty(Output shape, DType dtype, bool init) {
  return OpBuilder("Empty").Input(shape).Attr("dtype", dtype).Attr("init", init).Build();
}

void RegisterConstFill(OpRegistry& registry) {
  registry.Add(OpDef("Const")
                   .Outputs("output:dtype")
                   .Attrs("value:tensor; dtype:type")
                   .Doc("The tensor in the attribute value.")
                   .Shape(ConstShape)
                   .NotDifferentiable("has no inputs"));
  registry.Add(OpDef("Placeholder")
                   .Outputs("output:dtype")
                   .Attrs("dtype:type; shape:shape=unknown_rank")
                   .Doc("A value that every run has to feed.")
                   .Shape(PlaceholderShape)
                   .NotDifferentiable("has no inputs"));
  registry.Add(OpDef("PlaceholderV2")
                   .Outputs("output:dtype")
                   .Attrs("dtype:type; shape:shape")
                   .Deprecated(23)
                   .Doc("A value that every run has to feed; graphs use Placeholder instead.")
                   .Shape(shapes::FromShapeAttr)
                   .NotDifferentiable("has no inputs"));
  registry.Add(OpDef("PlaceholderWithDefault")
                   .Inputs("input:dtype")
                   .Outputs("output:dtype")
                   .Attrs("dtype:type; shape:shape")
                   .Doc("The fed value or, when nothing is fed, the input.")
                   .Shape(PlaceholderWithDefaultShape)
                   .Gradient(PassGradient));
  registry.Add(OpDef("Fill")
                   .Inputs("dims:index_type, value:T")
                   .Outputs("output:T")
                   .Attrs("T:type; index_type:type=int32 in [int32,int64]")
                   .Doc("A tensor of shape dims all of whose elements are the scalar value.")
                   .Shape(FillShape)
                   .Gradient(FillGradient));
  registry.Add(OpDef("ZerosLike")
                   .Inputs("x:T")
                   .Outputs("y:T")
                   .Attrs("T:type")
                   .Doc("Zeros in the shape of x; for a variant its own idea of zeros.")
                   .Shape([](ShapeContext& c) {
                     shapes::Unchanged(c);
                     if (c.input_handle(0) != nullptr) c.set_output_handle(0, *c.input_handle(0));
                   })
                   .NotDifferentiable("the values of x do not matter"));
  registry.Add(OpDef("OnesLike")
                   .Inputs("x:T")
                   .Outputs("y:T")
                   .Attrs("T:type in [bfloat16,half,float,double,int8,uint8,int16,uint16,int32,"
                          "uint32,int64,uint64,complex64,complex128,bool]")
                   .Doc("Ones in the shape of x.")
                   .Shape(shapes::Unchanged)
                   .NotDifferentiable("the values of x do not matter"));
  registry.Add(OpDef("Empty")
                   .Inputs("shape:int32")
                   .Outputs("output:dtype")
                   .Attrs("dtype:type; init:bool=False")
                   .Stateful()
                   .Doc("A tensor whose elements have no particular value, or zeros with init.")
                   .Shape(shapes::FromShapeInput)
                   .NotDifferentiable("takes only a shape"));
}

}  // namespace sextant
