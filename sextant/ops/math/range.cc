#include "sextant/ops/math/range.h"

#include <cmath>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void RangeShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) c.InputOfRank(i, 0);
  const auto start = c.InputValue(0), limit = c.InputValue(1), delta = c.InputValue(2);
  c.set_output(0, {PartialShape::kUnknown});
  // Of other types the kernel's own rounding decides how many there are.
  if (!start || !limit || !delta) return;
  if (start->dtype() != DType::kInt32 && start->dtype() != DType::kInt64) return;
  const int64_t from = start->AsInt64(), to = limit->AsInt64(), step = delta->AsInt64();
  if (step == 0) throw InvalidArgument("Requires delta != 0: 0");
  if (step > 0 ? from > to : from < to) {
    throw InvalidArgument("Requires start {} limit when delta {} 0: {}/{}",
                          step > 0 ? "<=" : ">=", step > 0 ? ">" : "<", from, to);
  }
  const auto distance = static_cast<unsigned __int128>(
      from < to ? static_cast<__int128>(to) - from : static_cast<__int128>(from) - to);
  const auto size = static_cast<unsigned __int128>(step > 0 ? static_cast<__int128>(step)
                                                            : -static_cast<__int128>(step));
  const auto count = (distance + size - 1) / size;
  if (count <= INT64_MAX) c.set_output(0, {static_cast<int64_t>(count)});
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
