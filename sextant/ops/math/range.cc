#include "sextant/ops/math/range.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/math/range_count.h"

namespace sextant {
namespace {

int64_t CountOf(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  switch (start.dtype()) {
    case DType::kInt32:
    case DType::kInt64:
      return CountSteps<int64_t>(start.AsInt64(), limit.AsInt64(), delta.AsInt64());
    case DType::kFloat:
      return CountSteps<float>(start.scalar<float>(), limit.scalar<float>(), delta.scalar<float>());
    case DType::kDouble:
      return CountSteps<double>(start.AsDouble(), limit.AsDouble(), delta.AsDouble());
    default:
      return PartialShape::kUnknown;
  }
}

void RangeShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) c.InputOfRank(i, 0);
  const auto start = c.InputValue(0), limit = c.InputValue(1), delta = c.InputValue(2);
  const bool known = start && limit && delta;
  c.set_output(0, {known ? CountOf(*start, *limit, *delta) : PartialShape::kUnknown});
}

void LinSpaceShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) c.InputOfRank(i, 0);
  const auto num = c.InputInt(2);
  if (num && *num <= 0) throw InvalidArgument("Requires num > 0: {}", *num);
  c.set_output(0, {num.value_or(PartialShape::kUnknown)});
}

}  // namespace

Output Range(Output start, Output limit, Output delta) {
  return OpBuilder("Range").Input(start).Input(limit).Input(delta).Build();
}
Output LinSpace(Output start, Output stop, Output num) {
  return OpBuilder("LinSpace").Input(start).Input(stop).Input(num).Build();
}

void RegisterRange(OpRegistry& registry) {
  registry.Add(OpDef("Range")
                   .Inputs("start:Tidx, limit:Tidx, delta:Tidx")
                   .Outputs("output:Tidx")
                   .Attrs("Tidx:type=int32 in "
                          "[bfloat16,half,float,double,int8,int16,int32,int64,uint16,uint32]")
                   .Doc("The numbers from start to limit, limit excluded, in steps of delta.")
                   .Shape(RangeShape)
                   .NotDifferentiable("a sequence of numbers, taken for constant"));
  registry.Add(
      OpDef("LinSpace")
          .Inputs("start:T, stop:T, num:Tidx")
          .Outputs("output:T")
          .Attrs("T:type in [bfloat16,half,float,double]; Tidx:type=int32 in [int32,int64]")
          .Doc("Evenly spaced numbers from start to stop, both included.")
          .Shape(LinSpaceShape)
          .NotDifferentiable("a sequence of numbers, taken for constant"));
}

}  // namespace sextant
