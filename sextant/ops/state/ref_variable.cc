// Reference variables, as old graphs have them. Only definitions: they become resource variables
// when a Plan is made.
#include <string>

#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/state/number_types.h"
#include "sextant/ops/state/variable_effect.h"

namespace sextant {
namespace {

constexpr const char* kHalfToInt64 = "half,bfloat16,float,double,int32,int64";

// Files of old did not write the shape of a variable whose shape was not known.
void LegacyVariableShape(ShapeContext& c) {
  const auto& shape = c.attr<PartialShape>("shape");
  c.set_output(0, shape.rank_known() && shape.rank() == 0 ? PartialShape() : shape);
}

void RefAssignShape(ShapeContext& c) {
  c.set_output(0, c.attr<bool>("validate_shape") ? c.input(0).MergeWith(c.input(1)) : c.input(1));
}

}  // namespace

void RegisterRefVariable(OpRegistry& registry) {
  const auto variable = [&](const char* name, ShapeFunction shape) {
    registry.Add(OpDef(name)
                     .Outputs("ref:ref(dtype)")
                     .Attrs("shape:shape; dtype:type; container:string=''; shared_name:string=''")
                     .Stateful()
                     .Structural()
                     .Doc("A reference to a variable of the session.")
                     .Shape(std::move(shape))
                     .NotDifferentiable("it has no inputs"));
  };
  variable("Variable", LegacyVariableShape);
  variable("VariableV2", shapes::FromShapeAttr);
  registry.Add(OpDef("Assign")
                   .Inputs("ref:ref(T), value:T")
                   .Outputs("output_ref:ref(T)")
                   .Attrs("T:type; validate_shape:bool=True; use_locking:bool=True")
                   .AllowsUninitializedInput()
                   .Structural()
                   .Doc("Gives a variable a new value.")
                   .Shape(RefAssignShape)
                   .NotDifferentiable(kChangesVariable));
  registry.Add(OpDef("IsVariableInitialized")
                   .Inputs("ref:ref(dtype)")
                   .Outputs("is_initialized:bool")
                   .Attrs("dtype:type")
                   .AllowsUninitializedInput()
                   .Structural()
                   .Doc("Whether a variable has a value.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("a truth value"));
  registry.Add(OpDef("CountUpTo")
                   .Inputs("ref:ref(T)")
                   .Outputs("output:T")
                   .Attrs("limit:int; T:type in [int32,int64]")
                   .Structural()
                   .Doc("Adds 1 to a scalar variable and gives what it was before; OUT_OF_RANGE at "
                        "the limit.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("integers"));
  const auto update = [&](const char* name, const char* doc) {
    registry.Add(OpDef(name)
                     .Inputs("ref:ref(T), value:T")
                     .Outputs("output_ref:ref(T)")
                     .Attrs(std::string("T:type in [") + kNumberTypes + "]; use_locking:bool=False")
                     .Structural()
                     .Doc(doc)
                     .Shape(shapes::MergeAll)
                     .NotDifferentiable(kChangesVariable));
  };
  update("AssignAdd", "Adds to a variable a value of its shape.");
  update("AssignSub", "Subtracts from a variable a value of its shape.");
  const auto scatter = [&](const char* name, const char* types, bool locking, const char* doc) {
    const std::string type = types[0] == '\0' ? "T:type" : std::string("T:type in [") + types + "]";
    registry.Add(OpDef(name)
                     .Inputs("ref:ref(T), indices:Tindices, updates:T")
                     .Outputs("output_ref:ref(T)")
                     .Attrs(type + "; Tindices:type in [int32,int64]; use_locking:bool=" +
                            (locking ? "True" : "False"))
                     .Structural()
                     .Doc(doc)
                     .Shape(shapes::Unchanged)
                     .NotDifferentiable(kChangesVariable));
  };
  scatter("ScatterUpdate", "", true, "Replaces rows of a variable.");
  scatter("ScatterAdd", kNumberTypes, false, "Adds to rows of a variable.");
  scatter("ScatterSub", kNumberTypes, false, "Subtracts from rows of a variable.");
  scatter("ScatterMul", kNumberTypes, false, "Multiplies rows of a variable.");
  scatter("ScatterDiv", kNumberTypes, false, "Divides rows of a variable.");
  scatter("ScatterMin", kHalfToInt64, false, "Lowers rows of a variable to the updates.");
  scatter("ScatterMax", kHalfToInt64, false, "Raises rows of a variable to the updates.");
  scatter("ScatterNdUpdate", "", true, "Replaces slices of a variable.");
  scatter("ScatterNdAdd", kNumberTypes, false, "Adds to slices of a variable.");
  scatter("ScatterNdSub", kNumberTypes, false, "Subtracts from slices of a variable.");
  scatter("ScatterNdMin", kNumberTypes, false, "Lowers slices of a variable to the updates.");
  scatter("ScatterNdMax", kNumberTypes, false, "Raises slices of a variable to the updates.");
}

}  // namespace sextant
