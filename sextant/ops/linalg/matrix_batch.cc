#include "sextant/ops/linalg/matrix_batch.h"

#include <numeric>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/range.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

IndexArg SwappedAxes(Output x) {
  if (x.shape().rank_known()) {
    std::vector<int64_t> axes(static_cast<size_t>(x.shape().rank()));
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return axes;
  }
  const Output rank = Rank(x);
  const Output batch = Range(Const(Tensor(0)), rank - 2, Const(Tensor(1)));
  return Concat({batch, ExpandDims(rank - 1, 0), ExpandDims(rank - 2, 0)}, 0);
}

}  // namespace

Output Adjoint(Output x) {
  return IsComplex(x.dtype()) ? ConjugateTranspose(x, SwappedAxes(x))
                              : Transpose(x, SwappedAxes(x));
}

Output SafeReciprocal(Output x) { return x / (x * x + 1e-20); }

Output PerMatrix(Output x) { return ExpandDims(ExpandDims(x, -1), -1); }

PartialShape BatchShape(const ShapeContext& c, int i) {
  PartialShape shape = c.InputOfRankAtLeast(i, 2);
  if (!shape.rank_known()) return shape;
  shape.Erase(shape.rank() - 1);
  shape.Erase(shape.rank() - 1);
  return shape;
}

int64_t MatrixDim(const ShapeContext& c, int i, int from_end) {
  const PartialShape& shape = c.input(i);
  return shape.rank_known() ? shape[shape.rank() + from_end] : PartialShape::kUnknown;
}

PartialShape AppendDims(PartialShape batch, std::initializer_list<int64_t> dims) {
  if (!batch.rank_known()) return batch;
  for (const int64_t size : dims) batch.Append(size);
  return batch;
}

int64_t MergeDims(int64_t a, int64_t b) {
  if (a >= 0 && b >= 0 && a != b) throw InvalidArgument("sizes {} and {} must be equal", a, b);
  return a >= 0 ? a : b;
}

void SquareUnchanged(ShapeContext& c) {
  const PartialShape batch = BatchShape(c);
  const int64_t size = MergeDims(MatrixDim(c, 0, -2), MatrixDim(c, 0, -1));
  c.set_output(0, AppendDims(batch, {size, size}));
}

}  // namespace sextant
