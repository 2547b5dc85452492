#include "sextant/ops/training/update_op.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/state/number_types.h"
#include "sextant/ops/state/variable_effect.h"

namespace sextant {
namespace {

// The shape of the variable at input i, whether that is a handle or a reference.
PartialShape VariableShapeAt(ShapeContext& c, int i) {
  if (RemoveRef(c.node().input(i).dtype()) != DType::kResource) return c.input(i);
  const HandleShape* handle = c.input_handle(i);
  return handle != nullptr ? handle->shape : PartialShape();
}

// All but the first size.
PartialShape RowShape(const PartialShape& shape) {
  if (!shape.rank_known()) return PartialShape();
  std::vector<int64_t> sizes;
  for (int i = 1; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  return PartialShape(sizes);
}

void UpdateShape(ShapeContext& c) {
  PartialShape shape = VariableShapeAt(c, 0);
  const std::vector<ArgDef>& args = c.node().op().inputs();
  const bool sparse = c.node().FindAttr("Tindices") != nullptr;
  PartialShape grad;
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (args[i].is_ref || args[i].type == DType::kResource) {
      shape = shape.MergeWith(VariableShapeAt(c, i));
    } else if (args[i].name == "grad" || args[i].name == "delta") {
      grad = c.input(i);
    } else {
      c.InputOfRank(i, args[i].name == "indices" ? 1 : 0);
    }
  }
  if (!sparse) {
    shape = shape.MergeWith(grad);
  } else if (shape.rank_known() && grad.rank_known()) {
    if (shape.rank() == 0 || grad.rank() == 0) {
      throw InvalidArgument("rows of shape {} cannot be updated by gradients of shape {}",
                            shape.ToString(), grad.ToString());
    }
    RowShape(shape).MergeWith(RowShape(grad));
  }
  if (c.num_outputs() > 0) c.set_output(0, shape);
}

}  // namespace

void AddUpdateOps(OpRegistry& registry, const UpdateOp& op) {
  const std::string types = std::string("T:type in [") + kNumberTypes + "]; ";
  const std::string attrs = "use_locking:bool=False" + (op.flag.empty() ? "" : "; " + op.flag);
  const auto add = [&](const std::string& prefix, const std::string& variable, bool sparse) {
    std::string inputs = "var:" + variable + ", ";
    for (const std::string& slot : op.slots) inputs += slot + ":" + variable + ", ";
    inputs += op.inputs;
    if (sparse) {
      const size_t delta = inputs.find("delta:T");
      if (delta != std::string::npos) inputs.replace(delta, 7, "grad:T");
      inputs.insert(inputs.find("grad:T") + 6, ", indices:Tindices");
    }
    OpDef def(prefix + op.name);
    def.Inputs(inputs)
        .Attrs(types + (sparse ? "Tindices:type in [int32,int64]; " : "") + attrs)
        .Doc(op.doc + (sparse ? " Only the rows that the indices name, one after another." : ""))
        .Shape(UpdateShape)
        .NotDifferentiable(kChangesVariable);
    if (variable == "resource") {
      def.Stateful();
    } else {
      def.Outputs("out:" + variable).Structural();
    }
    registry.Add(std::move(def));
  };
  for (const bool sparse : {false, true}) {
    if (sparse && !op.sparse) continue;
    const std::string prefix = sparse ? "SparseApply" : "Apply";
    add("Resource" + prefix, "resource", sparse);
    if (op.references) add(prefix, "ref(T)", sparse);
  }
}

Operation BuildUpdate(std::string_view op, const std::vector<Output>& inputs, std::string_view flag,
                      bool flag_value) {
  OpBuilder builder(op);
  for (const Output& input : inputs) builder.Input(input);
  if (!flag.empty()) builder.Attr(flag, flag_value);
  return builder.BuildOperation();
}

}  // namespace sextant
