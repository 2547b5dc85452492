#include "tests/conformance/training_cases.h"

#include <fmt/format.h>

#include <optional>

#include "sextant/base/error.h"
#include "sextant/formats/example.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/graph/graph_def.h"
#include "sextant/runtime/session.h"
#include "tests/conformance/own_training_cases.h"

namespace sextant::conformance {
namespace {

using proto::Example;

// The graph of a case in a session of its own.
class RecordedGraph {
 public:
  explicit RecordedGraph(const Example& example) : example_(example), session_(Import(example)) {}

  std::vector<Tensor> Fetch(const std::vector<std::string>& names, const NamedFeeds& feeds = {}) {
    return session_.Run(feeds, names);
  }
  // Runs the op that the feature "key" names.
  void RunOp(const char* key, const NamedFeeds& feeds = {}) {
    session_.Run(feeds, {}, {std::string(GetOneBytes(example_, key))});
  }
  DType dtype(const std::string& tensor) const { return graph_.FindOutput(tensor).dtype(); }

 private:
  const Graph& Import(const Example& example) {
    ImportGraphDef(GetOneBytes(example, "graph_def"), graph_);
    return graph_;
  }

  const Example& example_;
  Graph graph_;
  Session session_;
};

// Collects the first difference of a series of comparisons, with the moment it was seen at.
class StepComparison {
 public:
  explicit StepComparison(const Example& example) : tolerance_(ToleranceOf(example)) {}

  void Check(const std::string& when, const std::vector<Tensor>& actual,
             std::span<const Tensor> expected, const std::vector<std::string>& names) {
    if (!problem_.empty()) return;
    problem_ = FirstDifference(actual, expected, names, tolerance_);
    if (!problem_.empty()) problem_ = when + ": " + problem_;
  }
  const std::string& problem() const { return problem_; }

