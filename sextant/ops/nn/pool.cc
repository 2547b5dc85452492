#include "sextant/ops/nn/pool.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/nn/pool_shapes.h"

namespace sextant {
namespace {

const std::string kWindow = "ksize:list(int)>=4; strides:list(int)>=4; ";
const std::string kPadding = "padding:string in ['SAME','VALID']; ";
const std::string kExplicit =
    "padding:string in ['SAME','VALID','EXPLICIT']; explicit_paddings:list(int)=[]; ";
const std::string kFormat = "data_format:string='NHWC' in ['NHWC','NCHW']; ";
const std::string kVectorFormat = "data_format:string='NHWC' in ['NHWC','NCHW','NCHW_VECT_C']";
const std::string kBatchInIndex = "include_batch_in_index:bool=False; ";
const std::string kFloats = "T:type in [half,bfloat16,float,double]";
const std::string kReal =
    "in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]";
const std::string kMaxPoolTypes =
    "T:type=float in [half,bfloat16,float,double,int32,int64,uint8,int16,int8,uint16,qint8]; ";

// Passes attributes of the differentiated node on to a node of its gradient.
OpBuilder& CopyAttrs(OpBuilder& builder, const Node& node, const std::vector<const char*>& names) {
  for (const char* name : names) builder.Attr(name, node.attr<Attr>(name));
  return builder;
}
Output BuildLike(const Node& node, const char* op, const std::vector<Output>& inputs,
                 const std::vector<const char*>& attrs) {
  OpBuilder builder(op);
  for (Output input : inputs) builder.Input(input);
  return CopyAttrs(builder, node, attrs).Build();
}

void MaxPoolGradient(GradientContext& c) {
  c.set(0, BuildLike(*c.node(), "MaxPoolGrad", {c.input(0), c.output(0), c.grad()},
                     {"ksize", "strides", "padding", "explicit_paddings", "data_format"}));
}
void MaxPoolV2Gradient(GradientContext& c) {
  c.set(0, BuildLike(*c.node(), "MaxPoolGradV2",
                     {c.input(0), c.output(0), c.grad(), c.input(1), c.input(2)},
                     {"padding", "data_format"}));
}
void AvgPoolGradient(GradientContext& c) {
  c.set(0, BuildLike(*c.node(), "AvgPoolGrad", {ShapeOf(c.input(0)), c.grad()},
                     {"ksize", "strides", "padding", "data_format"}));
}
void MaxPoolWithArgmaxGradient(GradientContext& c) {
  c.set(0, BuildLike(*c.node(), "MaxPoolGradWithArgmax", {c.input(0), c.grad(), c.output(1)},
                     {"ksize", "strides", "padding", "include_batch_in_index"}));
}

// Which element of a window is the largest does not change under small changes, so only the
// gradient at input 2, in which the op is linear, counts.
void SetSelectionGradients(GradientContext& c, Output grad) {
  c.set(0, ZerosLike(c.input(0)));
  c.set(1, ZerosLike(c.input(1)));
  c.set(2, grad);
}
GradientFunction SelectionGradient(const char* op) {
  return [op](GradientContext& c) {
    SetSelectionGradients(c, BuildLike(*c.node(), op, {c.input(0), c.input(1), c.grad()},
                                       {"ksize", "strides", "padding", "data_format"}));
  };
}
GradientFunction SelectionGradientV2(const char* op) {
  return [op](GradientContext& c) {
    SetSelectionGradients(
        c, BuildLike(*c.node(), op, {c.input(0), c.input(1), c.grad(), c.input(3), c.input(4)},
                     {"padding", "data_format"}));
  };
}

void RegisterForward(OpRegistry& registry) {
  registry.Add(OpDef("MaxPool")
                   .Inputs("input:T")
                   .Outputs("output:T")
                   .Attrs(kMaxPoolTypes + kWindow + kExplicit + kVectorFormat)
                   .Doc("The largest element in each window.")
                   .Shape(PooledShapeFunction(4))
                   .Gradient(MaxPoolGradient));
  registry.Add(OpDef("MaxPoolV2")
                   .Inputs("input:T, ksize:int32, strides:int32")
                   .Outputs("output:T")
                   .Attrs(kMaxPoolTypes + kPadding + kVectorFormat)
                   .Doc("The largest element in each window, whose size and strides are tensors.")
                   .Shape(PooledShapeFunction(4))
                   .Gradient(MaxPoolV2Gradient));
  registry.Add(OpDef("AvgPool")
                   .Inputs("value:T")
                   .Outputs("output:T")
                   .Attrs(kWindow + kPadding + kFormat + kFloats)
                   .Doc("The mean of the elements in each window; padding does not count.")
                   .Shape(PooledShapeFunction(4))
                   .Gradient(AvgPoolGradient));
  registry.Add(OpDef("MaxPoolWithArgmax")
                   .Inputs("input:T")
                   .Outputs("output:T, argmax:Targmax")
                   .Attrs(kWindow + "Targmax:type=int64 in [int32,int64]; " + kPadding +
                          kBatchInIndex + "T:type " + kReal)
                   .Doc("The largest element in each window and its index in the flattened image, "
                        "or in the flattened batch.")
                   .Shape(PooledShapeFunction(4))
                   .Gradient(MaxPoolWithArgmaxGradient));
}

void RegisterGrads(OpRegistry& registry) {
  const char* inputs = "orig_input:T, orig_output:T, grad:T";
  const char* inputs_v2 = "orig_input:T, orig_output:T, grad:T, ksize:int32, strides:int32";
  const std::string typed = "T:type=float " + kReal, plain = "T:type " + kReal;
  registry.Add(OpDef("MaxPoolGrad")
                   .Inputs(inputs)
                   .Outputs("output:T")
                   .Attrs(kWindow + kExplicit + kFormat + typed)
                   .Doc("Adds the gradient of each window to that of its first largest element.")
                   .Shape(PoolGradShapeFunction(4))
                   .Gradient(SelectionGradient("MaxPoolGradGrad")));
  registry.Add(OpDef("MaxPoolGradV2")
                   .Inputs(inputs_v2)
                   .Outputs("output:T")
                   .Attrs(kPadding + kFormat + typed)
                   .Doc("MaxPoolGrad whose window is given by tensors.")
                   .Shape(PoolGradShapeFunction(4))
                   .Gradient(SelectionGradientV2("MaxPoolGradGradV2")));
  registry.Add(OpDef("MaxPoolGradGrad")
                   .Inputs(inputs)
                   .Outputs("output:T")
                   .Attrs(kWindow + kPadding + kFormat + plain)
                   .Doc("Takes for each window the gradient at its first largest element.")
                   .Shape(PooledShapeFunction(4))
                   .Gradient(SelectionGradient("MaxPoolGrad")));
  registry.Add(OpDef("MaxPoolGradGradV2")
                   .Inputs(inputs_v2)
                   .Outputs("output:T")
                   .Attrs(kPadding + kFormat + plain)
                   .Doc("MaxPoolGradGrad whose window is given by tensors.")
                   .Shape([](ShapeContext& c) { c.set_output(0, c.InputOfRank(1, 4)); })
                   .Gradient(SelectionGradientV2("MaxPoolGradV2")));
  registry.Add(OpDef("AvgPoolGrad")
                   .Inputs("orig_input_shape:int32, grad:T")
                   .Outputs("output:T")
                   .Attrs(kWindow + kPadding + kFormat + kFloats)
                   .Doc("Spreads the gradient of each window evenly over its elements.")
                   .Shape(PoolGradFromSizesShapeFunction(4))
                   .Gradient([](GradientContext& c) {
                     c.set(1, BuildLike(*c.node(), "AvgPool", {c.grad()},
                                        {"ksize", "strides", "padding", "data_format"}));
                   }));
  const std::string argmax =
      kWindow + kPadding + kBatchInIndex + "Targmax:type in [int32,int64]; " + plain;
  registry.Add(OpDef("MaxPoolGradWithArgmax")
                   .Inputs("input:T, grad:T, argmax:Targmax")
                   .Outputs("output:T")
                   .Attrs(argmax)
                   .Doc("Adds each gradient to the element that argmax names.")
                   .Shape(PoolGradShapeFunction(4))
                   .NotDifferentiable("TensorFlow defines no gradient either"));
  registry.Add(OpDef("MaxPoolGradGradWithArgmax")
                   .Inputs("input:T, grad:T, argmax:Targmax")
                   .Outputs("output:T")
                   .Attrs(argmax)
                   .Doc("Takes the gradients at the elements that argmax names.")
                   .Shape(PooledShapeFunction(4))
                   .NotDifferentiable("TensorFlow defines no gradient either"));
}

OpBuilder& SetWindow(OpBuilder& builder, const PoolOptions& options) {
  return builder.Attr("ksize", options.ksize)
      .Attr("strides", options.strides)
      .Attr("padding", options.padding)
      .Attr("data_format", options.data_format);
}

}  // namespace

Output MaxPool(Output x, const PoolOptions& options) {
  OpBuilder builder("MaxPool");
  builder.Input(x).Attr("explicit_paddings", options.explicit_paddings);
  return SetWindow(builder, options).Build();
}
Output AvgPool(Output x, const PoolOptions& options) {
  OpBuilder builder("AvgPool");
  return SetWindow(builder.Input(x), options).Build();
}
Output MaxPoolV2(Output x, Output ksize, Output strides, const std::string& padding,
                 const std::string& data_format) {
  return OpBuilder("MaxPoolV2")
      .Input(x)
      .Input(ksize)
      .Input(strides)
      .Attr("padding", padding)
      .Attr("data_format", data_format)
      .Build();
}
Output MaxPoolGrad(Output x, Output y, Output grad_y, const PoolOptions& options) {
  OpBuilder builder("MaxPoolGrad");
  builder.Input(x).Input(y).Input(grad_y).Attr("explicit_paddings", options.explicit_paddings);
  return SetWindow(builder, options).Build();
}
Output AvgPoolGrad(Output x_shape, Output grad_y, const PoolOptions& options) {
  OpBuilder builder("AvgPoolGrad");
  return SetWindow(builder.Input(x_shape).Input(grad_y), options).Build();
}
MaxPoolWithArgmaxResult MaxPoolWithArgmax(Output x, const MaxPoolWithArgmaxOptions& options) {
  const std::vector<Output> outputs =
      OpBuilder("MaxPoolWithArgmax")
          .Input(x)
          .Attr("ksize", options.ksize)
          .Attr("strides", options.strides)
          .Attr("padding", options.padding)
          .Attr("Targmax", options.argmax_type)
          .Attr("include_batch_in_index", options.include_batch_in_index)
          .BuildAll();
  return {outputs[0], outputs[1]};
}

void RegisterPool(OpRegistry& registry) {
  RegisterForward(registry);
  RegisterGrads(registry);
}

}  // namespace sextant
