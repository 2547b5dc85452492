#include "sextant/runtime/passes/product_parts.h"

#include <algorithm>

#include "sextant/graph/device_name.h"

namespace sextant {
namespace {

std::optional<std::vector<int64_t>> ConstantInts(Output output) {
  if (output.node()->type() != "Const") return std::nullopt;
  const Tensor& value = output.node()->attr<Tensor>("value");
  std::vector<int64_t> ints(value.num_elements());
  for (size_t i = 0; i < ints.size(); ++i) {
    switch (value.dtype()) {
      case DType::kInt32:
        ints[i] = value.flat<int32_t>()[i];
        break;
      case DType::kInt64:
        ints[i] = value.flat<int64_t>()[i];
        break;
      default:
        return std::nullopt;
    }
  }
  return ints;
}

bool IsMatrix(Output output) { return output.shape().fully_known() && output.shape().rank() == 2; }

bool IsAxis(Output output, int64_t axis, int64_t rank) {
  const std::optional<int64_t> value = ConstantInt(output);
  return value && (*value == axis || *value == axis - rank);
}

}  // namespace

bool IsPlainProduct(const Node& node) {
  if (node.type() != "MatMul" || !node.control_inputs().empty()) return false;
  const DType dtype = node.output_type(0);
  const bool on_host = node.device().empty() || DeviceName::Parse(node.device()).type != "GPU";
  return on_host && (dtype == DType::kFloat || dtype == DType::kDouble) &&
         IsMatrix(node.input(0)) && IsMatrix(node.input(1));
}

std::vector<ColumnRange> ColumnsOf(Output matrix) {
  const Node& concat = *matrix.node();
  const ColumnRange whole{matrix, 0, matrix.shape()[1]};
  if (concat.type() != "ConcatV2" || !concat.control_inputs().empty() ||
      !IsAxis(concat.inputs().back(), 1, 2)) {
    return {whole};
  }
  std::vector<ColumnRange> columns;
  int64_t begin = 0;
  for (const Output& value : concat.inputs("values")) {
    if (!IsMatrix(value)) return {whole};
    columns.push_back({value, begin, value.shape()[1]});
    begin += value.shape()[1];
  }
  return columns;
}

std::optional<ColumnRange> PartOf(Output part) {
  const Node& node = *part.node();
  if (!node.control_inputs().empty() || !IsMatrix(part)) return std::nullopt;
  if (node.type() == "Slice") {
    const auto begin = ConstantInts(node.input(1));
    const Output whole = node.input(0);
    if (!begin || (*begin)[0] != 0 || !IsMatrix(whole) || whole.shape()[0] != part.shape()[0]) {
      return std::nullopt;
    }
    return ColumnRange{whole, (*begin)[1], part.shape()[1]};
  }
  const bool equal_parts = node.type() == "Split";
  if (!equal_parts && node.type() != "SplitV") return std::nullopt;
  if (!IsAxis(node.input(equal_parts ? 0 : 2), 1, 2)) return std::nullopt;
  ColumnRange range{node.input(equal_parts ? 1 : 0), 0, part.shape()[1]};
  for (int i = 0; i < part.index(); ++i) {
    if (!node.output_shape(i).fully_known()) return std::nullopt;
    range.begin += node.output_shape(i)[1];
  }
  return range;
}

std::vector<Output> RowBlocksOf(Output tensor) {
  const Node& concat = *tensor.node();
  if (concat.type() != "ConcatV2" || !concat.control_inputs().empty() ||
      ConstantInt(concat.inputs().back()) != 0) {
    return {tensor};
  }
  const auto values = concat.inputs("values");
  return {values.begin(), values.end()};
}

std::optional<int64_t> ConstantInt(Output output) {
  const auto values = ConstantInts(output);
  if (!values || values->size() != 1) return std::nullopt;
  return values->front();
}

bool HasNodeOf(const Graph& graph, std::string_view op) {
  for (int id = 0; id < graph.num_nodes(); ++id) {
    if (graph.node(id)->type() == op) return true;
  }
  return false;
}

std::unordered_map<Output, int> CountReaders(const Graph& graph) {
  std::unordered_map<Output, int> readers;
  for (int id = 0; id < graph.num_nodes(); ++id) {
    for (const Output& input : graph.node(id)->inputs()) ++readers[input];
  }
  return readers;
}

void MoveReaders(Graph& graph, const std::unordered_map<Output, Output>& moved,
                 const std::unordered_set<const Node*>& keep) {
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* node = graph.node(id);
    if (keep.contains(node)) continue;
    for (int i = 0; i < node->num_inputs(); ++i) {
      const auto to = moved.find(node->input(i));
      if (to != moved.end()) graph.SetInput(node, i, to->second);
    }
  }
}

