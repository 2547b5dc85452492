#include "sextant/ops/math/matrix_diag.h"

#include <algorithm>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"

namespace sextant {
namespace {

// The range of diagonals that input i denotes, if known. Ops without such an input mean the main
// one.
std::optional<std::pair<int64_t, int64_t>> DiagonalRange(ShapeContext& c, int i) {
  if (i >= c.num_inputs()) return std::pair<int64_t, int64_t>{0, 0};
  const auto k = c.InputInts(i);
  if (!k || k->empty() || k->size() > 2) return std::nullopt;
  if (k->front() > k->back()) {
    throw InvalidArgument("lower_diag_index must not be larger than upper_diag_index: {} > {}",
                          k->front(), k->back());
  }
  return std::pair{k->front(), k->back()};
}

int64_t LongestDiagonal(int64_t rows, int64_t cols, int64_t lower, int64_t upper) {
  if (rows == PartialShape::kUnknown || cols == PartialShape::kUnknown)
    return PartialShape::kUnknown;
  return std::min(rows + std::min<int64_t>(upper, 0), cols - std::max<int64_t>(lower, 0));
}

void BandPartShape(ShapeContext& c) {
  c.InputOfRank(1, 0);
  c.InputOfRank(2, 0);
  c.set_output(0, c.InputOfRankAtLeast(0, 2));
}

void MatrixDiagShape(ShapeContext& c) {
  const PartialShape diagonal = c.InputOfRankAtLeast(0, 1);
  const auto range = DiagonalRange(c, 1);
  if (!diagonal.rank_known() || !range) return c.set_output(0, PartialShape());
  const auto [lower, upper] = *range;
  PartialShape shape = diagonal;
  const int64_t length = shape[shape.rank() - 1];
  shape.Erase(shape.rank() - 1);
  if (lower != upper) {
    if (shape.rank() < 1)
      throw InvalidArgument("diagonals of shape {} are no matrix", diagonal.ToString());
    shape.Erase(shape.rank() - 1);
  }
  const auto size = [&](int i) -> int64_t {
    if (c.num_inputs() == 1) return -1;
    const auto value = c.InputInt(i);
    return value ? *value : -2;
  };
  int64_t rows = size(2), cols = size(3);
  if (length == PartialShape::kUnknown || rows == -2 || cols == -2) {
    rows = rows < 0 ? PartialShape::kUnknown : rows;
    cols = cols < 0 ? PartialShape::kUnknown : cols;
  } else {
    const int64_t least_rows = length - std::min<int64_t>(upper, 0);
    const int64_t least_cols = length + std::max<int64_t>(lower, 0);
    if (rows < 0 && cols < 0) rows = cols = std::max(least_rows, least_cols);
    if (rows < 0) rows = least_rows;
    if (cols < 0) cols = least_cols;
  }
  shape.Append(rows);
  shape.Append(cols);
  c.set_output(0, shape);
}

void MatrixDiagPartShape(ShapeContext& c) {
  PartialShape shape = c.InputOfRankAtLeast(0, 2);
  const auto range = DiagonalRange(c, 1);
  if (!shape.rank_known() || !range) return c.set_output(0, PartialShape());
  const auto [lower, upper] = *range;
  const int last = shape.rank() - 1;
  const int64_t length = LongestDiagonal(shape[last - 1], shape[last], lower, upper);
  if (length != PartialShape::kUnknown && length < 0) {
    throw InvalidArgument("diagonals {} to {} are outside a matrix of shape {}", lower, upper,
                          shape.ToString());
  }
  shape.Erase(last);
  shape.Erase(last - 1);
  if (lower != upper) shape.Append(upper - lower + 1);
  shape.Append(length);
  c.set_output(0, shape);
}

void MatrixSetDiagShape(ShapeContext& c) {
  c.InputOfRankAtLeast(1, 1);
  DiagonalRange(c, 2);
  c.set_output(0, c.InputOfRankAtLeast(0, 2));
}

void DiagShape(ShapeContext& c) {
  PartialShape shape = c.InputOfRankAtLeast(0, 1);
  if (shape.rank_known()) {
    for (int64_t size : c.input(0).dims()) shape.Append(size);
  }
  c.set_output(0, shape);
}

void DiagPartShape(ShapeContext& c) {
  const PartialShape& x = c.input(0);
  if (!x.rank_known()) return c.set_output(0, PartialShape());
  if (x.rank() == 0 || x.rank() % 2 != 0) {
    throw InvalidArgument("The rank of the tensor should be even and positive, got shape {}",
                          x.ToString());
  }
  const size_t half = x.rank() / 2;
  c.set_output(0, PartialShape(x.dims().first(half)).MergeWith(PartialShape(x.dims().last(half))));
}

// How the node's diagonals are chosen and stored; input i, if there is one, holds the range.
DiagonalOptions OptionsOf(GradientContext& c, int i) {
  DiagonalOptions options;
  if (i < c.num_inputs()) options.k = c.input(i);
  const Attr* align = c.node()->FindAttr("align");
  options.align = align ? align->Get<std::string>() : "LEFT_LEFT";
  return options;
}

void MatrixDiagPartGradient(GradientContext& c) {
  c.set(0, MatrixSetDiag(ZerosLike(c.input(0)), c.grad(), OptionsOf(c, 1)));
}

void MatrixSetDiagGradient(GradientContext& c) {
  c.set(0, MatrixSetDiag(c.grad(), ZerosLike(c.input(1)), OptionsOf(c, 2)));
  c.set(1, MatrixDiagPart(c.grad(), OptionsOf(c, 2)));
}

Output Zero(DType dtype) { return Const(Tensor::Zeros(dtype, Shape())); }

const std::string kAlign =
    "T:type; align:string='RIGHT_LEFT' in ['LEFT_RIGHT','RIGHT_LEFT','LEFT_LEFT','RIGHT_RIGHT']";

void RegisterMatrixDiagVersion(OpRegistry& registry, const std::string& version,
                               const std::string& attrs) {
  const bool range = !version.empty();
  registry.Add(
      OpDef("MatrixDiag" + version)
          .Inputs(range ? "diagonal:T, k:int32, num_rows:int32, num_cols:int32, padding_value:T"
                        : "diagonal:T")
          .Outputs("output:T")
          .Attrs(attrs)
          .Doc("Matrices with the given diagonals.")
          .Shape(MatrixDiagShape)
          .Gradient(
              [](GradientContext& c) { c.set(0, MatrixDiagPart(c.grad(), OptionsOf(c, 1))); }));
  registry.Add(OpDef("MatrixDiagPart" + version)
                   .Inputs(range ? "input:T, k:int32, padding_value:T" : "input:T")
                   .Outputs("diagonal:T")
                   .Attrs(attrs)
                   .Doc("The diagonals of matrices.")
                   .Shape(MatrixDiagPartShape)
                   .Gradient(MatrixDiagPartGradient));
  registry.Add(OpDef("MatrixSetDiag" + version)
                   .Inputs(range ? "input:T, diagonal:T, k:int32" : "input:T, diagonal:T")
                   .Outputs("output:T")
                   .Attrs(attrs)
                   .Doc("Matrices with their diagonals replaced.")
                   .Shape(MatrixSetDiagShape)
                   .Gradient(MatrixSetDiagGradient));
}

}  // namespace

Output MatrixBandPart(Output x, const IndexArg& num_lower, const IndexArg& num_upper) {
  const IndexArg* const both[] = {&num_lower, &num_upper};
  const DType type = IndexArg::CommonType(both);
  return OpBuilder("MatrixBandPart")
      .Input(x)
      .Input(num_lower.ToOutput(type))
      .Input(num_upper.ToOutput(type))
      .Build();
}
Output MatrixDiag(Output diagonal, const DiagonalOptions& options) {
  return OpBuilder("MatrixDiagV3")
      .Input(diagonal)
      .Input(options.k.ToOutput(DType::kInt32))
      .Input(Const(-1))
      .Input(Const(-1))
      .Input(Zero(diagonal.dtype()))
      .Attr("align", options.align)
      .Build();
}
Output MatrixDiagPart(Output x, const DiagonalOptions& options) {
  return OpBuilder("MatrixDiagPartV3")
      .Input(x)
      .Input(options.k.ToOutput(DType::kInt32))
      .Input(Zero(x.dtype()))
      .Attr("align", options.align)
      .Build();
}
Output MatrixSetDiag(Output x, Output diagonal, const DiagonalOptions& options) {
  return OpBuilder("MatrixSetDiagV3")
      .Input(x)
      .Input(diagonal)
      .Input(options.k.ToOutput(DType::kInt32))
      .Attr("align", options.align)
      .Build();
}
Output Diag(Output diagonal) { return OpBuilder("Diag").Input(diagonal).Build(); }
Output DiagPart(Output x) { return OpBuilder("DiagPart").Input(x).Build(); }

void RegisterMatrixDiag(OpRegistry& registry) {
  registry.Add(OpDef("MatrixBandPart")
                   .Inputs("input:T, num_lower:Tindex, num_upper:Tindex")
                   .Outputs("band:T")
                   .Attrs("T:type; Tindex:type=int64 in [int32,int64]")
                   .Doc("Matrices with zeros outside a band around the main diagonal.")
                   .Shape(BandPartShape)
                   .Gradient([](GradientContext& c) {
                     c.set(0, MatrixBandPart(c.grad(), c.input(1), c.input(2)));
                   }));
  RegisterMatrixDiagVersion(registry, "", "T:type");
  RegisterMatrixDiagVersion(registry, "V2", "T:type");
  RegisterMatrixDiagVersion(registry, "V3", kAlign);
  const char* const types =
      "T:type in [bfloat16,half,float,double,int32,int64,complex64,complex128]";
  registry.Add(OpDef("Diag")
                   .Inputs("diagonal:T")
                   .Outputs("output:T")
                   .Attrs(types)
                   .Doc("A tensor of twice the rank with the given diagonal and zeros elsewhere.")
                   .Shape(DiagShape)
                   .Gradient([](GradientContext& c) { c.set(0, DiagPart(c.grad())); }));
  registry.Add(OpDef("DiagPart")
                   .Inputs("input:T")
                   .Outputs("diagonal:T")
                   .Attrs(types)
                   .Doc("The diagonal of a tensor whose shape is some shape twice.")
                   .Shape(DiagPartShape)
                   .Gradient([](GradientContext& c) { c.set(0, Diag(c.grad())); }));
}

}  // namespace sextant
