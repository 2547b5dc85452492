#include "sextant/ops/nn/pool3d.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/nn/pool_shapes.h"

namespace sextant {
namespace {

const std::string kWindow3D =
    "ksize:list(int)>=5; strides:list(int)>=5; padding:string in ['SAME','VALID']; "
    "data_format:string='NDHWC' in ['NDHWC','NCDHW']; ";
const std::string kPool3DFloats = "T:type in [half,bfloat16,float,double]";

Output BuildLike(const Node& node, const char* op, const std::vector<Output>& inputs) {
  OpBuilder builder(op);
  for (Output input : inputs) builder.Input(input);
  for (const char* attr : {"ksize", "strides", "padding", "data_format"}) {
    builder.Attr(attr, node.attr<Attr>(attr));
  }
  return builder.Build();
}

// As in pool.cc: linear in input 2, piecewise constant in the others.
GradientFunction Selection3DGradient(const char* op) {
  return [op](GradientContext& c) {
    c.set(0, ZerosLike(c.input(0)));
    c.set(1, ZerosLike(c.input(1)));
    c.set(2, BuildLike(*c.node(), op, {c.input(0), c.input(1), c.grad()}));
  };
}

Output Build(const char* op, Output x, const Pool3DOptions& options) {
  return OpBuilder(op)
      .Input(x)
      .Attr("ksize", options.ksize)
      .Attr("strides", options.strides)
      .Attr("padding", options.padding)
      .Attr("data_format", options.data_format)
      .Build();
}

void RegisterMax(OpRegistry& registry) {
  registry.Add(
      OpDef("MaxPool3D")
          .Inputs("input:T")
          .Outputs("output:T")
          .Attrs(kWindow3D + "T:type in [half,bfloat16,float]")
          .Doc("The largest element in each box.")
          .Shape(PooledShapeFunction(5))
          .Gradient([](GradientContext& c) {
            c.set(0, BuildLike(*c.node(), "MaxPool3DGrad", {c.input(0), c.output(0), c.grad()}));
          }));
  registry.Add(OpDef("MaxPool3DGrad")
                   .Inputs("orig_input:TInput, orig_output:TInput, grad:T")
                   .Outputs("output:T")
                   .Attrs(kWindow3D + "T:type=float in [half,bfloat16,float]; "
                                      "TInput:type=float in [half,bfloat16,float]")
                   .Doc("Adds the gradient of each box to those of its largest elements.")
                   .Shape(PoolGradShapeFunction(5))
                   .Gradient(Selection3DGradient("MaxPool3DGradGrad")));
  registry.Add(OpDef("MaxPool3DGradGrad")
                   .Inputs("orig_input:T, orig_output:T, grad:T")
                   .Outputs("output:T")
                   .Attrs(kWindow3D +
                          "T:type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,"
                          "half,uint32,uint64]")
                   .Doc("Takes for each box the gradient at its first largest element.")
                   .Shape(PooledShapeFunction(5))
                   .Gradient(Selection3DGradient("MaxPool3DGrad")));
}

void RegisterAvg(OpRegistry& registry) {
  registry.Add(
      OpDef("AvgPool3D")
          .Inputs("input:T")
          .Outputs("output:T")
          .Attrs(kWindow3D + kPool3DFloats)
          .Doc("The mean of the elements in each box; padding does not count.")
          .Shape(PooledShapeFunction(5))
          .Gradient([](GradientContext& c) {
            c.set(0, BuildLike(*c.node(), "AvgPool3DGrad", {ShapeOf(c.input(0)), c.grad()}));
          }));
  registry.Add(OpDef("AvgPool3DGrad")
                   .Inputs("orig_input_shape:int32, grad:T")
                   .Outputs("output:T")
                   .Attrs(kWindow3D + kPool3DFloats)
                   .Doc("Spreads the gradient of each box evenly over its elements.")
                   .Shape(PoolGradFromSizesShapeFunction(5))
                   .Gradient([](GradientContext& c) {
                     c.set(1, BuildLike(*c.node(), "AvgPool3D", {c.grad()}));
                   }));
}

}  // namespace

Output MaxPool3D(Output x, const Pool3DOptions& options) { return Build("MaxPool3D", x, options); }
Output AvgPool3D(Output x, const Pool3DOptions& options) { return Build("AvgPool3D", x, options); }

void RegisterPool3D(OpRegistry& registry) {
  RegisterMax(registry);
  RegisterAvg(registry);
}

}  // namespace sextant
