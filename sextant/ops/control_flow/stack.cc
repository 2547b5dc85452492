#include "sextant/ops/control_flow/stack.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Output StackV2(Output max_size, DType elem_type) {
  return OpBuilder("StackV2").Input(max_size).Attr("elem_type", elem_type).Build();
}
Output StackPushV2(Output handle, Output elem) {
  return OpBuilder("StackPushV2").Input(handle).Input(elem).Build();
}
Output StackPopV2(Output handle, DType elem_type) {
  return OpBuilder("StackPopV2").Input(handle).Attr("elem_type", elem_type).Build();
}

void RegisterStack(OpRegistry& registry) {
  const std::string reason = "TensorFlow defines no gradient";
  registry.Add(OpDef("StackV2")
                   .Inputs("max_size:int32")
                   .Outputs("handle:resource")
                   .Attrs("elem_type:type; stack_name:string=''")
                   .Stateful()
                   .Doc("A new, empty stack that lives as long as its handle.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(reason));
  registry.Add(OpDef("StackPushV2")
                   .Inputs("handle:resource, elem:T")
                   .Outputs("output:T")
                   .Attrs("T:type; swap_memory:bool=False")
                   .Stateful()
                   .Doc("Puts a tensor on the stack and passes it on.")
                   .Shape([](ShapeContext& c) { c.set_output(0, c.input(1)); })
                   .NotDifferentiable(reason));
  registry.Add(OpDef("StackPopV2")
                   .Inputs("handle:resource")
                   .Outputs("elem:elem_type")
                   .Attrs("elem_type:type")
                   .Stateful()
                   .Doc("Takes the last tensor off the stack.")
                   .Shape(shapes::Unknown)
                   .NotDifferentiable(reason));
  registry.Add(OpDef("StackCloseV2")
                   .Inputs("handle:resource")
                   .Stateful()
                   .Doc("Empties the stack; it cannot be used afterwards.")
                   .Shape(shapes::NoOutputs)
                   .NotDifferentiable(reason));
}

}  // namespace sextant
