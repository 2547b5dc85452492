#include "sextant/ops/nn/dilation2d.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/nn/conv_geometry.h"

namespace sextant {
namespace {

constexpr char kDilationAttrs[] =
    "T:type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; "
    "strides:list(int)>=4; rates:list(int)>=4; padding:string in ['SAME','VALID']";
constexpr char kNoSecondOrder[] = "the second derivatives of a maximum are not defined";

void DilationShape(ShapeContext& c) {
  const ConvAttrs attrs(c.node(), 2, "rates");
  PartialShape out = c.InputOfRank(0, 4);
  const PartialShape filter = c.InputOfRank(1, 3);
  for (int i = 0; i < 2; ++i) out.set_dim(i + 1, attrs.OutputSize(i, out[i + 1], filter[i]));
  out.set_dim(3, PartialShape{out[3]}.MergeWith(PartialShape{filter[2]})[0]);
  c.set_output(0, out);
}

OpBuilder WithOptions(OpBuilder builder, const Dilation2DOptions& options) {
  builder.Attr("strides", options.strides)
      .Attr("rates", options.rates)
      .Attr("padding", options.padding);
  return builder;
}

void DilationGradient(GradientContext& c) {
  const Dilation2DOptions options{.strides = c.attr<std::vector<int64_t>>("strides"),
                                  .rates = c.attr<std::vector<int64_t>>("rates"),
                                  .padding = c.attr<std::string>("padding")};
  const Output x = c.input(0), filter = c.input(1), grad = c.grad();
  if (c.wanted(0)) c.set(0, Dilation2DBackpropInput(x, filter, grad, options));
  if (c.wanted(1)) c.set(1, Dilation2DBackpropFilter(x, filter, grad, options));
}

}  // namespace

Output Dilation2D(Output x, Output filter, const Dilation2DOptions& options) {
  return WithOptions(OpBuilder("Dilation2D").Input(x).Input(filter), options).Build();
}

Output Dilation2DBackpropInput(Output x, Output filter, Output out_backprop,
                               const Dilation2DOptions& options) {
  return WithOptions(
             OpBuilder("Dilation2DBackpropInput").Input(x).Input(filter).Input(out_backprop),
             options)
      .Build();
}

Output Dilation2DBackpropFilter(Output x, Output filter, Output out_backprop,
                                const Dilation2DOptions& options) {
  return WithOptions(
             OpBuilder("Dilation2DBackpropFilter").Input(x).Input(filter).Input(out_backprop),
             options)
      .Build();
}

void RegisterDilation2D(OpRegistry& registry) {
  registry.Add(OpDef("Dilation2D")
                   .Inputs("input:T, filter:T")
                   .Outputs("output:T")
                   .Attrs(kDilationAttrs)
                   .Doc("Grey-scale dilation: the largest sum of input and filter over a window.")
                   .Shape(DilationShape)
                   .Gradient(DilationGradient));
  registry.Add(OpDef("Dilation2DBackpropInput")
                   .Inputs("input:T, filter:T, out_backprop:T")
                   .Outputs("in_backprop:T")
                   .Attrs(kDilationAttrs)
                   .Doc("The gradient of Dilation2D with respect to its input.")
                   .Shape([](ShapeContext& c) { c.set_output(0, c.InputOfRank(0, 4)); })
                   .GradientForbidden(kNoSecondOrder));
  registry.Add(OpDef("Dilation2DBackpropFilter")
                   .Inputs("input:T, filter:T, out_backprop:T")
                   .Outputs("filter_backprop:T")
                   .Attrs(kDilationAttrs)
                   .Doc("The gradient of Dilation2D with respect to its filter.")
                   .Shape([](ShapeContext& c) { c.set_output(0, c.InputOfRank(1, 3)); })
                   .GradientForbidden(kNoSecondOrder));
}

}  // namespace sextant
