#include "sextant/ops/array/identity.h"

#include <string>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void SameShapes(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, c.input(i));
    if (c.input_handle(i) != nullptr) c.set_output_handle(i, *c.input_handle(i));
  }
}

void EnsureShapeShape(ShapeContext& c) {
  c.set_output(0, c.input(0).MergeWith(c.attr<PartialShape>("shape")));
}

void PassGradients(GradientContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.set(i, c.gradient(i));
}

OpDef Same(std::string name) {
  return OpDef(std::move(name))
      .Inputs("input:T")
      .Outputs("output:T")
      .Attrs("T:type")
      .Shape(SameShapes);
}

}  // namespace

Output Identity(Output x, std::string_view name) {
  return OpBuilder("Identity").Input(x).Name(name).Build();
}
std::vector<Output> IdentityN(const std::vector<Output>& xs) {
  return OpBuilder("IdentityN").Input(xs).BuildAll();
}
Output StopGradient(Output x) { return OpBuilder("StopGradient").Input(x).Build(); }
Output PreventGradient(Output x, std::string_view message) {
  return OpBuilder("PreventGradient").Input(x).Attr("message", std::string(message)).Build();
}
Output DeepCopy(Output x) { return OpBuilder("DeepCopy").Input(x).Build(); }
Output EnsureShape(Output x, const PartialShape& shape) {
  return OpBuilder("EnsureShape").Input(x).Attr("shape", shape).Build();
}

void RegisterIdentity(OpRegistry& registry) {
  registry.Add(Same("Identity").Doc("The input itself.").Gradient(PassGradients));
  registry.Add(OpDef("IdentityN")
                   .Inputs("input:T")
                   .Outputs("output:T")
                   .Attrs("T:list(type)>=1")
                   .Doc("The inputs themselves, all of them once all are there.")
                   .Shape(SameShapes)
                   .Gradient(PassGradients));
  registry.Add(Same("StopGradient")
                   .Doc("The input, through which no gradient flows.")
                   .NotDifferentiable("that is its purpose"));
  registry.Add(OpDef("PreventGradient")
                   .Inputs("input:T")
                   .Outputs("output:T")
                   .Attrs("T:type; message:string=''")
                   .Doc("The input; asking for a gradient through it is an error.")
                   .Shape(SameShapes)
                   .Gradient([](GradientContext& c) {
                     throw InvalidArgument("gradient asked for through PreventGradient '{}': {}",
                                           c.node()->name(), c.attr<std::string>("message"));
                   }));
  registry.Add(Same("Snapshot").Doc("A copy of the input.").Gradient(PassGradients));
  registry.Add(OpDef("DeepCopy")
                   .Inputs("x:T")
                   .Outputs("y:T")
                   .Attrs("T:type")
                   .Stateful()
                   .Doc("A copy of x that shares no memory with it.")
                   .Shape(SameShapes)
                   .Gradient(PassGradients));
  registry.Add(OpDef("EnsureShape")
                   .Inputs("input:T")
                   .Outputs("output:T")
                   .Attrs("shape:shape; T:type")
                   .Doc("The input, after checking that its shape fits the attribute.")
                   .Shape(EnsureShapeShape)
                   .Gradient(PassGradients));
  registry.Add(Same("GuaranteeConst")
                   .Stateful()
                   .Doc("The input, promised to be the same in every run.")
                   .Gradient(PassGradients));
}

}  // namespace sextant
