#include "sextant/ops/nn/depthwise_conv.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/nn/conv_options.h"
#include "sextant/ops/nn/conv_shapes.h"

namespace sextant {
namespace {

constexpr char kDepthwiseAttrs[] =
    "T:type in [half,bfloat16,float,double]; strides:list(int); padding:string in "
    "['SAME','VALID','EXPLICIT']; explicit_paddings:list(int)=[]; data_format:string='NHWC' in "
    "['NHWC','NCHW']; dilations:list(int)=[1,1,1,1]";

void ConvGradient(GradientContext& c) {
  const Output x = c.input(0), filter = c.input(1), grad = c.grad();
  const Conv2DOptions options = ConvOptionsOf(*c.node());
  if (c.wanted(0)) c.set(0, DepthwiseConv2dNativeBackpropInput(ShapeOf(x), filter, grad, options));
  if (c.wanted(1)) c.set(1, DepthwiseConv2dNativeBackpropFilter(x, ShapeOf(filter), grad, options));
}

void DepthwiseBackpropInputGradient(GradientContext& c) {
  const Output filter = c.input(1), out_backprop = c.input(2), grad = c.grad();
  const Conv2DOptions options = ConvOptionsOf(*c.node());
  if (c.wanted(1)) {
    c.set(1, DepthwiseConv2dNativeBackpropFilter(grad, ShapeOf(filter), out_backprop, options));
  }
  if (c.wanted(2)) c.set(2, DepthwiseConv2dNative(grad, filter, options));
}

void DepthwiseBackpropFilterGradient(GradientContext& c) {
  const Output x = c.input(0), out_backprop = c.input(2), grad = c.grad();
  const Conv2DOptions options = ConvOptionsOf(*c.node());
  if (c.wanted(0)) {
    c.set(0, DepthwiseConv2dNativeBackpropInput(ShapeOf(x), grad, out_backprop, options));
  }
  if (c.wanted(2)) c.set(2, DepthwiseConv2dNative(x, grad, options));
}

}  // namespace

Output DepthwiseConv2dNative(Output x, Output filter, const Conv2DOptions& options) {
  return WithConvOptions(OpBuilder("DepthwiseConv2dNative").Input(x).Input(filter), options)
      .Build();
}

Output DepthwiseConv2dNativeBackpropInput(const IndexArg& input_sizes, Output filter,
                                          Output out_backprop, const Conv2DOptions& options) {
  return WithConvOptions(OpBuilder("DepthwiseConv2dNativeBackpropInput")
                             .Input(input_sizes.ToOutput(DType::kInt32))
                             .Input(filter)
                             .Input(out_backprop),
                         options)
      .Build();
}

Output DepthwiseConv2dNativeBackpropFilter(Output x, const IndexArg& filter_sizes,
                                           Output out_backprop, const Conv2DOptions& options) {
  return WithConvOptions(OpBuilder("DepthwiseConv2dNativeBackpropFilter")
                             .Input(x)
                             .Input(filter_sizes.ToOutput(DType::kInt32))
                             .Input(out_backprop),
                         options)
      .Build();
}

void RegisterDepthwiseConv(OpRegistry& registry) {
  registry.Add(OpDef("DepthwiseConv2dNative")
                   .Inputs("input:T, filter:T")
                   .Outputs("output:T")
                   .Attrs(kDepthwiseAttrs)
                   .Doc("Convolution of each channel with filters of its own, [height, width, in, "
                        "filters per channel].")
                   .Shape(shapes::DepthwiseConvolution)
                   .Gradient(ConvGradient));
  registry.Add(OpDef("DepthwiseConv2dNativeBackpropInput")
                   .Inputs("input_sizes:int32, filter:T, out_backprop:T")
                   .Outputs("output:T")
                   .Attrs(kDepthwiseAttrs)
                   .Doc("The gradient of DepthwiseConv2dNative with respect to its input, whose "
                        "shape is input_sizes.")
                   .Shape(shapes::DepthwiseBackpropInput)
                   .Gradient(DepthwiseBackpropInputGradient));
  registry.Add(OpDef("DepthwiseConv2dNativeBackpropFilter")
                   .Inputs("input:T, filter_sizes:int32, out_backprop:T")
                   .Outputs("output:T")
                   .Attrs(kDepthwiseAttrs)
                   .Doc("The gradient of DepthwiseConv2dNative with respect to its filter, whose "
                        "shape is filter_sizes.")
                   .Shape([](ShapeContext& c) { shapes::ConvolutionBackpropFilter(c, 2); })
                   .Gradient(DepthwiseBackpropFilterGradient));
}

}  // namespace sextant
