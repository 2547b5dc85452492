#include "sextant/ops/math/check_numerics.h"

#include <string>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void CheckedGradient(GradientContext& c) {
  c.set(0, CheckNumerics(c.grad(),
                         "Not a number (NaN) or infinity (Inf) values detected in gradient. " +
                             c.attr<std::string>("message")));
}

}  // namespace

Output CheckNumerics(Output x, std::string_view message) {
  return OpBuilder("CheckNumerics").Input(x).Attr("message", std::string(message)).Build();
}

void RegisterCheckNumerics(OpRegistry& registry) {
  for (const char* name : {"CheckNumerics", "CheckNumericsV2"}) {
    registry.Add(OpDef(name)
                     .Inputs("tensor:T")
                     .Outputs("output:T")
                     .Attrs("T:type in [bfloat16,half,float,double]; message:string")
                     .Stateful()
                     .Doc("The tensor itself; an error when it holds an infinity or a NaN.")
                     .Shape(shapes::Unchanged)
                     .Gradient(CheckedGradient));
  }
}

}  // namespace sextant
