#include "sextant/ops/array/scatter.h"

#include <string>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/elementwise_build.h"

namespace sextant {
namespace {

// Checks updates = indices[:-1] + target[depth:] as far as they are known.
void CheckUpdates(const PartialShape& indices, const PartialShape& updates,
                  const PartialShape& target) {
  if (!indices.rank_known() || !target.rank_known() || indices.rank() == 0) return;
  const int64_t depth = indices[indices.rank() - 1];
  if (depth == PartialShape::kUnknown) return;
  if (depth > target.rank()) {
    throw InvalidArgument("indices {} index {} dimensions of {}", indices.ToString(), depth,
                          target.ToString());
  }
  PartialShape wanted = indices;
  wanted.Erase(wanted.rank() - 1);
  for (int d = static_cast<int>(depth); d < target.rank(); ++d) wanted.Append(target[d]);
  if (!wanted.CompatibleWith(updates)) {
    throw InvalidArgument("updates {} do not fit: indices {} into {} need {}", updates.ToString(),
                          indices.ToString(), target.ToString(), wanted.ToString());
  }
}

void ScatterNdShape(ShapeContext& c) {
  const PartialShape shape = c.InputAsShape(2);
  CheckUpdates(c.InputOfRankAtLeast(0, 1), c.input(1), shape);
  c.set_output(0, shape);
}

void TensorScatterShape(ShapeContext& c) {
  CheckUpdates(c.InputOfRankAtLeast(1, 1), c.input(2), c.input(0));
  c.set_output(0, c.input(0));
}

Output Scatter(const char* op, Output tensor, Output indices, Output updates) {
  return OpBuilder(op).Input(tensor).Input(indices).Input(updates).Build();
}

void UpdateGradient(GradientContext& c) {
  c.set(0, TensorScatterUpdate(c.grad(), c.input(1), ZerosLike(c.input(2))));
  c.set(2, GatherNd(c.grad(), c.input(1)));
}

void AddGradient(GradientContext& c) {
  c.set(0, c.grad());
  c.set(2, GatherNd(c.grad(), c.input(1)));
}

void SubGradient(GradientContext& c) {
  c.set(0, c.grad());
  c.set(2, OpBuilder("Neg").Input(GatherNd(c.grad(), c.input(1))).Build());
}

// All that equal the result share its gradient evenly.
void ExtremeGradient(GradientContext& c) {
  const Output x = c.input(0), indices = c.input(1), y = c.input(2), out = c.output(0);
  const Output grad = c.grad();
  const auto equal = [&](Output a, Output b) {
    return OpBuilder("Cast").Input(BuildBinary("Equal", a, b)).Attr("DstT", grad.dtype()).Build();
  };
  const Output from_x = equal(x, out), from_y = equal(y, GatherNd(out, indices));
  const Output ys = ScatterNd(indices, from_y, ShapeOf(x, indices.dtype()));
  const Output share = BuildBinary("RealDiv", grad, BuildBinary("AddV2", from_x, ys));
  c.set(0, BuildBinary("Mul", share, from_x));
  c.set(2, BuildBinary("Mul", GatherNd(share, indices), from_y));
}

OpDef TensorScatter(const char* name, const char* index_types, const char* doc,
                    GradientFunction gradient) {
  return OpDef(name)
      .Inputs("tensor:T, indices:Tindices, updates:T")
      .Outputs("output:T")
      .Attrs(std::string("T:type; Tindices:type in ") + index_types)
      .Doc(doc)
      .Shape(TensorScatterShape)
      .Gradient(std::move(gradient));
}

}  // namespace

Output ScatterNd(Output indices, Output updates, const IndexArg& shape) {
  return OpBuilder("ScatterNd")
      .Input(indices)
      .Input(updates)
      .Input(shape.ToVector(indices.dtype()))
      .Build();
}
Output TensorScatterUpdate(Output tensor, Output indices, Output updates) {
  return Scatter("TensorScatterUpdate", tensor, indices, updates);
}
Output TensorScatterAdd(Output tensor, Output indices, Output updates) {
  return Scatter("TensorScatterAdd", tensor, indices, updates);
}
Output TensorScatterSub(Output tensor, Output indices, Output updates) {
  return Scatter("TensorScatterSub", tensor, indices, updates);
}
Output TensorScatterMax(Output tensor, Output indices, Output updates) {
  return Scatter("TensorScatterMax", tensor, indices, updates);
}
Output TensorScatterMin(Output tensor, Output indices, Output updates) {
  return Scatter("TensorScatterMin", tensor, indices, updates);
}

void RegisterScatter(OpRegistry& registry) {
  registry.Add(OpDef("ScatterNd")
                   .Inputs("indices:Tindices, updates:T, shape:Tindices")
                   .Outputs("output:T")
                   .Attrs("T:type; Tindices:type in [int16,int32,int64]")
                   .Doc("Zeros of the given shape to which the slices of updates are added at the "
                        "positions in indices; what meets at one position adds up.")
                   .Shape(ScatterNdShape)
                   .Gradient([](GradientContext& c) { c.set(1, GatherNd(c.grad(), c.input(0))); }));
  registry.Add(TensorScatter("TensorScatterUpdate", "[int16,int32,int64,uint16]",
                             "The tensor with the slices at the positions in indices replaced by "
                             "updates, the last of several for one position.",
                             UpdateGradient));
  registry.Add(TensorScatter("TensorScatterAdd", "[int32,int64]",
                             "The tensor with updates added at the positions in indices.",
                             AddGradient));
  registry.Add(TensorScatter("TensorScatterSub", "[int32,int64]",
                             "The tensor with updates subtracted at the positions in indices.",
                             SubGradient));
  registry.Add(TensorScatter(
      "TensorScatterMax", "[int32,int64]",
      "The tensor, at the positions in indices the larger of it and updates.", ExtremeGradient));
  registry.Add(TensorScatter("TensorScatterMin", "[int32,int64]",
                             "The tensor, at the positions in indices the smaller of it and "
                             "updates.",
                             ExtremeGradient));
  registry.Add(
      OpDef("ScatterNdNonAliasingAdd")
          .Inputs("input:T, indices:Tindices, updates:T")
          .Outputs("output:T")
          .Attrs("T:type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,"
                 "qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64,bool]; "
                 "Tindices:type in [int32,int64]")
          .Doc("The input with updates added at the positions in indices.")
          .Shape(TensorScatterShape)
          .Gradient(AddGradient));
}

}  // namespace sextant
