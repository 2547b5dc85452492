#include "tests/conformance/own_training_cases.h"

#include <fmt/format.h>

#include <map>

#include "sextant/base/error.h"
#include "sextant/base/parse_number.h"
#include "sextant/formats/example.h"
#include "sextant/graph/gradients.h"
#include "sextant/nn/metrics.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/runtime/session.h"
#include "sextant/train/optimizer_by_name.h"
#include "sextant/train/schedules.h"
#include "tests/conformance/recorded_case.h"

namespace sextant::conformance {
namespace {

using proto::Example;

std::vector<std::pair<std::string, float>> HyperParameters(const Example& example) {
  std::vector<std::pair<std::string, float>> result;
  const auto names = Names(example, "hyper_names");
  const auto values = GetFloats(example, "hyper_values");
  for (size_t i = 0; i < names.size(); ++i) result.emplace_back(names[i], values[i]);
  return result;
}

// Reads the variables called so, in this order.
std::vector<Output> ReadByName(const std::vector<std::string>& names) {
  std::vector<Output> reads;
  for (const std::string& name : names) {
    reads.push_back(Variable::FromHandle(CurrentGraph().FindOutput(name + ":0")).value());
  }
  return reads;
}

std::string Compare(const Example& example, const std::string& when,
                    const std::vector<Tensor>& actual, std::span<const Tensor> expected,
                    const std::vector<std::string>& names) {
  const std::string problem = FirstDifference(actual, expected, names, ToleranceOf(example));
  return problem.empty() ? problem : when + ": " + problem;
}

train::LearningRate MakeSchedule(const std::string& kind,
                                 const std::vector<std::pair<std::string, float>>& hyper) {
  std::map<std::string, float> h(hyper.begin(), hyper.end());
  const auto get = [&](const char* name, float otherwise) {
    return h.contains(name) ? h[name] : otherwise;
  };
  if (kind == "piecewise_constant") {
    std::vector<int64_t> boundaries;
    std::vector<float> values;
    for (const auto& [name, value] : hyper) {
      if (name == "boundaries") boundaries.push_back(static_cast<int64_t>(value));
      if (name == "values") values.push_back(value);
    }
    return train::PiecewiseConstant(boundaries, values);
  }
  if (kind == "polynomial_decay") {
    return train::PolynomialDecay({.learning_rate = h["learning_rate"],
                                   .decay_steps = h["decay_steps"],
                                   .end_learning_rate = get("end_learning_rate", 1e-4f),
                                   .power = get("power", 1),
                                   .cycle = get("cycle", 0) != 0});
  }
  if (kind == "cosine_decay") {
    return train::CosineDecay({.learning_rate = h["learning_rate"],
                               .decay_steps = h["decay_steps"],
                               .alpha = get("alpha", 0)});
  }
  if (kind == "cosine_decay_restarts") {
    return train::CosineDecayRestarts({.learning_rate = h["learning_rate"],
                                       .first_decay_steps = h["first_decay_steps"],
                                       .t_mul = get("t_mul", 2),
                                       .m_mul = get("m_mul", 1),
                                       .alpha = get("alpha", 0)});
  }
  if (kind == "linear_cosine_decay") {
    return train::LinearCosineDecay({.learning_rate = h["learning_rate"],
                                     .decay_steps = h["decay_steps"],
                                     .num_periods = get("num_periods", 0.5f),
                                     .alpha = get("alpha", 0),
                                     .beta = get("beta", 0.001f)});
  }
  const train::ExponentialDecayOptions options{.learning_rate = h["learning_rate"],
                                               .decay_steps = h["decay_steps"],
                                               .decay_rate = h["decay_rate"],
                                               .staircase = get("staircase", 0) != 0};
  if (kind == "exponential_decay") return train::ExponentialDecay(options);
  if (kind == "natural_exp_decay") return train::NaturalExpDecay(options);
  if (kind == "inverse_time_decay") return train::InverseTimeDecay(options);
  throw InvalidArgument("no schedule is called '{}'", kind);
}

// Numbers in a text such as "[0.1, 0.5]".
std::vector<float> Numbers(std::string text) {
  std::vector<float> numbers;
  for (char& c : text) {
    if (c == '[' || c == ']' || c == ',') c = ' ';
  }
  size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string::npos) {
    const size_t end = std::min(text.find(' ', at), text.size());
    numbers.push_back(std::stof(text.substr(at, end - at)));
    at = end;
  }
  return numbers;
}

Metric MakeMetric(const std::string& kind, std::map<std::string, std::string> params, Output labels,
                  Output predictions, Output weights) {
  namespace m = metrics;
  const m::MetricOptions o{.weights = weights};
  if (kind == "accuracy") return m::Accuracy(labels, predictions, o);
  if (kind == "mean") return m::Mean(predictions, o);
  if (kind == "mean_absolute_error") return m::MeanAbsoluteError(labels, predictions, o);
  if (kind == "mean_squared_error") return m::MeanSquaredError(labels, predictions, o);
  if (kind == "root_mean_squared_error") return m::RootMeanSquaredError(labels, predictions, o);
  if (kind == "percentage_below") {
    return m::PercentageBelow(predictions, std::stof(params["threshold"]), o);
  }
  if (kind == "true_positives") return m::TruePositives(labels, predictions, o);
  if (kind == "true_negatives") return m::TrueNegatives(labels, predictions, o);
  if (kind == "false_positives") return m::FalsePositives(labels, predictions, o);
  if (kind == "false_negatives") return m::FalseNegatives(labels, predictions, o);
  if (kind == "precision") return m::Precision(labels, predictions, o);
  if (kind == "recall") return m::Recall(labels, predictions, o);
  if (kind == "precision_at_thresholds") {
    return m::PrecisionAtThresholds(labels, predictions, Numbers(params["thresholds"]), o);
  }
  if (kind == "recall_at_thresholds") {
    return m::RecallAtThresholds(labels, predictions, Numbers(params["thresholds"]), o);
  }
  if (kind == "auc") {
    m::AucOptions auc{.weights = weights};
    if (params.contains("num_thresholds")) auc.num_thresholds = std::stoi(params["num_thresholds"]);
    if (params.contains("curve")) auc.curve = params["curve"];
    if (params.contains("summation_method")) auc.summation_method = params["summation_method"];
    return m::Auc(labels, predictions, auc);
  }
  if (kind == "mean_per_class_accuracy") {
    return m::MeanPerClassAccuracy(labels, predictions, std::stoi(params["num_classes"]), o);
  }
  if (kind == "mean_iou") {
    return m::MeanIou(labels, predictions, std::stoi(params["num_classes"]), o);
  }
  throw InvalidArgument("no metric is called '{}'", kind);
}

}  // namespace

