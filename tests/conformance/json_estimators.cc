#include "tests/conformance/json_estimators.h"

#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/estimator/canned.h"
#include "sextant/models/mnist_convnet.h"
#include "sextant/train/optimizer_by_name.h"
#include "tests/conformance/json_columns.h"
#include "tests/conformance/json_values.h"

namespace sextant::conformance {
namespace {

using nlohmann::json;

losses::Reduction ReductionOf(const json& e) {
  const std::string name = JsonOr<std::string>(e, "loss_reduction", "SUM");
  if (name == "SUM" || name == "weighted_sum") return losses::Reduction::kSum;
  if (name == "MEAN" || name == "weighted_mean") return losses::Reduction::kMean;
  if (name == "SUM_OVER_BATCH_SIZE" || name == "weighted_sum_over_batch_size") {
    return losses::Reduction::kSumOverBatchSize;
  }
  if (name == "SUM_BY_NONZERO_WEIGHTS" || name == "SUM_OVER_NONZERO_WEIGHTS") {
    return losses::Reduction::kSumByNonzeroWeights;
  }
  throw InvalidArgument("no loss_reduction is called '{}'", name);
}

OptimizerChoice ChoiceOf(const json& e, const char* key, const char* otherwise) {
  if (!Has(e, key)) return otherwise;
  if (e[key].is_string()) return e[key].get<std::string>();
  return OptimizerFromJson(e[key]);
}

layers::Activation ActivationOf(const json& e, const char* key) {
  const layers::Activation found = models::ActivationByName(JsonOr<std::string>(e, key, "relu"));
  return found ? found : [](Output x) { return x; };
}

template <typename Options>
void SetLabels(const json& e, Options& options) {
  options.weight_column = JsonOr<std::string>(e, "weight_column", "");
  options.loss_reduction = ReductionOf(e);
  if constexpr (requires { options.n_classes; }) {
    options.n_classes = JsonOr<int64_t>(e, "n_classes", 2);
    if (Has(e, "label_vocabulary")) {
      options.label_vocabulary = e["label_vocabulary"].get<std::vector<std::string>>();
    }
  } else {
    options.label_dimension = JsonOr<int64_t>(e, "label_dimension", 1);
  }
}

template <typename Options>
Options Linear(const json& e) {
  Options options{.feature_columns = ColumnsFromJson(e.at("feature_columns")),
                  .optimizer = ChoiceOf(e, "optimizer", "Ftrl"),
                  .sparse_combiner = JsonOr<std::string>(e, "sparse_combiner", "sum")};
  SetLabels(e, options);
  return options;
}

template <typename Options>
Options DNN(const json& e) {
  Options options{.feature_columns = ColumnsFromJson(e.at("feature_columns")),
                  .hidden_units = e.at("hidden_units").get<std::vector<int64_t>>(),
                  .optimizer = ChoiceOf(e, "optimizer", "Adagrad"),
                  .activation = ActivationOf(e, "activation"),
                  .dropout = static_cast<float>(JsonOr(e, "dropout", 0.0)),
                  .batch_norm = JsonOr(e, "batch_norm", false)};
  SetLabels(e, options);
  return options;
}

template <typename Options>
Options Combined(const json& e) {
  const auto columns = [&](const char* key) {
    return Has(e, key) ? ColumnsFromJson(e[key]) : std::vector<columns::FeatureColumn>();
  };
  Options options{
      .linear_feature_columns = columns("linear_feature_columns"),
      .linear_optimizer = ChoiceOf(e, "linear_optimizer", "Ftrl"),
      .dnn_feature_columns = columns("dnn_feature_columns"),
      .dnn_optimizer = ChoiceOf(e, "dnn_optimizer", "Adagrad"),
      .dnn_activation = ActivationOf(e, "dnn_activation"),
      .dnn_dropout = static_cast<float>(JsonOr(e, "dnn_dropout", 0.0)),
      .batch_norm = JsonOr(e, "batch_norm", false),
      .linear_sparse_combiner = JsonOr<std::string>(e, "linear_sparse_combiner", "sum")};
  if (Has(e, "dnn_hidden_units")) {
    options.dnn_hidden_units = e["dnn_hidden_units"].get<std::vector<int64_t>>();
  }
  SetLabels(e, options);
  return options;
}

template <typename Options>
Options Baseline(const json& e) {
  Options options{.optimizer = ChoiceOf(e, "optimizer", "Ftrl")};
  SetLabels(e, options);
  return options;
}

}  // namespace

train::Optimizer OptimizerFromJson(const json& description) {
  train::Arguments arguments;
  for (const auto& [key, value] : description.items()) {
    if (key == "name" || key == "clip_by_global_norm" || value.is_null()) continue;
    arguments[key] = value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<double>();
  }
  return train::OptimizerByName(description.at("name").get<std::string>(), arguments);
}

Estimator EstimatorFromJson(const json& e, const RunConfig& config) {
  const std::string name = e.at("class");
  if (name == "LinearClassifier") {
    return LinearClassifier(Linear<LinearClassifierOptions>(e), config);
  }
  if (name == "LinearRegressor") return LinearRegressor(Linear<LinearRegressorOptions>(e), config);
  if (name == "DNNClassifier") return DNNClassifier(DNN<DNNClassifierOptions>(e), config);
  if (name == "DNNRegressor") return DNNRegressor(DNN<DNNRegressorOptions>(e), config);
  if (name == "DNNLinearCombinedClassifier") {
    return DNNLinearCombinedClassifier(Combined<DNNLinearCombinedClassifierOptions>(e), config);
  }
  if (name == "DNNLinearCombinedRegressor") {
    return DNNLinearCombinedRegressor(Combined<DNNLinearCombinedRegressorOptions>(e), config);
  }
  if (name == "BaselineClassifier") {
    return BaselineClassifier(Baseline<BaselineClassifierOptions>(e), config);
  }
  if (name == "BaselineRegressor") {
    return BaselineRegressor(Baseline<BaselineRegressorOptions>(e), config);
  }
  throw InvalidArgument("no canned estimator is called '{}'", name);
}

}  // namespace sextant::conformance