NodeSpec NodeAdder::Spec(const char* op, std::vector<Output> inputs, AttrMap attrs) const {
  return {.op = graph_.FindOp(op),
          .inputs = std::move(inputs),
          .attrs = std::move(attrs),
          .device = like_->device()};
}

Output NodeAdder::Add(NodeSpec spec) {
  spec.name = graph_.UniqueName(like_->name() + "/_" + spec.op->name());
  return graph_.AddNode(std::move(spec))->output(0);
}

NodeSpec NodeAdder::MatMul(Output a, Output b, bool transpose_a, bool transpose_b) const {
  return Spec(
      "MatMul", {a, b},
      {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {"T", RemoveRef(a.dtype())}});
}

NodeSpec NodeAdder::Gather(Output table, Output ids) {
  return Spec("GatherV2", {table, ids, ConstInt(0)},
              {{"Tparams", table.dtype()}, {"Tindices", ids.dtype()}, {"Taxis", DType::kInt32}});
}

NodeSpec NodeAdder::SumByRow(Output values, Output ids, Output num_rows) const {
  return Spec(
      "UnsortedSegmentSum", {values, ids, num_rows},
      {{"T", values.dtype()}, {"Tindices", ids.dtype()}, {"Tnumsegments", num_rows.dtype()}});
}

NodeSpec NodeAdder::Sum(std::vector<Output> values) const {
  const DType dtype = values[0].dtype();
  if (values.size() == 2) return Spec("AddV2", std::move(values), {{"T", dtype}});
  const auto count = static_cast<int64_t>(values.size());
  return Spec("AddN", std::move(values), {{"N", count}, {"T", dtype}});
}

NodeSpec NodeAdder::Concat(std::vector<Output> values, int axis) {
  const DType dtype = values[0].dtype();
  const auto count = static_cast<int64_t>(values.size());
  values.push_back(ConstInt(axis));
  return Spec("ConcatV2", std::move(values), {{"N", count}, {"T", dtype}, {"Tidx", DType::kInt32}});
}

Output NodeAdder::ConcatRows(std::vector<Output> values) {
  return values.size() == 1 ? values[0] : Add(Concat(std::move(values), 0));
}

Output NodeAdder::Rows(Output matrix, int64_t begin, int64_t size) {
  if (begin == 0 && size == matrix.shape()[0]) return matrix;
  Output& rows = rows_[{matrix.node()->id(), matrix.index(), begin, size}];
  if (!rows) {
    rows = Add(Spec("Slice", {matrix, ConstInts({begin, 0}), ConstInts({size, matrix.shape()[1]})},
                    {{"T", matrix.dtype()}, {"Index", DType::kInt64}}));
  }
  return rows;
}

Output NodeAdder::ConstInts(std::vector<int64_t> values) {
  Tensor tensor(DType::kInt64, Shape{static_cast<int64_t>(values.size())});
  std::ranges::copy(values, tensor.data<int64_t>());
  return Const(std::move(tensor));
}

Output NodeAdder::ConstInt(int64_t value) { return Const(Tensor(static_cast<int32_t>(value))); }

Output NodeAdder::Const(Tensor value) {
  const DType dtype = value.dtype();
  return Add(Spec("Const", {}, {{"value", std::move(value)}, {"dtype", dtype}}));
}

}  // namespace sextant