std::optional<std::string> RunOwnOptimizer(const Example& example) {
  if (!HasFeature(example, "optimizer")) return std::nullopt;
  const Tensor initial = Tensors(example, "var_initial").at(0);
  const auto grads = Tensors(example, "grad_values"), indices = Tensors(example, "grad_indices");
  Graph graph;
  const GraphScope use(graph);
  const Variable variable("var", initial);
  train::Arguments arguments;
  // The record has floats; what was given are the decimals they stand for.
  for (const auto& [name, value] : HyperParameters(example)) {
    arguments[name] = std::stod(fmt::format("{}", value));
  }
  const std::string kind(GetOneBytes(example, "optimizer"));
  const train::Optimizer optimizer = train::OptimizerByName(kind, arguments);
  std::vector<std::string> slots = Names(example, "slot_names");
  Variable global_step;
  if (std::find(slots.begin(), slots.end(), "global_step") != slots.end()) {
    global_step = Variable("global_step", Tensor(int64_t{0}), {.trainable = false});
  }
  const Output gradient = Placeholder(initial.dtype());
  const Output rows = Placeholder(DType::kInt64, PartialShape::UnknownOfRank(1));
  Gradient given = gradient;
  if (!indices.empty()) given = IndexedSlices{gradient, rows, {}};
  const Operation step = optimizer.ApplyGradients({{given, variable}}, global_step);
  const Operation init = GlobalVariablesInitializer();
  std::vector<std::string> names = slots;
  names.insert(names.begin(), "var");
  const std::vector<Output> reads = ReadByName(names);

  Session session(graph);
  session.Run(init);
  const auto expected = [&](const char* variables, const char* slot_values, int64_t at) {
    std::vector<Tensor> all = {Tensors(example, variables).at(at)};
    const auto values = Tensors(example, slot_values);
    const auto begin = values.begin() + at * static_cast<std::ptrdiff_t>(slots.size());
    all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(slots.size()));
    return all;
  };
  std::string problem = Compare(example, "initially", session.Run(reads),
                                expected("var_initial", "slot_initial", 0), names);
  for (int64_t i = 0; problem.empty() && i < GetOneInt64(example, "num_steps"); ++i) {
    FeedMap feeds = {{gradient, grads.at(i)}};
    if (!indices.empty()) feeds.emplace_back(rows, indices.at(i));
    session.Run(feeds, step);
    problem = Compare(example, fmt::format("after step {}", i), session.Run(reads),
                      expected("var_after", "slot_after", i), names);
  }
  return problem;
}

