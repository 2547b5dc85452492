// Sums of gradients, dense and sparse.
#include "sextant/graph/gradient_builder.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

namespace {

// The first element of a shape vector.
Output FirstSize(Output dense_shape) {
  const PartialShape known = ConstantValueAsShape(dense_shape);
  if (known.rank_known() && known.rank() > 0 && known[0] != PartialShape::kUnknown) {
    return Const(Tensor(known[0]), "num_segments");
  }
  return OpBuilder("StridedSlice")
      .Input(dense_shape)
      .Input(ConstInts({0}))
      .Input(ConstInts({1}))
      .Input(ConstInts({1}))
      .Attr("shrink_axis_mask", 1)
      .Build();
}

Output Concat(const std::vector<Output>& values) {
  return OpBuilder("ConcatV2").Input(values).Input(Const(Tensor(0), "axis")).Name("concat").Build();
}

Gradient ConcatSlices(const std::vector<Gradient>& parts) {
  std::vector<Output> values, indices;
  bool same_type = true;
  for (const Gradient& part : parts) {
    values.push_back(part.slices().values);
    indices.push_back(part.slices().indices);
    same_type = same_type && indices.back().dtype() == indices.front().dtype();
  }
  for (Output& index : indices) {
    if (same_type || index.dtype() == DType::kInt64) continue;
    index = OpBuilder("Cast").Input(index).Attr("DstT", DType::kInt64).Build();
  }
  return IndexedSlices{Concat(values), Concat(indices), parts.front().slices().dense_shape};
}

}  // namespace

Output Gradient::dense() const {
  if (dense_) return dense_;
  if (!slices_) throw InvalidArgument("there is no gradient to make dense");
  return OpBuilder("UnsortedSegmentSum")
      .Input(slices_->values)
      .Input(slices_->indices)
      .Input(FirstSize(slices_->dense_shape))
      .Name("dense")
      .Build();
}

Gradient SumGradients(const std::vector<Gradient>& parts) {
  if (parts.empty()) return Gradient();
  if (parts.size() == 1) return parts[0];
  bool all_sparse = true;
  for (const Gradient& part : parts) all_sparse = all_sparse && part.sparse();
  if (all_sparse) return ConcatSlices(parts);
  std::vector<Output> terms;
  for (const Gradient& part : parts) terms.push_back(part.dense());
  return OpBuilder("AddN").Input(std::move(terms)).Build();
}

Output ZeroGradient(Output tensor, DType variable_dtype) {
  if (tensor.dtype() != DType::kResource) {
    return OpBuilder("ZerosLike").Input(tensor).Name("zeros").Build();
  }
  return OpBuilder("Fill")
      .Input(OpBuilder("VariableShape").Input(tensor).Build())
      .Input(Const(Tensor::Zeros(variable_dtype, Shape()), "zero"))
      .Name("zeros")
      .Build();
}

}  // namespace sextant
