#include "sextant/ops/control_flow/assert.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Operation Assert(Output condition, const std::vector<Output>& data, int64_t summarize) {
  return OpBuilder("Assert")
      .Input(condition)
      .Input(data)
      .Attr("summarize", summarize)
      .BuildOperation();
}

Output Print(Output input, const std::vector<Output>& data, const PrintOptions& options) {
  return OpBuilder("Print")
      .Input(input)
      .Input(data)
      .Attr("message", options.message)
      .Attr("first_n", options.first_n)
      .Attr("summarize", options.summarize)
      .Build();
}

void RegisterAssert(OpRegistry& registry) {
  registry.Add(OpDef("Assert")
                   .Inputs("condition:bool, data:T")
                   .Attrs("T:list(type)>=1; summarize:int=3")
                   .Stateful()
                   .Doc("Fails and shows the data unless the condition holds.")
                   .Shape(shapes::NoOutputs)
                   .NotDifferentiable("it has no outputs"));
  registry.Add(
      OpDef("Print")
          .Inputs("input:T, data:U")
          .Outputs("output:T")
          .Attrs("T:type; U:list(type)>=0; message:string=''; first_n:int=-1; summarize:int=3")
          .Stateful()
          .Doc("Passes the input on and prints the data to standard error.")
          .Shape(shapes::Unchanged)
          .Gradient([](GradientContext& c) { c.set(0, c.gradient(0)); }));
}

}  // namespace sextant
