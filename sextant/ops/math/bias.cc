#include "sextant/ops/math/bias.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"

namespace sextant {
namespace {

constexpr char kBiasTypes[] =
    "T:type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
    "qint16,quint16,uint16,complex128,half,uint32,uint64]";
constexpr char kFormat[] = "; data_format:string='NHWC' in ['NHWC','NCHW']";

bool ChannelsFirst(const Node& node) {
  const Attr* format = node.FindAttr("data_format");  // BiasAddV1 has none
  return format != nullptr && format->Get<std::string>() == "NCHW";
}

void BiasAddShape(ShapeContext& c) {
  PartialShape value = c.InputOfRankAtLeast(0, 2);
  const PartialShape bias = c.InputOfRank(1, 1);
  if (value.rank_known()) {
    const int channel = ChannelsFirst(c.node()) ? 1 : value.rank() - 1;
    const PartialShape merged = PartialShape{value[channel]}.MergeWith(PartialShape{bias[0]});
    value.set_dim(channel, merged[0]);
  }
  c.set_output(0, value);
}

void BiasAddGradShape(ShapeContext& c) {
  const PartialShape value = c.InputOfRankAtLeast(0, 2);
  if (!value.rank_known()) return c.set_output(0, PartialShape::UnknownOfRank(1));
  c.set_output(0, PartialShape{value[ChannelsFirst(c.node()) ? 1 : value.rank() - 1]});
}

void BiasAddGradient(GradientContext& c) {
  c.set(0, c.grad());
  if (!c.wanted(1)) return;
  c.set(1, BiasAddGrad(c.grad(), {.data_format = ChannelsFirst(*c.node()) ? "NCHW" : "NHWC"}));
}

// Every element counts once in the sum of its channel.
void BiasAddGradGradient(GradientContext& c) {
  c.set(0, BiasAdd(ZerosLike(c.input(0)), c.grad(),
                   {.data_format = c.attr<std::string>("data_format")}));
}

}  // namespace

Output BiasAdd(Output value, Output bias, const BiasAddOptions& options) {
  return OpBuilder("BiasAdd")
      .Input(value)
      .Input(bias)
      .Attr("data_format", options.data_format)
      .Build();
}
Output BiasAddGrad(Output out_backprop, const BiasAddOptions& options) {
  return OpBuilder("BiasAddGrad")
      .Input(out_backprop)
      .Attr("data_format", options.data_format)
      .Build();
}

void RegisterBias(OpRegistry& registry) {
  registry.Add(OpDef("BiasAdd")
                   .Inputs("value:T, bias:T")
                   .Outputs("output:T")
                   .Attrs(std::string(kBiasTypes) + kFormat)
                   .Doc("Adds bias[c] to channel c of the value.")
                   .Shape(BiasAddShape)
                   .Gradient(BiasAddGradient));
  registry.Add(OpDef("BiasAddV1")
                   .Inputs("value:T, bias:T")
                   .Outputs("output:T")
                   .Attrs(kBiasTypes)
                   .Doc("BiasAdd with the channels in the last dimension.")
                   .Shape(BiasAddShape)
                   .Gradient(BiasAddGradient));
  registry.Add(OpDef("BiasAddGrad")
                   .Inputs("out_backprop:T")
                   .Outputs("output:T")
                   .Attrs(std::string(kBiasTypes) + kFormat)
                   .Doc("Sums over all dimensions but the channels.")
                   .Shape(BiasAddGradShape)
                   .Gradient(BiasAddGradGradient));
}

}  // namespace sextant
