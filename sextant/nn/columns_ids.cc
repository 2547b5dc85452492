// What columns share: forms of ids, tables, lookups of rows.
#include <map>

#include "sextant/base/error.h"
#include "sextant/graph/attachment.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/column.h"
#include "sextant/nn/embedding_lookup.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/array/unique.h"
#include "sextant/ops/array/where.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/segment.h"
#include "sextant/ops/math/select.h"
#include "sextant/ops/math/sparse_segment.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/sparse/sparse_rows.h"

namespace sextant::columns {
namespace {

// The entries of a sparse tensor for which "kept" holds.
SparseTensor Keep(const SparseTensor& sparse, Output kept, Output* also = nullptr) {
  const Output positions = Squeeze(Where(kept), {1});
  if (also != nullptr && *also) *also = Gather(*also, positions);
  return {Gather(sparse.indices, positions), Gather(sparse.values, positions), sparse.dense_shape};
}

// Rows longer than max_norm are shortened to it.
Output ClipRows(Output rows, const std::optional<float>& max_norm) {
  if (!max_norm) return rows;
  const Output squares = Sum(rows * rows, 1, {.keep_dims = true});
  const Output positive = Greater(squares, ScalarLike(0, squares));
  const Output norm =
      SelectV2(positive, Sqrt(SelectV2(positive, squares, OnesLike(squares))), squares);
  const Output limit = ScalarLike(*max_norm, rows);
  return rows * limit / Maximum(norm, limit);
}

Output Combine(Output rows, Output place, Output segments, const std::string& combiner) {
  if (combiner == "sum") return SparseSegmentSum(rows, place, segments);
  if (combiner == "mean") return SparseSegmentMean(rows, place, segments);
  return SparseSegmentSqrtN(rows, place, segments);
}

Output CombineWeighted(Output rows, Output place, Output weights, Output segments,
                       const std::string& combiner) {
  const Output sum = SegmentSum(Gather(rows, place) * ExpandDims(weights, 1), segments);
  if (combiner == "sum") return sum;
  if (combiner == "mean") return sum / ExpandDims(SegmentSum(weights, segments), 1);
  return sum / ExpandDims(Sqrt(SegmentSum(weights * weights, segments)), 1);
}

Output LookUpSparse(const PartitionedVariable& table, const Ids& ids, const std::string& combiner,
                    const std::optional<float>& max_norm) {
  Output weights = ids.weights;
  Output valid = GreaterEqual(ids.sparse.values, Number(0));
  if (weights && combiner != "sum") {
    valid = LogicalAnd(valid, Greater(weights, ScalarLike(0, weights)));
  }
  const SparseTensor kept = Keep(ids.sparse, valid, &weights);
  const FilledRows filled = SparseFillEmptyRows(kept, Number(0));
  if (weights) {
    weights = SparseFillEmptyRows({kept.indices, weights, kept.dense_shape}, ScalarLike(1, weights))
                  .sparse.values;
  }
  const Output segments =
      Cast(Squeeze(Slice(filled.sparse.indices, {0, 0}, {-1, 1}), {1}), DType::kInt32);
  const UniqueOutputs unique = Unique(filled.sparse.values);
  const Output rows = ClipRows(EmbeddingLookup(table, unique.y), max_norm);
  const Output combined = weights ? CombineWeighted(rows, unique.index, weights, segments, combiner)
                                  : Combine(rows, unique.index, segments, combiner);
  const Output empty = ExpandDims(filled.empty_row_indicator, 1);
  return SelectV2(empty, ZerosLike(combined), combined);
}

using Tables = std::map<std::string, Output, std::less<>>;

}  // namespace

Output Number(int64_t value) { return Const(Tensor(value)); }

int64_t Column::num_ids() const { throw Internal("column '{}' is not categorical", name()); }
Ids Column::MakeIds(const Features&) const {
  throw Internal("column '{}' is not categorical", name());
}
int64_t Column::width() const { throw Internal("column '{}' is not dense", name()); }
Output Column::MakeDense(const Features&, const InputLayerOptions&) const {
  throw Internal("column '{}' is not dense", name());
}

const std::string& FeatureColumn::name() const { return column_->name(); }

void CheckCategorical(const FeatureColumn& column, const char* user) {
  if (!column->categorical()) {
    throw InvalidArgument("{} needs a categorical column, '{}' is not one", user, column.name());
  }
}

void CheckDense(const FeatureColumn& column) {
  if (!column->dense()) {
    throw InvalidArgument(
        "column '{}' is not dense; wrap it in columns::Indicator or columns::Embedding",
        column.name());
  }
}

void CheckCombiner(const std::string& combiner) {
  if (combiner != "mean" && combiner != "sum" && combiner != "sqrtn") {
    throw InvalidArgument("combiner '{}' is not mean, sum or sqrtn", combiner);
  }
}

Output AsMatrix(Output x, const std::string& key) {
  if (!x.shape().rank_known()) {
    throw InvalidArgument("feature '{}' must have a known number of dimensions", key);
  }
  return x.shape().rank() == 1 ? ExpandDims(x, 1) : x;
}

SparseTensor WithoutMissing(Output matrix, Output missing) {
  const Output indices = Where(NotEqual(matrix, missing));
  return {indices, GatherNd(matrix, indices), ShapeOf(matrix, DType::kInt64)};
}

SparseTensor AsSparse(const Ids& ids) {
  return ids.is_single() ? WithoutMissing(ids.single, Number(-1)) : ids.sparse;
}

Output TableOf(const std::string& key, const std::function<Output()>& make) {
  Graph* graph = &CurrentGraph();
  while (graph->outer() != nullptr) graph = graph->outer();
  Output& table = (*AttachedTo<Tables>(*graph, "column tables"))[key];
  if (!table) {
    const GraphScope outermost(*graph);
    table = make();
  }
  return table;
}

Output LookUp(const PartitionedVariable& table, const Ids& ids, const std::string& combiner,
              const std::optional<float>& max_norm) {
  if (!ids.is_single()) return LookUpSparse(table, ids, combiner, max_norm);
  const Output flat = Reshape(ids.single, {-1});
  if (!ids.may_miss) return ClipRows(EmbeddingLookup(table, flat), max_norm);
  // TensorFlow too reads row 0 for rows without an id, and clears what comes of it.
  const Output rows = ClipRows(EmbeddingLookup(table, Maximum(flat, Number(0))), max_norm);
  return SelectV2(GreaterEqual(ids.single, Number(0)), rows, ScalarLike(0, rows));
}

}  // namespace sextant::columns
