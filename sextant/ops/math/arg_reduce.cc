#include "sextant/ops/math/arg_reduce.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void ArgShape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  if (!shape.rank_known()) return c.set_output(0, PartialShape());
  if (const auto axis = c.InputInt(1)) {
    shape.Erase(shapes::NormalizeAxis(*axis, shape.rank()));
    return c.set_output(0, shape);
  }
  c.set_output(0,
               shape.rank() == 0 ? PartialShape() : PartialShape::UnknownOfRank(shape.rank() - 1));
}

const std::string kArgTypes =
    "T:type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,qint8,"
    "quint8,qint32,qint16,quint16,bool]; ";

OpDef ArgReduce(const char* name, const std::string& attrs, const char* doc) {
  return OpDef(name)
      .Inputs("input:T, dimension:Tidx")
      .Outputs("output:output_type")
      .Attrs(kArgTypes + attrs)
      .Doc(doc)
      .Shape(ArgShape)
      .NotDifferentiable("the result is an index");
}

}  // namespace

Output ArgMax(Output x, const IndexArg& axis, const ArgReduceOptions& options) {
  return OpBuilder("ArgMax")
      .Input(x)
      .Input(axis.ToOutput())
      .Attr("output_type", options.output_type)
      .Build();
}
Output ArgMin(Output x, const IndexArg& axis, const ArgReduceOptions& options) {
  return OpBuilder("ArgMin")
      .Input(x)
      .Input(axis.ToOutput())
      .Attr("output_type", options.output_type)
      .Build();
}

void RegisterArgReduce(OpRegistry& registry) {
  registry.Add(ArgReduce("ArgMax",
                         "Tidx:type=int32 in [int16,int32,int64]; output_type:type=int64 in "
                         "[int16,uint16,int32,int64]",
                         "Index of the largest element along an axis, the first of equals."));
  registry.Add(ArgReduce(
      "ArgMin", "Tidx:type=int32 in [int32,int64]; output_type:type=int64 in [int32,int64]",
      "Index of the smallest element along an axis, the first of equals."));
}

}  // namespace sextant