std::optional<std::string> RunOwnSchedule(const Example& example) {
  if (!HasFeature(example, "schedule")) return std::nullopt;
  Graph graph;
  const GraphScope use(graph);
  const bool wide = GetOneBytes(example, "name").ends_with("int64");
  const Output step = Placeholder(wide ? DType::kInt64 : DType::kInt32, PartialShape({}));
  const Output rate =
      MakeSchedule(std::string(GetOneBytes(example, "schedule")), HyperParameters(example))
          .Build(step);
  Session session(graph);
  const auto steps = GetInt64s(example, "steps");
  const auto values = GetFloats(example, "values");
  std::string problem;
  for (size_t i = 0; problem.empty() && i < steps.size(); ++i) {
    const Tensor at = wide ? Tensor(steps[i]) : Tensor(static_cast<int32_t>(steps[i]));
    const Tensor expected(values[i]);
    problem = Compare(example, fmt::format("at step {}", steps[i]),
                      {session.Run({{step, at}}, rate)}, {&expected, 1}, {"the rate"});
  }
  return problem;
}

std::optional<std::string> RunOwnMetric(const Example& example) {
  if (!HasFeature(example, "metric")) return std::nullopt;
  const auto labels = Tensors(example, "labels"), predictions = Tensors(example, "predictions");
  const auto weights = Tensors(example, "weights");
  std::map<std::string, std::string> params;
  const auto param_names = Names(example, "param_names");
  const auto param_values = Names(example, "param_values");
  for (size_t i = 0; i < param_names.size(); ++i) params[param_names[i]] = param_values.at(i);

  Graph graph;
  const GraphScope use(graph);
  const auto placeholder = [](const std::vector<Tensor>& values) {
    return values.empty()
               ? Output()
               : Placeholder(values[0].dtype(), PartialShape::UnknownOfRank(values[0].rank()));
  };
  const Output label = placeholder(labels), prediction = placeholder(predictions);
  const Output weight = placeholder(weights);
  const Metric metric =
      MakeMetric(std::string(GetOneBytes(example, "metric")), params, label, prediction, weight);
  const Operation init = VariablesInitializer(CollectedVariables(kLocalVariables));
  const auto variables = Names(example, "local_variable_names");
  const std::vector<Output> reads = ReadByName(variables);
  Session session(graph);
  session.Run(init);

  const auto value_after = Tensors(example, "value_after");
  const auto update_after = Tensors(example, "update_after");
  const auto variables_after = Tensors(example, "local_variables_after");
  std::string problem = Compare(example, "initially", {session.Run(metric.value)},
                                Tensors(example, "value_initial"), {"the value"});
  for (size_t batch = 0; problem.empty() && batch < labels.size(); ++batch) {
    FeedMap feeds = {{label, labels[batch]}, {prediction, predictions.at(batch)}};
    if (weight) feeds.emplace_back(weight, weights.at(batch));
    const std::string when = fmt::format("after batch {}", batch);
    problem = Compare(example, when, {session.Run(feeds, metric.update)},
                      {&update_after.at(batch), 1}, {"the update"});
    if (problem.empty()) {
      problem = Compare(example, when, {session.Run(metric.value)}, {&value_after.at(batch), 1},
                        {"the value"});
    }
    if (problem.empty()) {
      problem = Compare(example, when, session.Run(reads),
                        std::span(variables_after).subspan(batch * reads.size(), reads.size()),
                        variables);
    }
  }
  return problem;
}

}  // namespace sextant::conformance
