#include "sextant/ops/control_flow/functional.h"

#include "sextant/graph/control_flow_gradients.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

namespace {

// Functions are not looked into, they may be recursive: the attribute says what is known.
void OutputShapes(ShapeContext& c) {
  const Attr* attr = c.node().FindAttr("output_shapes");
  if (!attr || attr->Is<EmptyList>()) return;
  const auto& given = attr->Get<std::vector<PartialShape>>();
  if (given.size() != static_cast<size_t>(c.num_outputs())) return;
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, given[i]);
}

void WhileShape(ShapeContext& c) {
  OutputShapes(c);
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (const HandleShape* handle = c.input_handle(i)) c.set_output_handle(i, *handle);
  }
}

OpDef Functional(std::string name, bool stateful) {
  OpDef def(std::move(name));
  def.Shape(OutputShapes).Structural();
  if (stateful) def.Stateful();
  return def;
}

constexpr char kCallAttrs[] =
    "Tin:list(type)>=0; Tout:list(type)>=0; f:func; config:string=''; config_proto:string=''; "
    "executor_type:string=''";

}  // namespace

void RegisterFunctional(OpRegistry& registry) {
  for (const bool stateful : {true, false}) {
    const std::string prefix = stateful ? "" : "Stateless";
    const std::string effects = stateful ? "." : " without effects.";
    registry.Add(Functional(prefix + "If", stateful)
                     .Inputs("cond:Tcond, input:Tin")
                     .Outputs("output:Tout")
                     .Attrs("Tcond:type; Tin:list(type)>=0; Tout:list(type)>=0; then_branch:func; "
                            "else_branch:func; output_shapes:list(shape)=[]")
                     .Doc("Runs one of two functions" + effects)
                     .Gradient(BranchGradient));
    registry.Add(
        Functional(prefix + "Case", stateful)
            .Inputs("branch_index:int32, input:Tin")
            .Outputs("output:Tout")
            .Attrs("Tin:list(type)>=0; Tout:list(type)>=0; branches:list(func)>=1; "
                   "output_shapes:list(shape)=[]")
            .Doc("Runs the function with this index, the last one when there is none" + effects)
            .Gradient(BranchGradient));
    registry.Add(
        Functional(prefix + "While", stateful)
            .Inputs("input:T")
            .Outputs("output:T")
            .Attrs("T:list(type)>=0; cond:func; body:func; output_shapes:list(shape)=[]; "
                   "parallel_iterations:int=10")
            .Doc("Applies body to its own results as long as cond holds for them" + effects)
            .Shape(WhileShape)
            .Gradient(LoopGradient));
    registry.Add(Functional(stateful ? "StatefulPartitionedCall" : "PartitionedCall", stateful)
                     .Inputs("args:Tin")
                     .Outputs("output:Tout")
                     .Attrs(kCallAttrs)
                     .Doc("Calls a function" + effects)
                     .Gradient(BranchGradient));
  }
  registry.Add(
      Functional("SymbolicGradient", false)
          .Inputs("input:Tin")
          .Outputs("output:Tout")
          .Attrs("Tin:list(type)>=1; Tout:list(type)>=1; f:func")
          .Doc("The gradient of a function: takes its arguments and the gradients of its results.")
          .GradientForbidden("differentiate the function it stands for"));
}

}  // namespace sextant
