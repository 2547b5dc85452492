#include "sextant/base/error.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/blocked/blocked_shape.h"
#include "sextant/ops/nn/conv_geometry.h"

namespace sextant {
namespace {

// Those of Conv2D, and whether Winograd's algorithm may be used.
const std::string kConv =
    "strides:list(int); padding:string; explicit_paddings:list(int)=[]; data_format:string='NHWC'; "
    "dilations:list(int)=[1,1,1,1]; winograd:bool=False; ";

void ConvShape(ShapeContext& c) {
  const std::string& format = c.attr<std::string>("data_format");
  const int64_t block = c.attr<int64_t>("block");
  const PartialShape in =
      c.attr<bool>("blocked_input") ? PlainForm(c.InputOfRank(0, 5), format) : c.InputOfRank(0, 4);
  const PartialShape filter = c.InputOfRank(1, 4);
  if (!in.fully_known() || !filter.fully_known()) {
    return c.set_output(0, PartialShape{-1, -1, -1, -1, block});
  }
  const ConvAttrs attrs(c.node(), 2);
  const ConvGeometry g = attrs.Convolution(in.AsShape(), filter.AsShape());
  c.set_output(0, PartialShape{g.batch, g.out_c / block, g.height.out, g.width.out, block});
}

void BackpropInputShape(ShapeContext& c) {
  const PartialShape& shape = c.attr<PartialShape>("input_shape");
  c.set_output(
      0, c.attr<bool>("blocked_output")
             ? BlockedForm(shape, c.attr<std::string>("data_format"), c.attr<int64_t>("block"))
             : shape);
}

}  // namespace

void RegisterBlockedConv(OpRegistry& registry) {
  registry.Add(
      OpDef("_BlockedConv2D")
          .Inputs("input:float, filter:float, extra:N*float")
          .Outputs("output:float")
          .Attrs(kConv +
                 "block:int>=1; blocked_input:bool; N:int=0>=0; bias:bool=False; norm:bool=False; "
                 "epsilon:float=0.0; sum:bool=False; relu:bool=False")
          .Doc("Conv2D with blocked output. Then, where the attributes say so, from the extra "
               "inputs in "
               "this order: a tensor of the result's shape to add, a bias per channel, or scale, "
               "offset, mean and "
               "variance to normalize with before that tensor is added. Relu comes last.")
          .Shape(ConvShape)
          .NotDifferentiable("made only after gradients"));
  registry.Add(
      OpDef("_BlockedConv2DBackpropInput")
          .Inputs("filter:float, out_backprop:float")
          .Outputs("output:float")
          .Attrs(kConv + "block:int>=1; blocked_output:bool; input_shape:shape")
          .Doc("Conv2DBackpropInput of a blocked out_backprop; input_shape is the plain shape.")
          .Shape(BackpropInputShape)
          .NotDifferentiable("made only after gradients"));
  registry.Add(
      OpDef("_BlockedConv2DBackpropFilter")
          .Inputs("input:float, out_backprop:float")
          .Outputs("output:float")
          .Attrs(kConv + "block:int>=1; blocked_input:bool; filter_shape:shape")
          .Doc("Conv2DBackpropFilter of a blocked out_backprop.")
          .Shape([](ShapeContext& c) { c.set_output(0, c.attr<PartialShape>("filter_shape")); })
          .NotDifferentiable("made only after gradients"));
}

}  // namespace sextant
