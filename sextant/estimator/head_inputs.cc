#include "sextant/estimator/head_inputs.h"

#include <fmt/format.h>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/where.h"
#include "sextant/ops/control_flow/assert.h"
#include "sextant/ops/lookup/hash_table.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/unary.h"

namespace sextant::heads {
namespace {

Tensor Strings(const std::vector<std::string>& words) {
  Tensor tensor(DType::kString, Shape{static_cast<int64_t>(words.size())});
  std::copy(words.begin(), words.end(), tensor.data<std::string>());
  return tensor;
}

Tensor Ids(size_t count) {
  Tensor tensor(DType::kInt64, Shape{static_cast<int64_t>(count)});
  for (size_t i = 0; i < count; ++i) tensor.data<int64_t>()[i] = static_cast<int64_t>(i);
  return tensor;
}

Output FilledTable(const Tensor& keys, const Tensor& values, const char* name) {
  const Output table = HashTable(keys.dtype(), values.dtype(), {.name = name});
  const Operation init = InitializeTable(table, Const(keys), Const(values));
  table.graph().AddToCollection("table_initializer", Output(init.node(), 0));
  return table;
}

// x, which fails with the sentence and the given values that are bad.
Output FailFor(Output bad, Output given, const std::string& sentence, Output x) {
  const Output wrong = Gather(Reshape(given, {-1}), Squeeze(Where(Reshape(bad, {-1})), {1}));
  const Operation check =
      Assert(LogicalNot(Any(bad, AllAxes(bad))), {Const(Tensor(sentence)), wrong}, 1);
  const ControlDependencies after({check});
  return Identity(x);
}

}  // namespace

const Features::Value& LabelsOf(const Features& labels, const std::string& head) {
  if (labels.empty()) {
    throw InvalidArgument(
        "there are no labels: the input must give some to train or evaluate; name the field in "
        "Input(dataset, {{\"label\"}})");
  }
  if (!head.empty() && labels.Has(head)) return labels.Get(head);
  if (labels.fields().size() == 1) return labels.fields()[0].second;
  std::string names;
  for (const auto& [name, value] : labels.fields()) names += (names.empty() ? "" : ", ") + name;
  throw InvalidArgument("{} takes one label, the input gives {}",
                        head.empty() ? "the head" : "head '" + head + "'", names);
}

Output DenseLabels(const Features& labels, const std::string& head, int64_t dimension) {
  const Features::Value& value = LabelsOf(labels, head);
  if (!std::holds_alternative<Output>(value)) {
    throw InvalidArgument("labels must be dense, [batch, {}]; these are sparse", dimension);
  }
  Output dense = std::get<Output>(value);
  if (!dense.shape().rank_known()) {
    throw InvalidArgument("labels {} need a known number of dimensions", dense.name());
  }
  if (dense.shape().rank() == 1) dense = ExpandDims(dense, -1);
  const PartialShape& shape = dense.shape();
  if (shape.rank() < 2 || (shape[shape.rank() - 1] >= 0 && shape[shape.rank() - 1] != dimension)) {
    throw InvalidArgument("labels {} must be [batch, {}], their shape is {}", dense.name(),
                          dimension, shape.ToString());
  }
  return dense;
}

Output CheckRange(Output labels, Output given, int64_t last) {
  const NameScope scope("assert_range");
  const Output bad = LogicalOr(Less(labels, ScalarLike(0, labels)),
                               Greater(labels, ScalarLike(static_cast<double>(last), labels)));
  return FailFor(bad, given,
                 fmt::format("labels must be in the range 0 to {} (n_classes {}), the input gives",
                             last, last + 1),
                 labels);
}

Output LookUpLabels(Output words, const std::vector<std::string>& vocabulary) {
  if (words.dtype() != DType::kString) {
    throw InvalidArgument("with a label_vocabulary labels must be strings, {} is of type {}",
                          words.name(), DTypeName(words.dtype()));
  }
  const NameScope scope("class_id_lookup");
  const Output table = FilledTable(Strings(vocabulary), Ids(vocabulary.size()), "hash_table");
  const Output ids = LookupTableFind(table, words, Const(Tensor(int64_t{-1})));
  std::string known;
  for (size_t i = 0; i < vocabulary.size() && i < 10; ++i) known += " '" + vocabulary[i] + "'";
  if (vocabulary.size() > 10) known += " …";
  return FailFor(
      Less(ids, Const(Tensor(int64_t{0}))), words,
      fmt::format("labels must be in the label_vocabulary ({} words:{}), the input gives",
                  vocabulary.size(), known),
      ids);
}

Output WordsOf(Output ids, const std::vector<std::string>& vocabulary) {
  const NameScope scope("class_string_lookup");
  const Output table = FilledTable(Ids(vocabulary.size()), Strings(vocabulary), "hash_table");
  return LookupTableFind(table, ids, Const(Tensor("UNK")));
}

Output WeightsOf(const Features& features, const std::string& column, bool per_label) {
  if (column.empty()) return {};
  const NameScope scope("weights");
  Output weights = features[column];
  if (weights.dtype() == DType::kString) {
    throw InvalidArgument("the weights in feature '{}' must be numbers, they are strings", column);
  }
  weights = Cast(weights, DType::kFloat);
  if (weights.shape().rank_known() && weights.shape().rank() == 1)
    weights = ExpandDims(weights, -1);
  const PartialShape& shape = weights.shape();
  if (!shape.rank_known() || shape.rank() < 2 || (!per_label && shape[shape.rank() - 1] > 1)) {
    throw InvalidArgument(
        "the weights in feature '{}' must be one number an example, their shape "
        "is {}",
        column, shape.ToString());
  }
  return weights;
}

}  // namespace sextant::heads
