#include "sextant/ops/array/partition.h"

#include <algorithm>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/shape.h"

namespace sextant {
namespace {

// Throws unless "shape" can begin with "prefix".
void CheckPrefix(const PartialShape& prefix, const PartialShape& shape, const char* what) {
  if (!prefix.rank_known() || !shape.rank_known()) return;
  bool fits = prefix.rank() <= shape.rank();
  for (int d = 0; fits && d < prefix.rank(); ++d) {
    fits = prefix[d] == PartialShape::kUnknown || shape[d] == PartialShape::kUnknown ||
           prefix[d] == shape[d];
  }
  if (!fits) {
    throw InvalidArgument("data {} must start with the shape {} of {}", shape.ToString(),
                          prefix.ToString(), what);
  }
}

void PartitionShape(ShapeContext& c) {
  const PartialShape &data = c.input(0), &partitions = c.input(1);
  CheckPrefix(partitions, data, "partitions");
  PartialShape shape;
  if (data.rank_known() && partitions.rank_known()) {
    shape = PartialShape{PartialShape::kUnknown};
    for (int d = partitions.rank(); d < data.rank(); ++d) shape.Append(data[d]);
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shape);
}

void StitchShape(ShapeContext& c) {
  const int count = c.num_inputs() / 2;
  PartialShape rest;  // of the slices
  int64_t rows = 0;
  for (int i = 0; i < count; ++i) {
    const PartialShape &indices = c.input(i), &data = c.input(count + i);
    CheckPrefix(indices, data, "indices");
    if (const auto value = c.InputValue(i); value && rows != PartialShape::kUnknown) {
      for (int64_t index : value->AsInt64s()) rows = std::max(rows, index + 1);
    } else {
      rows = PartialShape::kUnknown;
    }
    if (!indices.rank_known() || !data.rank_known()) continue;
    PartialShape slice(std::vector<int64_t>{});
    for (int d = indices.rank(); d < data.rank(); ++d) slice.Append(data[d]);
    rest = rest.MergeWith(slice);
  }
  if (rest.rank_known()) rest.Insert(0, rows);
  c.set_output(0, std::move(rest));
}

void PartitionGradient(GradientContext& c) {
  const Output data = c.input(0), partitions = c.input(1);
  const int64_t count = c.num_outputs();
  const Output positions = OpBuilder("Range")
                               .Input(Const(Tensor(int32_t{0})))
                               .Input(Size(partitions))
                               .Input(Const(Tensor(int32_t{1})))
                               .Build();
  const auto taken_from =
      DynamicPartition(Reshape(positions, ShapeOf(partitions)), partitions, count);
  std::vector<Output> grads;
  for (int i = 0; i < count; ++i) grads.push_back(c.grad(i));
  c.set(0, Reshape(ParallelDynamicStitch(taken_from, grads), ShapeOf(data)));
}

void StitchGradient(GradientContext& c) {
  const int count = c.num_inputs() / 2;
  const Output grad = c.grad();
  for (int i = 0; i < count; ++i) c.set(count + i, Gather(grad, c.input(i)));
}

OpDef StitchDef(const char* name, const char* doc) {
  return OpDef(name)
      .Inputs("indices:N*int32, data:N*T")
      .Outputs("merged:T")
      .Attrs("N:int>=1; T:type")
      .Doc(doc)
      .Shape(StitchShape)
      .Gradient(StitchGradient);
}

}  // namespace

std::vector<Output> DynamicPartition(Output data, Output partitions, int64_t num_partitions) {
  return OpBuilder("DynamicPartition")
      .Input(data)
      .Input(partitions)
      .Attr("num_partitions", num_partitions)
      .BuildAll();
}
Output DynamicStitch(const std::vector<Output>& indices, const std::vector<Output>& data) {
  return OpBuilder("DynamicStitch").Input(indices).Input(data).Build();
}
Output ParallelDynamicStitch(const std::vector<Output>& indices, const std::vector<Output>& data) {
  return OpBuilder("ParallelDynamicStitch").Input(indices).Input(data).Build();
}

void RegisterPartition(OpRegistry& registry) {
  registry.Add(OpDef("DynamicPartition")
                   .Inputs("data:T, partitions:int32")
                   .Outputs("outputs:num_partitions*T")
                   .Attrs("num_partitions:int>=1; T:type")
                   .Doc("Deals the slices of data out to num_partitions outputs by the numbers in "
                        "partitions.")
                   .Shape(PartitionShape)
                   .Gradient(PartitionGradient));
  registry.Add(StitchDef("DynamicStitch",
                         "Slices of several tensors put at the rows that indices names; the last "
                         "of several for one row stays."));
  registry.Add(StitchDef("ParallelDynamicStitch", "As DynamicStitch, in no particular order."));
}

}  // namespace sextant
