// Layers over feature columns.
#include <algorithm>
#include <set>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/column.h"
#include "sextant/nn/partition_scope.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/bias.h"
#include "sextant/ops/math/matmul.h"

namespace sextant::columns {
namespace {

std::vector<FeatureColumn> SortedByName(std::vector<FeatureColumn> columns, const char* user) {
  if (columns.empty()) throw InvalidArgument("{} needs feature columns", user);
  std::sort(columns.begin(), columns.end(),
            [](const FeatureColumn& a, const FeatureColumn& b) { return a.name() < b.name(); });
  for (size_t i = 1; i < columns.size(); ++i) {
    if (columns[i].name() == columns[i - 1].name()) {
      throw InvalidArgument("{}: two columns are called '{}'", user, columns[i].name());
    }
  }
  return columns;
}

}  // namespace

Output InputLayer(const Features& features, const std::vector<FeatureColumn>& columns,
                  const InputLayerOptions& options) {
  const VariableScope scope(options.scope, Reuse::kInherit);
  std::vector<Output> parts;
  std::set<std::string> opened;
  for (const FeatureColumn& column : SortedByName(columns, "InputLayer")) {
    CheckDense(column);
    const std::string inner = column->VariableScopeName();
    // Columns that share a table meet in one scope.
    const VariableScope inside(inner, opened.insert(inner).second ? Reuse::kInherit : Reuse::kTrue);
    parts.push_back(column->MakeDense(features, options));
  }
  return parts.size() == 1 ? parts[0] : Concat(parts, 1);
}

LinearModelResult LinearModelParts(const Features& features,
                                   const std::vector<FeatureColumn>& columns,
                                   const LinearModelOptions& options) {
  CheckCombiner(options.sparse_combiner);
  const VariableScope scope(options.scope);
  LinearModelResult result;
  std::vector<Output> sums;
  for (const FeatureColumn& column : SortedByName(columns, "LinearModel")) {
    const bool ids = column->categorical();
    if (!ids) CheckDense(column);
    const VariableScope inside(column.name());
    const VariableSpec spec{.shape = {ids ? column->num_ids() : column->width(), options.units},
                            .initializer = initializers::Zeros(),
                            .trainable = options.trainable};
    const PartitionedVariable weights = GetParts("weights", spec, options.partitioner);
    result.weights.emplace_back(column.name(), weights.value());
    sums.push_back(ids ? LookUp(weights, column->MakeIds(features), options.sparse_combiner, {})
                       : MatMul(column->MakeDense(features, {.trainable = options.trainable,
                                                             .partitioner = options.partitioner}),
                                weights.value()));
  }
  const Output sum = sums.size() == 1 ? sums[0] : AddN(sums);
  result.bias = GetWeights("bias_weights",
                           {.shape = {options.units},
                            .initializer = initializers::Zeros(),
                            .trainable = options.trainable},
                           options.partitioner);
  result.logits = BiasAdd(sum, result.bias);
  return result;
}

ParseSpec MakeParseExampleSpec(const std::vector<FeatureColumn>& columns) {
  ParseSpec spec;
  for (const FeatureColumn& column : columns) column->AddToParseSpec(spec);
  return spec;
}

}  // namespace sextant::columns
