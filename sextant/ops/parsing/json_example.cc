#include "sextant/ops/parsing/json_example.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Output DecodeJSONExample(Output json_examples) {
  return OpBuilder("DecodeJSONExample").Input(json_examples).Build();
}

void RegisterJsonExample(OpRegistry& registry) {
  registry.Add(OpDef("DecodeJSONExample")
                   .Inputs("json_examples:string")
                   .Outputs("binary_examples:string")
                   .Doc("Each Example written in JSON as a serialized Example.")
                   .Shape(shapes::Unchanged)
                   .NotDifferentiable("the input is text"));
}

}  // namespace sextant
