#include "sextant/ops/string/substr.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

const char* UnitName(StringUnit unit) { return unit == StringUnit::kByte ? "BYTE" : "UTF8_CHAR"; }

void SubstrShape(ShapeContext& c) {
  c.set_output(0, shapes::Broadcast(c.input(0), c.input(1).MergeWith(c.input(2))));
}

}  // namespace

Output StringLength(Output x, StringUnit unit) {
  return OpBuilder("StringLength").Input(x).Attr("unit", UnitName(unit)).Build();
}
Output Substr(Output x, Output pos, Output len, StringUnit unit) {
  return OpBuilder("Substr").Input(x).Input(pos).Input(len).Attr("unit", UnitName(unit)).Build();
}

void RegisterSubstr(OpRegistry& registry) {
  registry.Add(OpDef("StringLength")
                   .Inputs("input:string")
                   .Outputs("output:int32")
                   .Attrs("unit:string='BYTE' in ['BYTE','UTF8_CHAR']")
                   .Doc("Number of bytes or characters of each string.")
                   .Shape(shapes::Unchanged)
                   .NotDifferentiable("text has no derivative"));
  registry.Add(
      OpDef("Substr")
          .Inputs("input:string, pos:T, len:T")
          .Outputs("output:string")
          .Attrs("T:type in [int32,int64]; unit:string='BYTE' in ['BYTE','UTF8_CHAR']")
          .Doc("At most len bytes or characters of each string from pos on; a negative pos "
               "counts from the end.")
          .Shape(SubstrShape)
          .NotDifferentiable("text has no derivative"));
}

}  // namespace sextant
