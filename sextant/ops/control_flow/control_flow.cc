#include "sextant/ops/control_flow/control_flow.h"

#include "sextant/graph/gradient_builder.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/scope.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

SwitchOutputs Switch(Output data, Output pred) {
  Node* node = OpBuilder("Switch").Input(data).Input(pred).BuildNode();
  return {node->output(0), node->output(1)};
}

MergeOutputs Merge(const std::vector<Output>& inputs) {
  Node* node = OpBuilder("Merge").Input(inputs).BuildNode();
  return {node->output(0), node->output(1)};
}

Operation NoOp(std::string_view name) { return OpBuilder("NoOp").Name(name).BuildOperation(); }

Operation Group(const std::vector<Operation>& operations, std::string_view name) {
  return OpBuilder("NoOp").ControlInputs(operations).Name(name).BuildOperation();
}

namespace {

// What every input may be: a loop's first value and what an iteration makes of it can differ.
void MergeShape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) shape = shape.RelaxWith(c.input(i));
  c.set_output(0, std::move(shape));
  c.set_output(1, Shape());
  if (const HandleShape* handle = c.input_handle(0)) c.set_output_handle(0, *handle);
}

// Each side contributes when it was taken. A side without a gradient gives zeros, which live and
// die with it; a gradient that does not depend on the side is made to.
void SwitchGradient(GradientContext& c) {
  std::vector<Output> sides(2);
  for (int i = 0; i < 2; ++i) {
    if (c.has_gradient(i)) {
      const SwitchOutputs gate = Switch(c.grad(i), c.input(1));
      sides[i] = i == 0 ? gate.output_false : gate.output_true;
    }
  }
  for (int i = 0; i < 2; ++i) {
    if (!sides[i]) sides[i] = ZeroGradient(c.output(i), sides[1 - i].dtype());
  }
  c.set(0, Merge(sides).output);
}

void MergeGradient(GradientContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.wanted(i)) continue;
    const Output taken =
        OpBuilder("Equal").Input(c.output(1)).Input(Const(Tensor(i), "index")).Build();
    c.set(i, Switch(c.grad(), taken).output_true);
  }
}

OpDef LoopOp(std::string name, const std::string& type) {
  return OpDef(std::move(name))
      .Inputs("data:" + type)
      .Outputs("output:" + type)
      .Shape(shapes::Unchanged)
      .GradientForbidden("a loop is differentiated as a While")
      .Structural();
}

constexpr char kEnterAttrs[] =
    "T:type; frame_name:string; is_constant:bool=False; parallel_iterations:int=10";

void RegisterConditionals(OpRegistry& registry) {
  registry.Add(
      OpDef("Switch")
          .Inputs("data:T, pred:bool")
          .Outputs("output_false:T, output_true:T")
          .Attrs("T:type")
          .Doc("Sends data to the output that pred names; what reads the other does not run.")
          .Shape(shapes::Unchanged)
          .Gradient(SwitchGradient)
          .Structural());
  registry.Add(OpDef("RefSwitch")
                   .Inputs("data:ref(T), pred:bool")
                   .Outputs("output_false:ref(T), output_true:ref(T)")
                   .Attrs("T:type")
                   .AllowsUninitializedInput()
                   .Doc("Switch of a reference to a variable.")
                   .Shape(shapes::Unchanged)
                   .Gradient(SwitchGradient)
                   .Structural());
  registry.Add(OpDef("RefIdentity")
                   .Inputs("input:ref(T)")
                   .Outputs("output:ref(T)")
                   .Attrs("T:type")
                   .AllowsUninitializedInput()
                   .Doc("The reference to a variable that it is given.")
                   .Shape(shapes::Unchanged)
                   .Gradient([](GradientContext& c) { c.set(0, c.grad()); })
                   .Structural());
  registry.Add(OpDef("Merge")
                   .Inputs("inputs:N*T")
                   .Outputs("output:T, value_index:int32")
                   .Attrs("T:type; N:int>=1")
                   .Doc("The input that was computed, and its index.")
                   .Shape(MergeShape)
                   .Gradient(MergeGradient)
                   .Structural());
  registry.Add(OpDef("RefMerge")
                   .Inputs("inputs:ref(N*T)")
                   .Outputs("output:ref(T), value_index:int32")
                   .Attrs("T:type; N:int>=1")
                   .Doc("Merge of references to variables.")
                   .Shape(MergeShape)
                   .Gradient(MergeGradient)
                   .Structural());
}

void RegisterLoops(OpRegistry& registry) {
  for (const bool ref : {false, true}) {
    const std::string prefix = ref ? "Ref" : "", type = ref ? "ref(T)" : "T";
    registry.Add(
        LoopOp(prefix + "Enter", type)
            .Attrs(kEnterAttrs)
            .Doc("Takes a value into the frame of a loop; a constant one into every iteration."));
    registry.Add(LoopOp(prefix + "Exit", type)
                     .Attrs("T:type")
                     .Doc("Takes a value out of the frame of a loop."));
    registry.Add(LoopOp(prefix + "NextIteration", type)
                     .Attrs("T:type")
                     .Doc("Takes a value into the next iteration of a loop."));
  }
  registry.Add(OpDef("LoopCond")
                   .Inputs("input:bool")
                   .Outputs("output:bool")
                   .Doc("Marks the condition of a loop.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("a condition")
                   .Structural());
}

}  // namespace

void RegisterControlFlow(OpRegistry& registry) {
  RegisterConditionals(registry);
  RegisterLoops(registry);
  registry.Add(OpDef("NoOp")
                   .Doc("Does nothing.")
                   .Shape(shapes::NoOutputs)
                   .NotDifferentiable("it has no outputs"));
  registry.Add(OpDef("ControlTrigger")
                   .Doc("Does nothing, even when what it waits for did not run.")
                   .Shape(shapes::NoOutputs)
                   .NotDifferentiable("it has no outputs"));
  registry.Add(OpDef("Abort")
                   .Attrs("error_msg:string=''; exit_without_error:bool=False")
                   .Doc("Fails with ABORTED and the message.")
                   .Shape(shapes::NoOutputs)
                   .NotDifferentiable("it has no outputs"));
}

}  // namespace sextant
