// What the passes over matrix products share: products of which only a part of the depth or of the
// columns is looked at, and adding nodes to the graph of a Plan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Columns [begin, begin + size) of a matrix.
struct ColumnRange {
  Output matrix;
  int64_t begin = 0, size = 0;
};

// A MatMul of real matrices of known sizes on the host that waits for nothing but its inputs.
bool IsPlainProduct(const Node& node);

// The values that stand side by side in the matrix, with their places in it: those of a ConcatV2
// along columns, else the matrix itself.
std::vector<ColumnRange> ColumnsOf(Output matrix);

// What a part of a matrix made by Split, SplitV or Slice is a part of; nothing if it is not one, or
// does not have all rows.
std::optional<ColumnRange> PartOf(Output part);

// The values of which the tensor is a concatenation along its first dimension, or itself.
std::vector<Output> RowBlocksOf(Output tensor);

// The one integer of a constant.
std::optional<int64_t> ConstantInt(Output output);

bool HasNodeOf(const Graph& graph, std::string_view op);

// How many edges read each output that is read.
std::unordered_map<Output, int> CountReaders(const Graph& graph);

// Readers of the keys read the values from now on, except for nodes in "keep".
void MoveReaders(Graph& graph, const std::unordered_map<Output, Output>& moved,
                 const std::unordered_set<const Node*>& keep = {});

// A table is multiplied when the ids are at least this multiple of its rows.
inline constexpr int64_t kMinTableUses = 2;

// Adds nodes that run where, and are named after, the node that was given to For.
class NodeAdder {
 public:
  explicit NodeAdder(Graph& graph) : graph_(graph) {}
  void For(const Node& node) { like_ = &node; }

  NodeSpec Spec(const char* op, std::vector<Output> inputs, AttrMap attrs = {}) const;
  Output Add(NodeSpec spec);

  NodeSpec MatMul(Output a, Output b, bool transpose_a, bool transpose_b) const;
  NodeSpec Gather(Output table, Output ids);
  // Row r of the result is the sum of the rows of values whose id is r.
  NodeSpec SumByRow(Output values, Output ids, Output num_rows) const;
  // Of at least two values.
  NodeSpec Sum(std::vector<Output> values) const;
  NodeSpec Concat(std::vector<Output> values, int axis);
  Output ConcatRows(std::vector<Output> values);  // of one: itself
  // Rows [begin, begin + size) of a matrix, the same node whenever asked for.
  Output Rows(Output matrix, int64_t begin, int64_t size);
  Output ConstInts(std::vector<int64_t> values);
  Output ConstInt(int64_t value);

 private:
  Output Const(Tensor value);

  Graph& graph_;
  const Node* like_ = nullptr;
  std::map<std::tuple<int, int, int64_t, int64_t>, Output> rows_;
};

}  // namespace sextant
