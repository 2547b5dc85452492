#include "sextant/ops/array/pack.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void PackShape(ShapeContext& c) {
  PartialShape shape;
  for (int i = 0; i < c.num_inputs(); ++i) shape = shape.MergeWith(c.input(i));
  if (shape.rank_known()) {
    shape.Insert(shapes::NormalizeAxis(c.attr<int64_t>("axis"), shape.rank() + 1), c.num_inputs());
  }
  c.set_output(0, std::move(shape));
}

void UnpackShape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  if (shape.rank_known()) {
    const int axis = shapes::NormalizeAxis(c.attr<int64_t>("axis"), shape.rank());
    if (shape[axis] != PartialShape::kUnknown && shape[axis] != c.num_outputs()) {
      throw InvalidArgument("dimension {} of {} is not num = {}", axis, shape.ToString(),
                            c.num_outputs());
    }
    shape.Erase(axis);
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shape);
}

void PackGradient(GradientContext& c) {
  const auto parts = Unpack(c.grad(), c.num_inputs(), c.attr<int64_t>("axis"));
  for (int i = 0; i < c.num_inputs(); ++i) c.set(i, parts[i]);
}

void UnpackGradient(GradientContext& c) {
  std::vector<Output> parts;
  for (int i = 0; i < c.num_outputs(); ++i) parts.push_back(c.grad(i));
  c.set(0, Pack(parts, c.attr<int64_t>("axis")));
}

}  // namespace

Output Pack(const std::vector<Output>& values, int64_t axis) {
  return OpBuilder("Pack").Input(values).Attr("axis", axis).Build();
}
std::vector<Output> Unpack(Output x, int64_t axis) {
  const PartialShape& shape = x.shape();
  if (!shape.rank_known()) {
    throw InvalidArgument("cannot unpack '{}': its rank is not known; say how many", x.name());
  }
  const int64_t num = shape[shapes::NormalizeAxis(axis, shape.rank())];
  if (num == PartialShape::kUnknown) {
    throw InvalidArgument("cannot unpack '{}' of shape {}: size {} is not known; say how many",
                          x.name(), shape.ToString(), axis);
  }
  return Unpack(x, num, axis);
}
std::vector<Output> Unpack(Output x, int64_t num, int64_t axis) {
  return OpBuilder("Unpack").Input(x).Attr("num", num).Attr("axis", axis).BuildAll();
}

void RegisterPack(OpRegistry& registry) {
  registry.Add(OpDef("Pack")
                   .Inputs("values:N*T")
                   .Outputs("output:T")
                   .Attrs("N:int>=1; T:type; axis:int=0")
                   .Doc("The values, all of one shape, stacked along a new dimension axis.")
                   .Shape(PackShape)
                   .Gradient(PackGradient));
  registry.Add(OpDef("Unpack")
                   .Inputs("value:T")
                   .Outputs("output:num*T")
                   .Attrs("num:int>=0; T:type; axis:int=0")
                   .Doc("The num slices of value along dimension axis, which disappears.")
                   .Shape(UnpackShape)
                   .Gradient(UnpackGradient));
}

}  // namespace sextant
