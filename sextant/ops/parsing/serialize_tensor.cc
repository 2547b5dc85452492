#include "sextant/ops/parsing/serialize_tensor.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Output SerializeTensor(Output tensor) { return OpBuilder("SerializeTensor").Input(tensor).Build(); }
Output ParseTensor(Output serialized, DType out_type) {
  return OpBuilder("ParseTensor").Input(serialized).Attr("out_type", out_type).Build();
}

void RegisterSerializeTensor(OpRegistry& registry) {
  registry.Add(OpDef("SerializeTensor")
                   .Inputs("tensor:T")
                   .Outputs("serialized:string")
                   .Attrs("T:type")
                   .Doc("The tensor as the bytes of a TensorProto.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("the result is text"));
  registry.Add(OpDef("ParseTensor")
                   .Inputs("serialized:string")
                   .Outputs("output:out_type")
                   .Attrs("out_type:type")
                   .Doc("The tensor of a serialized TensorProto.")
                   .Shape(shapes::Unknown)
                   .NotDifferentiable("the input is text"));
}

}  // namespace sextant
