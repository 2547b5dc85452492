#include "sextant/ops/control_flow/optional.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Output OptionalFromValue(const std::vector<Output>& components) {
  return OpBuilder("OptionalFromValue").Input(components).Build();
}
Output OptionalNone() { return OpBuilder("OptionalNone").Build(); }
Output OptionalHasValue(Output optional) {
  return OpBuilder("OptionalHasValue").Input(optional).Build();
}
std::vector<Output> OptionalGetValue(Output optional, const std::vector<DType>& types,
                                     const std::vector<PartialShape>& shapes) {
  return OpBuilder("OptionalGetValue")
      .Input(optional)
      .Attr("output_types", types)
      .Attr("output_shapes", shapes)
      .BuildAll();
}

namespace {

void GetValueShape(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<PartialShape>>("output_shapes");
  if (shapes.size() != static_cast<size_t>(c.num_outputs())) {
    throw InvalidArgument("output_types has {} elements, output_shapes {}", c.num_outputs(),
                          shapes.size());
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shapes[i]);
}

void FromValueGradient(GradientContext& c) {
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
  for (int i = 0; i < c.num_inputs(); ++i) {
    types.push_back(c.input(i).dtype());
    shapes.push_back(c.input(i).shape());
  }
  const std::vector<Output> gradients = OptionalGetValue(c.grad(), types, shapes);
  for (int i = 0; i < c.num_inputs(); ++i) c.set(i, gradients[i]);
}

void GetValueGradient(GradientContext& c) {
  std::vector<Output> gradients;
  for (int i = 0; i < c.num_outputs(); ++i) gradients.push_back(c.grad(i));
  c.set(0, OptionalFromValue(gradients));
}

}  // namespace

void RegisterOptional(OpRegistry& registry) {
  registry.Add(OpDef("OptionalFromValue")
                   .Inputs("components:Toutput_types")
                   .Outputs("optional:variant")
                   .Attrs("Toutput_types:list(type)>=1")
                   .Doc("An optional that holds these tensors.")
                   .Shape(shapes::Scalar)
                   .Gradient(FromValueGradient));
  registry.Add(OpDef("OptionalNone")
                   .Outputs("optional:variant")
                   .Doc("An optional that holds nothing.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("it takes no numbers"));
  registry.Add(OpDef("OptionalHasValue")
                   .Inputs("optional:variant")
                   .Outputs("has_value:bool")
                   .Doc("Whether the optional holds something.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("a bool"));
  registry.Add(OpDef("OptionalGetValue")
                   .Inputs("optional:variant")
                   .Outputs("components:output_types")
                   .Attrs("output_types:list(type)>=1; output_shapes:list(shape)>=1")
                   .Doc("The tensors that the optional holds.")
                   .Shape(GetValueShape)
                   .Gradient(GetValueGradient));
}

}  // namespace sextant
