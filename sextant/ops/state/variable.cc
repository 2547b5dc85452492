#include "sextant/ops/state/variable.h"

#include "sextant/base/error.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/state/variable_effect.h"

namespace sextant {
namespace {

void HandleShapeFn(ShapeContext& c) {
  c.set_output(0, Shape());
  c.set_output_handle(0, {c.attr<DType>("dtype"), c.attr<PartialShape>("shape")});
}

// What the handle at input 0 holds, checked against the node's type.
PartialShape VariableShapeAt0(ShapeContext& c) {
  c.InputOfRank(0, 0);
  const HandleShape* handle = c.input_handle(0);
  if (handle == nullptr) return {};
  const auto dtype = c.attr<DType>("dtype");
  if (handle->dtype != dtype) {
    throw InvalidArgument("the variable holds {}, not {}", DTypeName(handle->dtype),
                          DTypeName(dtype));
  }
  return handle->shape;
}

void VariableOfValueShape(ShapeContext& c) {
  c.set_output(0, Shape());
  c.set_output_handle(0, {c.attr<DType>("dtype"), c.input(0)});
}

void ReadShape(ShapeContext& c) { c.set_output(0, VariableShapeAt0(c)); }

void AssignShape(ShapeContext& c) { VariableShapeAt0(c).MergeWith(c.input(1)); }

void ShapeOfVariable(ShapeContext& c) {
  const HandleShape* handle = c.input_handle(0);
  c.set_output(0, handle != nullptr && handle->shape.rank_known()
                      ? PartialShape{handle->shape.rank()}
                      : PartialShape::UnknownOfRank(1));
}

}  // namespace

void RegisterVariable(OpRegistry& registry) {
  registry.Add(OpDef("VarHandleOp")
                   .Outputs("resource:resource")
                   .Attrs("container:string=''; shared_name:string=''; debug_name:string=''; "
                          "dtype:type; shape:shape; allowed_devices:list(string)=[]")
                   .Stateful()
                   .Doc("The handle of a variable of the session, found by its shared name.")
                   .Shape(HandleShapeFn)
                   .NotDifferentiable("it has no inputs"));
  registry.Add(OpDef("ReadVariableOp")
                   .Inputs("resource:resource")
                   .Outputs("value:dtype")
                   .Attrs("dtype:type")
                   .Stateful()
                   .Doc("The value of a variable. Later changes do not show in it.")
                   .Shape(ReadShape)
                   .Gradient([](GradientContext& g) { g.set(0, g.gradient(0)); }));
  registry.Add(OpDef("_VariableOfValue")
                   .Inputs("value:dtype")
                   .Outputs("resource:resource")
                   .Attrs("dtype:type")
                   .Stateful()
                   .Doc("The handle of a nameless variable with that value: made for loops and "
                        "branches that read a variable of another task.")
                   .Shape(VariableOfValueShape)
                   .NotDifferentiable("made only after gradients"));
  const auto update = [&](const char* name, const char* attrs, const char* doc) {
    registry.Add(OpDef(name)
                     .Inputs("resource:resource, value:dtype")
                     .Attrs(attrs)
                     .Stateful()
                     .Doc(doc)
                     .Shape(AssignShape)
                     .NotDifferentiable(kChangesVariable));
  };
  update("AssignVariableOp", "dtype:type; validate_shape:bool=False",
         "Gives a variable a new value.");
  update("AssignAddVariableOp", "dtype:type", "Adds to a variable a value of its shape.");
  update("AssignSubVariableOp", "dtype:type", "Subtracts from a variable a value of its shape.");
  registry.Add(OpDef("VarIsInitializedOp")
                   .Inputs("resource:resource")
                   .Outputs("is_initialized:bool")
                   .Stateful()
                   .Doc("Whether a variable has a value.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("a truth value"));
  registry.Add(OpDef("DestroyResourceOp")
                   .Inputs("resource:resource")
                   .Attrs("ignore_lookup_error:bool=True")
                   .Stateful()
                   .Doc("Forgets the value of a variable, or the resource as a whole.")
                   .Shape(shapes::NoOutputs)
                   .NotDifferentiable(kChangesVariable));
  registry.Add(OpDef("DisableCopyOnRead")
                   .Inputs("resource:resource")
                   .Stateful()
                   .Doc("Asks that sparse updates copy rather than reads; variables here always "
                        "behave so.")
                   .Shape(shapes::NoOutputs)
                   .NotDifferentiable(kChangesVariable));
  registry.Add(OpDef("VariableShape")
                   .Inputs("input:resource")
                   .Outputs("output:out_type")
                   .Attrs("out_type:type=int32 in [int32,int64]")
                   .Stateful()
                   .Doc("The shape of a variable's value as a vector.")
                   .Shape(ShapeOfVariable)
                   .NotDifferentiable("integers"));
  registry.Add(OpDef("ResourceCountUpTo")
                   .Inputs("resource:resource")
                   .Outputs("output:T")
                   .Attrs("limit:int; T:type in [int32,int64]")
                   .Stateful()
                   .Doc("Adds 1 to a scalar variable and gives what it was before; OUT_OF_RANGE at "
                        "the limit.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("integers"));
}

}  // namespace sextant
