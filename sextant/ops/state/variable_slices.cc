#include "sextant/ops/state/variable_slices.h"

#include <string>

#include "sextant/base/error.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/state/number_types.h"
#include "sextant/ops/state/variable.h"
#include "sextant/ops/state/variable_effect.h"

namespace sextant {
namespace {

PartialShape HandleShapeAt0(ShapeContext& c) {
  const HandleShape* handle = c.input_handle(0);
  return handle != nullptr ? handle->shape : PartialShape();
}

void GatherShape(ShapeContext& c) {
  const PartialShape params = HandleShapeAt0(c);
  const PartialShape& indices = c.input(1);
  if (!params.rank_known() || !indices.rank_known()) return c.set_output(0, {});
  int64_t batch_dims = c.attr<int64_t>("batch_dims");
  if (batch_dims < 0) batch_dims += indices.rank();
  if (batch_dims < 0 || batch_dims > indices.rank() || batch_dims >= params.rank()) {
    throw InvalidArgument("batch_dims {} does not fit a variable {} and indices {}",
                          c.attr<int64_t>("batch_dims"), params.ToString(), indices.ToString());
  }
  const auto batch = static_cast<int>(batch_dims);
  PartialShape out = indices;
  for (int i = 0; i < batch; ++i) {
    if (out[i] == PartialShape::kUnknown) out.set_dim(i, params[i]);
  }
  for (int i = batch + 1; i < params.rank(); ++i) out.Append(params[i]);
  c.set_output(0, out);
}

void GatherNdShape(ShapeContext& c) {
  const PartialShape params = HandleShapeAt0(c);
  const PartialShape indices = c.InputOfRankAtLeast(1, 1);
  if (!params.rank_known() || !indices.rank_known()) return c.set_output(0, {});
  const int64_t depth = indices[indices.rank() - 1];
  if (depth == PartialShape::kUnknown) return c.set_output(0, {});
  if (depth > params.rank()) {
    throw InvalidArgument("indices of {} components into a variable of shape {}", depth,
                          params.ToString());
  }
  PartialShape out = indices;
  out.Erase(out.rank() - 1);
  for (int i = static_cast<int>(depth); i < params.rank(); ++i) out.Append(params[i]);
  c.set_output(0, out);
}

Output Reshape(Output x, Output shape) {
  return OpBuilder("Reshape").Input(x).Input(shape).Build();
}

void GatherGradient(GradientContext& g) {
  const Output shape = VariableShape(g.input(0));
  const Output indices = g.input(1);
  const Output size = OpBuilder("ExpandDims")
                          .Input(OpBuilder("Size").Input(indices).Build())
                          .Input(Const(Tensor(0)))
                          .Build();
  const Output row =
      OpBuilder("Slice").Input(shape).Input(ConstInts({1})).Input(ConstInts({-1})).Build();
  const Output values_shape =
      OpBuilder("ConcatV2").Input(std::vector<Output>{size, row}).Input(Const(Tensor(0))).Build();
  g.set(0, IndexedSlices{Reshape(g.grad(), values_shape), Reshape(indices, size), shape});
}

void GatherNdGradient(GradientContext& g) {
  const Output indices = g.input(1);
  const Output shape = VariableShape(g.input(0), indices.dtype());
  const PartialShape& known = indices.shape();
  if (known.rank_known() && known.rank() == 2 && known[1] == 1) {
    const Output rows = Reshape(indices, ConstInts({-1}));
    return g.set(0, IndexedSlices{g.grad(), rows, shape});
  }
  g.set(0, OpBuilder("ScatterNd").Input(indices).Input(g.grad()).Input(shape).Build());
}

void CheckRows(ShapeContext& c) {
  const PartialShape params = HandleShapeAt0(c);
  const PartialShape &indices = c.input(1), &updates = c.input(2);
  if (!params.rank_known() || !indices.rank_known() || !updates.rank_known()) return;
  if (params.rank() == 0) throw InvalidArgument("a scalar variable has no rows");
  if (updates.rank() == 0) return;
  PartialShape wanted = indices;
  for (int i = 1; i < params.rank(); ++i) wanted.Append(params[i]);
  if (!wanted.CompatibleWith(updates)) {
    throw InvalidArgument("updates have shape {}, indices and variable ask for {}",
                          updates.ToString(), wanted.ToString());
  }
}

Operation Scatter(const char* op, Output handle, Output indices, Output updates) {
  return OpBuilder(op).Input(handle).Input(indices).Input(updates).BuildOperation();
}

}  // namespace

Output ResourceGather(Output handle, Output indices, const ResourceGatherOptions& options) {
  return OpBuilder("ResourceGather")
      .Input(handle)
      .Input(indices)
      .Attr("batch_dims", options.batch_dims)
      .Attr("dtype", Variable::FromHandle(handle).dtype())
      .Build();
}
Output ResourceGatherNd(Output handle, Output indices) {
  return OpBuilder("ResourceGatherNd")
      .Input(handle)
      .Input(indices)
      .Attr("dtype", Variable::FromHandle(handle).dtype())
      .Build();
}
Operation ResourceScatterUpdate(Output handle, Output indices, Output updates) {
  return Scatter("ResourceScatterUpdate", handle, indices, updates);
}
Operation ResourceScatterAdd(Output handle, Output indices, Output updates) {
  return Scatter("ResourceScatterAdd", handle, indices, updates);
}
Operation ResourceScatterSub(Output handle, Output indices, Output updates) {
  return Scatter("ResourceScatterSub", handle, indices, updates);
}
Operation ResourceScatterMul(Output handle, Output indices, Output updates) {
  return Scatter("ResourceScatterMul", handle, indices, updates);
}
Operation ResourceScatterDiv(Output handle, Output indices, Output updates) {
  return Scatter("ResourceScatterDiv", handle, indices, updates);
}
Operation ResourceScatterMin(Output handle, Output indices, Output updates) {
  return Scatter("ResourceScatterMin", handle, indices, updates);
}
Operation ResourceScatterMax(Output handle, Output indices, Output updates) {
  return Scatter("ResourceScatterMax", handle, indices, updates);
}
Operation ResourceScatterNdUpdate(Output handle, Output indices, Output updates) {
  return Scatter("ResourceScatterNdUpdate", handle, indices, updates);
}
Operation ResourceScatterNdAdd(Output handle, Output indices, Output updates) {
  return Scatter("ResourceScatterNdAdd", handle, indices, updates);
}
Operation ResourceScatterNdSub(Output handle, Output indices, Output updates) {
  return Scatter("ResourceScatterNdSub", handle, indices, updates);
}

void RegisterVariableSlices(OpRegistry& registry) {
  registry.Add(OpDef("ResourceGather")
                   .Inputs("resource:resource, indices:Tindices")
                   .Outputs("output:dtype")
                   .Attrs("batch_dims:int=0; validate_indices:bool=True; dtype:type; "
                          "Tindices:type in [int32,int64]")
                   .Stateful()
                   .Doc("Rows of a variable, chosen by index.")
                   .Shape(GatherShape)
                   .Gradient(GatherGradient));
  registry.Add(OpDef("ResourceGatherNd")
                   .Inputs("resource:resource, indices:Tindices")
                   .Outputs("output:dtype")
                   .Attrs("dtype:type; Tindices:type in [int32,int64]")
                   .Stateful()
                   .Doc("Slices of a variable; the last dimension of the indices holds their "
                        "coordinates.")
                   .Shape(GatherNdShape)
                   .Gradient(GatherNdGradient));
  const std::string numbers = std::string("dtype:type in [") + kNumberTypes + "]";
  const auto rows = [&](const char* name, const std::string& dtype, const char* doc) {
    registry.Add(OpDef(name)
                     .Inputs("resource:resource, indices:Tindices, updates:dtype")
                     .Attrs(dtype + "; Tindices:type in [int32,int64]")
                     .Stateful()
                     .Doc(doc)
                     .Shape(CheckRows)
                     .NotDifferentiable(kChangesVariable));
  };
  rows("ResourceScatterUpdate", "dtype:type", "Replaces rows of a variable.");
  rows("ResourceScatterAdd", numbers, "Adds to rows of a variable.");
  rows("ResourceScatterSub", numbers, "Subtracts from rows of a variable.");
  rows("ResourceScatterMul", numbers, "Multiplies rows of a variable.");
  rows("ResourceScatterDiv", numbers, "Divides rows of a variable.");
  rows("ResourceScatterMin", numbers, "Lowers rows of a variable to the updates.");
  rows("ResourceScatterMax", numbers, "Raises rows of a variable to the updates.");
  const auto slices = [&](const char* name, const char* doc) {
    registry.Add(OpDef(name)
                     .Inputs("ref:resource, indices:Tindices, updates:T")
                     .Attrs("T:type; Tindices:type in [int32,int64]; use_locking:bool=True")
                     .Stateful()
                     .Doc(doc)
                     .Shape(shapes::NoOutputs)
                     .NotDifferentiable(kChangesVariable));
  };
  slices("ResourceScatterNdUpdate", "Replaces slices of a variable.");
  slices("ResourceScatterNdAdd", "Adds to slices of a variable.");
  slices("ResourceScatterNdSub", "Subtracts from slices of a variable.");
  slices("ResourceScatterNdMin", "Lowers slices of a variable to the updates.");
  slices("ResourceScatterNdMax", "Raises slices of a variable to the updates.");
}

}  // namespace sextant
