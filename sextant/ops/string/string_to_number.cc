#include "sextant/ops/string/string_to_number.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Output StringToNumber(Output x, DType out_type) {
  return OpBuilder("StringToNumber").Input(x).Attr("out_type", out_type).Build();
}

void RegisterStringToNumber(OpRegistry& registry) {
  registry.Add(OpDef("StringToNumber")
                   .Inputs("string_tensor:string")
                   .Outputs("output:out_type")
                   .Attrs("out_type:type=float in [float,double,int32,int64]")
                   .Doc("The number that each string stands for.")
                   .Shape(shapes::Unchanged)
                   .NotDifferentiable("text has no derivative"));
}

}  // namespace sextant
