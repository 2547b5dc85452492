#include "sextant/ops/array/search_sorted.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void BoundShape(ShapeContext& c) {
  const PartialShape rows = c.InputOfRank(0, 2);
  PartialShape values = c.InputOfRank(1, 2);
  values.set_dim(0, values.MergeWith({rows[0], PartialShape::kUnknown})[0]);
  c.set_output(0, std::move(values));
}

OpDef BoundDef(const char* name, const char* doc) {
  return OpDef(name)
      .Inputs("sorted_inputs:T, values:T")
      .Outputs("output:out_type")
      .Attrs("T:type; out_type:type=int32 in [int32,int64]")
      .Doc(doc)
      .Shape(BoundShape)
      .NotDifferentiable("integer result");
}

Output Bound(const char* op, Output rows, Output values, DType out_type) {
  return OpBuilder(op).Input(rows).Input(values).Attr("out_type", out_type).Build();
}

}  // namespace

Output LowerBound(Output sorted_rows, Output values, DType out_type) {
  return Bound("LowerBound", sorted_rows, values, out_type);
}
Output UpperBound(Output sorted_rows, Output values, DType out_type) {
  return Bound("UpperBound", sorted_rows, values, out_type);
}
Output Bucketize(Output x, const std::vector<float>& boundaries) {
  return OpBuilder("Bucketize").Input(x).Attr("boundaries", boundaries).Build();
}

void RegisterSearchSorted(OpRegistry& registry) {
  registry.Add(BoundDef("LowerBound",
                        "For each value the first position in its sorted row where it could be "
                        "inserted."));
  registry.Add(BoundDef("UpperBound",
                        "For each value the last position in its sorted row where it could be "
                        "inserted."));
  registry.Add(OpDef("Bucketize")
                   .Inputs("input:T")
                   .Outputs("output:int32")
                   .Attrs("T:type in [int32,int64,float,double]; boundaries:list(float)")
                   .Doc("For each element the number of boundaries, which are sorted, that are "
                        "not greater than it.")
                   .Shape(shapes::Unchanged)
                   .NotDifferentiable("integer result"));
}

}  // namespace sextant
