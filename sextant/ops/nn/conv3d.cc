#include "sextant/ops/nn/conv3d.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/nn/conv_shapes.h"

namespace sextant {
namespace {

constexpr char kConv3DAttrs[] =
    "T:type in [half,bfloat16,float,double]; strides:list(int)>=5; padding:string in "
    "['SAME','VALID']; data_format:string='NDHWC' in ['NDHWC','NCDHW']; "
    "dilations:list(int)=[1,1,1,1,1]";

OpBuilder WithOptions(OpBuilder builder, const Conv3DOptions& options) {
  builder.Attr("strides", options.strides)
      .Attr("padding", options.padding)
      .Attr("data_format", options.data_format)
      .Attr("dilations", options.dilations);
  return builder;
}

Conv3DOptions OptionsOf(const GradientContext& c) {
  return {.strides = c.attr<std::vector<int64_t>>("strides"),
          .padding = c.attr<std::string>("padding"),
          .data_format = c.attr<std::string>("data_format"),
          .dilations = c.attr<std::vector<int64_t>>("dilations")};
}

void Conv3DGradient(GradientContext& c) {
  const Output x = c.input(0), filter = c.input(1), grad = c.grad();
  const Conv3DOptions options = OptionsOf(c);
  if (c.wanted(0)) c.set(0, Conv3DBackpropInput(ShapeOf(x), filter, grad, options));
  if (c.wanted(1)) c.set(1, Conv3DBackpropFilter(x, ShapeOf(filter), grad, options));
}

void Conv3DBackpropInputGradient(GradientContext& c) {
  const Output filter = c.input(1), out_backprop = c.input(2), grad = c.grad();
  const Conv3DOptions options = OptionsOf(c);
  if (c.wanted(1)) c.set(1, Conv3DBackpropFilter(grad, ShapeOf(filter), out_backprop, options));
  if (c.wanted(2)) c.set(2, Conv3D(grad, filter, options));
}

void Conv3DBackpropFilterGradient(GradientContext& c) {
  const Output x = c.input(0), out_backprop = c.input(2), grad = c.grad();
  const Conv3DOptions options = OptionsOf(c);
  if (c.wanted(0)) c.set(0, Conv3DBackpropInput(ShapeOf(x), grad, out_backprop, options));
  if (c.wanted(2)) c.set(2, Conv3D(x, grad, options));
}

}  // namespace

Output Conv3D(Output x, Output filter, const Conv3DOptions& options) {
  return WithOptions(OpBuilder("Conv3D").Input(x).Input(filter), options).Build();
}

Output Conv3DBackpropInput(const IndexArg& input_sizes, Output filter, Output out_backprop,
                           const Conv3DOptions& options) {
  return WithOptions(OpBuilder("Conv3DBackpropInputV2")
                         .Input(input_sizes.ToOutput())
                         .Input(filter)
                         .Input(out_backprop),
                     options)
      .Build();
}

Output Conv3DBackpropFilter(Output x, const IndexArg& filter_sizes, Output out_backprop,
                            const Conv3DOptions& options) {
  return WithOptions(OpBuilder("Conv3DBackpropFilterV2")
                         .Input(x)
                         .Input(filter_sizes.ToOutput(DType::kInt32))
                         .Input(out_backprop),
                     options)
      .Build();
}

void RegisterConv3D(OpRegistry& registry) {
  registry.Add(OpDef("Conv3D")
                   .Inputs("input:T, filter:T")
                   .Outputs("output:T")
                   .Attrs(kConv3DAttrs)
                   .Doc("Convolution of a batch of volumes with filters [depth, height, width, "
                        "in, out].")
                   .Shape([](ShapeContext& c) { shapes::Convolution(c, 3); })
                   .Gradient(Conv3DGradient));
  registry.Add(OpDef("Conv3DBackpropInputV2")
                   .Inputs("input_sizes:Tshape, filter:T, out_backprop:T")
                   .Outputs("output:T")
                   .Attrs(std::string(kConv3DAttrs) + "; Tshape:type=int32 in [int32,int64]")
                   .Doc("The gradient of Conv3D with respect to its input, whose shape is "
                        "input_sizes.")
                   .Shape([](ShapeContext& c) { shapes::ConvolutionBackpropInput(c, 3); })
                   .Gradient(Conv3DBackpropInputGradient));
  registry.Add(OpDef("Conv3DBackpropFilterV2")
                   .Inputs("input:T, filter_sizes:int32, out_backprop:T")
                   .Outputs("output:T")
                   .Attrs(kConv3DAttrs)
                   .Doc("The gradient of Conv3D with respect to its filter, whose shape is "
                        "filter_sizes.")
                   .Shape([](ShapeContext& c) { shapes::ConvolutionBackpropFilter(c, 3); })
                   .Gradient(Conv3DBackpropFilterGradient));
}

}  // namespace sextant