 private:
  const Tolerance tolerance_;
  std::string problem_;
};

std::vector<Tensor> Concat(std::vector<Tensor> a, std::span<const Tensor> b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string RunOptimizer(const Example& example) {
  RecordedGraph graph(example);
  StepComparison comparison(example);
  const auto reads = Names(example, "read_names");
  std::vector<std::string> names = Names(example, "slot_names");
  names.insert(names.begin(), "the variable");
  const auto feed_names = Names(example, "grad_feed_names");
  const auto grads = Tensors(example, "grad_values"), indices = Tensors(example, "grad_indices");
  const auto var_after = Tensors(example, "var_after"), slot_after = Tensors(example, "slot_after");
  const size_t num_slots = names.size() - 1;

  graph.RunOp("init_op");
  comparison.Check("initially", graph.Fetch(reads),
                   Concat(Tensors(example, "var_initial"), Tensors(example, "slot_initial")),
                   names);
  for (int64_t step = 0; step < GetOneInt64(example, "num_steps"); ++step) {
    NamedFeeds feeds = {{feed_names.at(0), grads.at(step)}};
    if (!indices.empty()) feeds.emplace_back(feed_names.at(1), indices.at(step));
    graph.RunOp("train_op", feeds);
    comparison.Check(
        fmt::format("after step {}", step), graph.Fetch(reads),
        Concat({var_after.at(step)}, std::span(slot_after).subspan(step * num_slots, num_slots)),
        names);
  }
  return comparison.problem();
}

std::string RunSchedule(const Example& example) {
  RecordedGraph graph(example);
  StepComparison comparison(example);
  const auto feed_names = Names(example, "feed_names"), fetch_names = Names(example, "fetch_names");
  const auto steps = GetInt64s(example, "steps");
  const auto values = GetFloats(example, "values");
  const bool wide = graph.dtype(feed_names.at(0)) == DType::kInt64;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Tensor step = wide ? Tensor(steps[i]) : Tensor(static_cast<int32_t>(steps[i]));
    const Tensor expected(values[i]);
    comparison.Check(fmt::format("at step {}", steps[i]),
                     graph.Fetch(fetch_names, {{feed_names.at(0), step}}), {&expected, 1},
                     fetch_names);
  }
  return comparison.problem();
}

std::string RunAverage(const Example& example) {
  RecordedGraph graph(example);
  StepComparison comparison(example);
  const std::vector<std::string> average = Names(example, "average_tensor");
  const std::string feed(GetOneBytes(example, "assign_feed"));
  const auto assigned = Tensors(example, "assigned_values");
  const auto after = Tensors(example, "average_after");
  graph.RunOp("init_op");
  comparison.Check("initially", graph.Fetch(average), Tensors(example, "average_initial"), average);
  for (size_t step = 0; step < assigned.size(); ++step) {
    graph.RunOp("assign_op", {{feed, assigned[step]}});
    graph.RunOp("apply_op");
    graph.RunOp("increment_op");
    comparison.Check(fmt::format("after step {}", step), graph.Fetch(average), {&after.at(step), 1},
                     average);
  }
  return comparison.problem();
}

std::string RunClipping(const Example& example) {
  RecordedGraph graph(example);
  StepComparison comparison(example);
  NamedFeeds feeds;
  const auto feed_names = Names(example, "feed_names");
  const auto feed_values = Tensors(example, "feed_values");
  for (size_t i = 0; i < feed_names.size(); ++i) {
    feeds.emplace_back(feed_names[i], feed_values.at(i));
  }
  const auto fetches = Names(example, "fetch_names");
  comparison.Check("clipped", graph.Fetch(fetches, feeds), Tensors(example, "fetch_values"),
                   fetches);
  return comparison.problem();
}

std::string RunMetric(const Example& example) {
  RecordedGraph graph(example);
  StepComparison comparison(example);
  const auto value = Names(example, "value_tensor"), update = Names(example, "update_tensor");
  const auto reads = Names(example, "read_names");
  const auto value_after = Tensors(example, "value_after");
  const auto update_after = Tensors(example, "update_after");
  const auto variables_after = Tensors(example, "local_variables_after");
  const auto labels = Tensors(example, "labels"), predictions = Tensors(example, "predictions");
  const auto weights = Tensors(example, "weights");
  graph.RunOp("init_op");
  comparison.Check("initially", graph.Fetch(value), Tensors(example, "value_initial"), value);
  for (size_t batch = 0; batch < labels.size(); ++batch) {
    NamedFeeds feeds;
    // Some metrics do not look at the labels: their graphs still have the placeholder.
    feeds.emplace_back("labels:0", labels[batch]);
    feeds.emplace_back("predictions:0", predictions.at(batch));
    if (!weights.empty()) feeds.emplace_back("weights:0", weights.at(batch));
    const std::string when = fmt::format("after batch {}", batch);
    comparison.Check(when, graph.Fetch(update, feeds), {&update_after.at(batch), 1}, update);
    comparison.Check(when, graph.Fetch(value), {&value_after.at(batch), 1}, value);
    comparison.Check(when, graph.Fetch(reads),
                     std::span(variables_after).subspan(batch * reads.size(), reads.size()),
                     Names(example, "local_variable_names"));
  }
  return comparison.problem();
}

// The case by a graph of our own, where it is of that kind.
void TryOwn(const std::string& path, const std::string& name, Counts& counts,
            const Example& example, std::optional<std::string> (*run)(const Example&)) {
  Try(path, name, "own graph", counts, [&] { return run(example).value_or("of no known kind"); });
}

}  // namespace

Counts RunTrainingCases(const std::string& path, const std::string& filter) {
  Counts counts;
  TFRecordReader reader(path);
  std::string record;
  while (reader.Next(&record)) {
    const Example example = ParseExample(record);
    const std::string name(GetOneBytes(example, "name"));
    if (name.find(filter) == std::string::npos) continue;
    if (HasFeature(example, "optimizer")) {
      Try(path, name, "optimizer", counts, [&] { return RunOptimizer(example); });
      // Vectors of single ops have no constructor arguments.
      if (HasFeature(example, "hyper_values")) {
        TryOwn(path, name, counts, example, RunOwnOptimizer);
      }
    } else if (HasFeature(example, "schedule")) {
      Try(path, name, "schedule", counts, [&] { return RunSchedule(example); });
      TryOwn(path, name, counts, example, RunOwnSchedule);
    } else if (HasFeature(example, "average_tensor")) {
      Try(path, name, "average", counts, [&] { return RunAverage(example); });
    } else if (HasFeature(example, "clip_norm")) {
      Try(path, name, "clipping", counts, [&] { return RunClipping(example); });
    } else if (HasFeature(example, "metric")) {
      Try(path, name, "metric", counts, [&] { return RunMetric(example); });
      TryOwn(path, name, counts, example, RunOwnMetric);
    } else {
      ++counts.skipped;
      fmt::print("SKIPPED {} {}: not a kind of training case\n", path, name);
    }
  }
  return counts;
}

}  // namespace sextant::conformance
