#include "sextant/ops/nn/conv.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/nn/conv_options.h"
#include "sextant/ops/nn/conv_shapes.h"

namespace sextant {
namespace {

constexpr char kConvAttrs[] =
    "; strides:list(int); use_cudnn_on_gpu:bool=True; padding:string in "
    "['SAME','VALID','EXPLICIT']; explicit_paddings:list(int)=[]; data_format:string='NHWC' in "
    "['NHWC','NCHW']; dilations:list(int)=[1,1,1,1]";

// The convolution is linear in the input and in the filter, so the gradients of all three ops are
// the three ops.
void Conv2DGradient(GradientContext& c) {
  const Output x = c.input(0), filter = c.input(1), grad = c.grad();
  const Conv2DOptions options = ConvOptionsOf(*c.node());
  if (c.wanted(0)) c.set(0, Conv2DBackpropInput(ShapeOf(x), filter, grad, options));
  if (c.wanted(1)) c.set(1, Conv2DBackpropFilter(x, ShapeOf(filter), grad, options));
}

void BackpropInputGradient(GradientContext& c) {
  const Output filter = c.input(1), out_backprop = c.input(2), grad = c.grad();
  const Conv2DOptions options = ConvOptionsOf(*c.node());
  if (c.wanted(1)) c.set(1, Conv2DBackpropFilter(grad, ShapeOf(filter), out_backprop, options));
  if (c.wanted(2)) c.set(2, Conv2D(grad, filter, options));
}

void BackpropFilterGradient(GradientContext& c) {
  const Output x = c.input(0), out_backprop = c.input(2), grad = c.grad();
  const Conv2DOptions options = ConvOptionsOf(*c.node());
  if (c.wanted(0)) c.set(0, Conv2DBackpropInput(ShapeOf(x), grad, out_backprop, options));
  if (c.wanted(2)) c.set(2, Conv2D(x, grad, options));
}

}  // namespace

Output Conv2D(Output x, Output filter, const Conv2DOptions& options) {
  return WithConvOptions(OpBuilder("Conv2D").Input(x).Input(filter), options).Build();
}

Output Conv2DBackpropInput(const IndexArg& input_sizes, Output filter, Output out_backprop,
                           const Conv2DOptions& options) {
  return WithConvOptions(OpBuilder("Conv2DBackpropInput")
                             .Input(input_sizes.ToOutput(DType::kInt32))
                             .Input(filter)
                             .Input(out_backprop),
                         options)
      .Build();
}

Output Conv2DBackpropFilter(Output x, const IndexArg& filter_sizes, Output out_backprop,
                            const Conv2DOptions& options) {
  return WithConvOptions(OpBuilder("Conv2DBackpropFilter")
                             .Input(x)
                             .Input(filter_sizes.ToOutput(DType::kInt32))
                             .Input(out_backprop),
                         options)
      .Build();
}

void RegisterConv(OpRegistry& registry) {
  registry.Add(OpDef("Conv2D")
                   .Inputs("input:T, filter:T")
                   .Outputs("output:T")
                   .Attrs(std::string("T:type in [half,bfloat16,float,double,int32]") + kConvAttrs)
                   .Doc("Convolution of a batch of images with filters [height, width, in, out].")
                   .Shape([](ShapeContext& c) { shapes::Convolution(c, 2); })
                   .Gradient(Conv2DGradient));
  registry.Add(OpDef("Conv2DBackpropInput")
                   .Inputs("input_sizes:int32, filter:T, out_backprop:T")
                   .Outputs("output:T")
                   .Attrs(std::string("T:type in [half,bfloat16,float,double,int32]") + kConvAttrs)
                   .Doc("The gradient of Conv2D with respect to its input, whose shape (or height "
                        "and width) are input_sizes.")
                   .Shape([](ShapeContext& c) { shapes::ConvolutionBackpropInput(c, 2); })
                   .Gradient(BackpropInputGradient));
  registry.Add(OpDef("Conv2DBackpropFilter")
                   .Inputs("input:T, filter_sizes:int32, out_backprop:T")
                   .Outputs("output:T")
                   .Attrs(std::string("T:type in [half,bfloat16,float,double]") + kConvAttrs)
                   .Doc("The gradient of Conv2D with respect to its filter, whose shape is "
                        "filter_sizes.")
                   .Shape([](ShapeContext& c) { shapes::ConvolutionBackpropFilter(c, 2); })
                   .Gradient(BackpropFilterGradient));
}

}  // namespace sextant
