#include "sextant/ops/array/where.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Output Where(Output condition) { return OpBuilder("Where").Input(condition).Build(); }

void RegisterWhere(OpRegistry& registry) {
  registry.Add(
      OpDef("Where")
          .Inputs("input:T")
          .Outputs("index:int64")
          .Attrs("T:type=bool in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,"
                 "qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64,bool]")
          .Doc("The positions of the elements that are not zero (false), one per row.")
          .Shape([](ShapeContext& c) {
            c.set_output(0, {PartialShape::kUnknown,
                             c.input(0).rank_known() ? c.input(0).rank() : PartialShape::kUnknown});
          })
          .NotDifferentiable("integer result"));
}

}  // namespace sextant
