#include "sextant/nn/embedding_lookup.h"

#include "sextant/base/error.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/partition.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/range.h"
#include "sextant/ops/math/scalar_operand.h"
#include "sextant/ops/math/select.h"

namespace sextant {
namespace {

// Parts of a small table that are all in one place are concatenated; ids are partitioned for larger
// ones.
constexpr int64_t kSmallTableBytes = int64_t{64} << 10;

bool QuicklyJoined(const PartitionedVariable& table) {
  const auto device = [](const Variable& part) { return part.handle().node()->device(); };
  const Variable& first = table.parts()[0];
  for (const Variable& part : table.parts()) {
    if (device(part) != device(first)) return false;
  }
  return table.shape().num_elements() * static_cast<int64_t>(DTypeSize(first.dtype())) <=
         kSmallTableBytes;
}

// For each id: the part that has its row, and the row in that part.
struct PlaceInParts {
  Output part, row;
};

PlaceInParts PlaceByRange(Output ids, int64_t rows, int64_t parts) {
  const int64_t size = rows / parts,
                larger = rows % parts;  // the first "larger" parts have one row more
  const auto number = [&](int64_t value) { return ScalarLike(static_cast<double>(value), ids); };
  if (larger == 0) return {FloorDiv(ids, number(size)), FloorMod(ids, number(size))};
  const Output in_larger = FloorDiv(ids, number(size + 1));
  const Output behind = ids - number(larger);
  const Output part = Maximum(in_larger, FloorDiv(behind, number(size)));
  return {part, SelectV2(Less(part, number(larger)), FloorMod(ids, number(size + 1)),
                         FloorMod(behind, number(size)))};
}

PlaceInParts Place(Output ids, int64_t rows, int64_t parts, PartitionStrategy strategy) {
  if (strategy == PartitionStrategy::kDiv) return PlaceByRange(ids, rows, parts);
  const Output count = ScalarLike(static_cast<double>(parts), ids);
  return {FloorMod(ids, count), FloorDiv(ids, count)};
}

// Rows in the order of the flat ids, in the shape of "ids" with that of a row behind it.
Output InShapeOf(Output rows, Output ids, const Shape& table) {
  std::vector<int64_t> row(table.dims().begin() + 1, table.dims().end());
  if (ids.shape().fully_known()) {
    std::vector<int64_t> dims(ids.shape().dims().begin(), ids.shape().dims().end());
    dims.insert(dims.end(), row.begin(), row.end());
    return Reshape(rows, dims);
  }
  if (ids.shape().rank_known() && ids.shape().rank() == 1) return rows;
  return Reshape(rows, Concat({ShapeOf(ids, DType::kInt64), ConstInts(row, DType::kInt64)}, 0));
}

}  // namespace

Output EmbeddingLookup(const Variable& table, Output ids) { return Gather(table.value(), ids); }

Output EmbeddingLookup(const PartitionedVariable& table, Output ids, PartitionStrategy strategy) {
  const std::vector<Variable>& parts = table.parts();
  if (parts.size() == 1) return EmbeddingLookup(parts[0], ids);
  if (table.axis() != 0 || table.shape().rank() == 0) {
    throw InvalidArgument("the table '{}' {} must be cut along its first dimension to look up rows",
                          table.name(), table.shape().ToString());
  }
  if (strategy == PartitionStrategy::kDiv && QuicklyJoined(table))
    return Gather(table.value(), ids);
  const NameScope scope("embedding_lookup");
  const auto count = static_cast<int64_t>(parts.size());
  const Output flat = Reshape(ids, {-1});
  const PlaceInParts place = Place(flat, table.shape().dim(0), count, strategy);
  const Output part = Cast(place.part, DType::kInt32);
  const Output positions = Range(Const(Tensor(0)), Size(flat), Const(Tensor(1)));
  const std::vector<Output> rows = DynamicPartition(place.row, part, count);
  const std::vector<Output> places = DynamicPartition(positions, part, count);
  std::vector<Output> gathered;
  for (size_t i = 0; i < parts.size(); ++i) gathered.push_back(EmbeddingLookup(parts[i], rows[i]));
  return InShapeOf(ParallelDynamicStitch(places, gathered), ids, table.shape());
}

}  // namespace sextant
