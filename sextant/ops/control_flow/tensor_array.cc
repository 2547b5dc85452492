#include "sextant/ops/control_flow/tensor_array.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/control_flow/stacked_shape.h"
#include "sextant/ops/control_flow/tensor_array_gradients.h"

namespace sextant {

TensorArrayOutputs TensorArrayV3(Output size, DType dtype, const TensorArrayOptions& options) {
  Node* node = OpBuilder("TensorArrayV3")
                   .Input(size)
                   .Attr("dtype", dtype)
                   .Attr("element_shape", options.element_shape)
                   .Attr("dynamic_size", options.dynamic_size)
                   .Attr("clear_after_read", options.clear_after_read)
                   .Attr("identical_element_shapes", options.identical_element_shapes)
                   .BuildNode();
  return {node->output(0), node->output(1)};
}
TensorArrayOutputs TensorArrayGradV3(Output handle, Output flow, const std::string& source) {
  Node* node =
      OpBuilder("TensorArrayGradV3").Input(handle).Input(flow).Attr("source", source).BuildNode();
  return {node->output(0), node->output(1)};
}
Output TensorArrayWriteV3(Output handle, Output index, Output value, Output flow) {
  return OpBuilder("TensorArrayWriteV3")
      .Input(handle)
      .Input(index)
      .Input(value)
      .Input(flow)
      .Build();
}
Output TensorArrayScatterV3(Output handle, Output indices, Output value, Output flow) {
  return OpBuilder("TensorArrayScatterV3")
      .Input(handle)
      .Input(indices)
      .Input(value)
      .Input(flow)
      .Build();
}
Output TensorArraySplitV3(Output handle, Output value, Output lengths, Output flow) {
  return OpBuilder("TensorArraySplitV3")
      .Input(handle)
      .Input(value)
      .Input(lengths)
      .Input(flow)
      .Build();
}
Output TensorArrayReadV3(Output handle, Output index, Output flow, DType dtype) {
  return OpBuilder("TensorArrayReadV3")
      .Input(handle)
      .Input(index)
      .Input(flow)
      .Attr("dtype", dtype)
      .Build();
}
Output TensorArrayGatherV3(Output handle, Output indices, Output flow, DType dtype,
                           const PartialShape& element_shape) {
  return OpBuilder("TensorArrayGatherV3")
      .Input(handle)
      .Input(indices)
      .Input(flow)
      .Attr("dtype", dtype)
      .Attr("element_shape", element_shape)
      .Build();
}
TensorArrayConcatOutputs TensorArrayConcatV3(Output handle, Output flow, DType dtype,
                                             const PartialShape& element_shape_except0) {
  Node* node = OpBuilder("TensorArrayConcatV3")
                   .Input(handle)
                   .Input(flow)
                   .Attr("dtype", dtype)
                   .Attr("element_shape_except0", element_shape_except0)
                   .BuildNode();
  return {node->output(0), node->output(1)};
}
Output TensorArraySizeV3(Output handle, Output flow) {
  return OpBuilder("TensorArraySizeV3").Input(handle).Input(flow).Build();
}

namespace {

OpDef Array(std::string name, std::string_view inputs, std::string_view outputs,
            std::string_view attrs) {
  return OpDef(std::move(name)).Inputs(inputs).Outputs(outputs).Attrs(attrs).Stateful();
}

void RegisterArrayMaking(OpRegistry& registry) {
  registry.Add(Array("TensorArrayV3", "size:int32", "handle:resource, flow:float",
                     "dtype:type; element_shape:shape=unknown_rank; dynamic_size:bool=False; "
                     "clear_after_read:bool=True; identical_element_shapes:bool=False; "
                     "tensor_array_name:string=''")
                   .Doc("A new array of tensors that lives as long as its handle.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("it takes no numbers"));
  registry.Add(Array("TensorArrayGradV3", "handle:resource, flow_in:float",
                     "grad_handle:resource, flow_out:float", "source:string")
                   .Doc("The array that collects the gradients of another; one per source.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("TensorFlow defines no gradient"));
  registry.Add(Array("TensorArrayGradWithShape",
                     "handle:resource, flow_in:float, shape_to_prepend:int32",
                     "grad_handle:resource, flow_out:float", "source:string")
                   .Doc("As TensorArrayGradV3, with more dimensions in front of each element.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("TensorFlow defines no gradient"));
  registry.Add(Array("TensorArrayCloseV3", "handle:resource", "", "")
                   .Doc("Empties the array; it cannot be used afterwards.")
                   .Shape(shapes::NoOutputs)
                   .NotDifferentiable("it has no outputs"));
  registry.Add(Array("TensorArraySizeV3", "handle:resource, flow_in:float", "size:int32", "")
                   .Doc("The number of elements.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("an integer"));
}

void RegisterWriting(OpRegistry& registry) {
  registry.Add(Array("TensorArrayWriteV3", "handle:resource, index:int32, value:T, flow_in:float",
                     "flow_out:float", "T:type")
                   .Doc("Writes one element.")
                   .Shape(shapes::Scalar)
                   .Gradient(TensorArrayWriteGradient));
  registry.Add(Array("TensorArrayScatterV3",
                     "handle:resource, indices:int32, value:T, flow_in:float", "flow_out:float",
                     "T:type")
                   .Doc("Writes the slices of a tensor to the elements at these indices.")
                   .Shape(shapes::Scalar)
                   .Gradient(TensorArrayScatterGradient));
  registry.Add(Array("TensorArraySplitV3", "handle:resource, value:T, lengths:int64, flow_in:float",
                     "flow_out:float", "T:type")
                   .Doc("Writes pieces of a tensor, of these lengths, to the elements.")
                   .Shape(shapes::Scalar)
                   .Gradient(TensorArraySplitGradient));
}

void RegisterArrayReading(OpRegistry& registry) {
  registry.Add(Array("TensorArrayReadV3", "handle:resource, index:int32, flow_in:float",
                     "value:dtype", "dtype:type")
                   .Doc("One element.")
                   .Shape(shapes::Unknown)
                   .Gradient(TensorArrayReadGradient));
  registry.Add(Array("TensorArrayGatherV3", "handle:resource, indices:int32, flow_in:float",
                     "value:dtype", "dtype:type; element_shape:shape=unknown_rank")
                   .Doc("The elements at these indices, stacked along a new first dimension.")
                   .Shape([](ShapeContext& c) {
                     const PartialShape indices = c.InputOfRank(1, 1);
                     c.set_output(0,
                                  StackedShape(indices[0], c.attr<PartialShape>("element_shape")));
                   })
                   .Gradient(TensorArrayGatherGradient));
  registry.Add(
      Array("TensorArrayConcatV3", "handle:resource, flow_in:float", "value:dtype, lengths:int64",
            "dtype:type; element_shape_except0:shape=unknown_rank")
          .Doc("All elements one after another along their first dimension, and its sizes.")
          .Shape([](ShapeContext& c) {
            c.set_output(0, StackedShape(PartialShape::kUnknown,
                                         c.attr<PartialShape>("element_shape_except0")));
            c.set_output(1, PartialShape::UnknownOfRank(1));
          })
          .Gradient(TensorArrayConcatGradient));
}

}  // namespace

void RegisterTensorArray(OpRegistry& registry) {
  RegisterArrayMaking(registry);
  RegisterWriting(registry);
  RegisterArrayReading(registry);
}

}  // namespace sextant
