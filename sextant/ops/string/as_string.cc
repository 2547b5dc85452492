#include "sextant/ops/string/as_string.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Output AsString(Output x, const AsStringOptions& options) {
  return OpBuilder("AsString")
      .Input(x)
      .Attr("precision", options.precision)
      .Attr("scientific", options.scientific)
      .Attr("shortest", options.shortest)
      .Attr("width", options.width)
      .Attr("fill", options.fill)
      .Build();
}

void RegisterAsString(OpRegistry& registry) {
  registry.Add(OpDef("AsString")
                   .Inputs("input:T")
                   .Outputs("output:string")
                   .Attrs("T:type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,"
                          "half,uint32,uint64,complex64,complex128,bool,variant,string]; "
                          "precision:int=-1; scientific:bool=False; shortest:bool=False; "
                          "width:int=-1; fill:string=''")
                   .Doc("Each element as text, formatted as C's printf does with the given flag, "
                        "width and precision.")
                   .Shape(shapes::Unchanged)
                   .NotDifferentiable("text has no derivative"));
}

}  // namespace sextant
