#include "tests/conformance/op_cases.h"

#include <fmt/format.h>

#include "sextant/formats/example.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/graph_def.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant::conformance {
namespace {

class OpCase {
 public:
  OpCase(proto::Example example, const SessionOptions& options)
      : example_(std::move(example)), options_(options) {
    name = std::string(GetOneBytes(example_, "name"));
    const auto feed_names = Names(example_, "feed_names");
    const auto feed_values = Tensors(example_, "feed_values");
    for (size_t i = 0; i < feed_names.size(); ++i) {
      feeds_.emplace_back(feed_names[i], feed_values.at(i));
    }
  }

  bool has_gradients() const { return HasFeature(example_, "grad_y"); }
  bool must_fail() const { return HasFeature(example_, "error_code"); }

  // The graph as it is. Empty when all is as recorded.
  std::string RunForward() const {
    Graph graph;
    ImportGraphDef(GetOneBytes(example_, "graph_def"), graph);
    Session session(graph, options_);
    const auto fetches = Names(example_, "fetch_names");
    const auto expected = Tensors(example_, "fetch_values");
    const int64_t runs = HasFeature(example_, "num_runs") ? GetOneInt64(example_, "num_runs") : 1;
    for (int64_t run = 0; run < runs; ++run) {
      const auto actual = session.Run(feeds_, fetches);
      const auto difference =
          FirstDifference(actual, std::span(expected).subspan(run * fetches.size(), fetches.size()),
                          fetches, ToleranceOf(example_));
      if (!difference.empty())
        return runs > 1 ? fmt::format("run {}: {}", run, difference) : difference;
    }
    return "";
  }

  std::string RunOwnGradients() const {
    Graph graph;
    ImportGraphDef(GetOneBytes(example_, "graph_def"), graph);
    GraphScope scope(graph);
    const auto names = Names(example_, "grad_xs");
    const auto none_names = Names(example_, "grad_none_xs");
    std::vector<Output> xs;
    for (const auto& x : names) xs.push_back(graph.FindOutput(x));
    for (const auto& x : none_names) xs.push_back(graph.FindOutput(x));
    const Output y = graph.FindOutput(GetOneBytes(example_, "grad_y"));
    const auto gradients = Gradients(y, xs);
    for (size_t i = names.size(); i < xs.size(); ++i) {
      if (!gradients[i].none())
        return fmt::format("{} has a gradient, TensorFlow gives none",
                           none_names[i - names.size()]);
    }
    std::vector<Output> fetches;
    for (size_t i = 0; i < names.size(); ++i) {
      if (gradients[i].none()) return fmt::format("{} has no gradient", names[i]);
      fetches.push_back(gradients[i].dense());
    }
    FeedMap feeds;
    for (const auto& [feed, value] : feeds_) feeds.emplace_back(graph.FindOutput(feed), value);
    Session session(graph, options_);
    return FirstDifference(session.Run(feeds, fetches), Tensors(example_, "grad_values"), names,
                           GradTolerance());
  }

  std::string RunTheirGradients() const {
    Graph graph;
    ImportGraphDef(GetOneBytes(example_, "graph_def_with_grads"), graph);
    Session session(graph, options_);
    const auto names = Names(example_, "grad_fetch_names");
    return FirstDifference(session.Run(feeds_, names), Tensors(example_, "grad_values"), names,
                           GradTolerance());
  }

  std::string RunError() const {
    const int64_t wanted = GetOneInt64(example_, "error_code");
    try {
      Graph graph;
      ImportGraphDef(GetOneBytes(example_, "graph_def"), graph);
      Session(graph).Run(feeds_, Names(example_, "fetch_names"));
    } catch (const Error& e) {
      const auto code = static_cast<int64_t>(e.code());
      if (code != wanted) return fmt::format("code {} ({}), expected {}", code, e.what(), wanted);
      for (const std::string& says : Names(example_, "error_says")) {
        if (std::string_view(e.what()).find(says) == std::string_view::npos)
          return fmt::format("says \"{}\", expected \"{}\"", e.what(), says);
      }
      return "";
    }
    return fmt::format("did not fail, expected code {}", wanted);
  }

  std::string name;

 private:
  Tolerance GradTolerance() const {
    return {GetOneFloat(example_, "grad_rtol"), GetOneFloat(example_, "grad_atol")};
  }

  const proto::Example example_;
  const SessionOptions options_;
  NamedFeeds feeds_;
};

}  // namespace

Counts RunOpCases(const std::string& path, const std::string& filter,
                  const SessionOptions& options) {
  Counts counts;
  TFRecordReader reader(path);
  std::string record;
  while (reader.Next(&record)) {
    const OpCase op_case(ParseExample(record), options);
    if (op_case.name.find(filter) == std::string::npos) continue;
    if (op_case.must_fail()) {
      Try(path, op_case.name, "error", counts, [&] { return op_case.RunError(); });
      continue;
    }
    Try(path, op_case.name, "forward", counts, [&] { return op_case.RunForward(); });
    if (!op_case.has_gradients()) continue;
    Try(path, op_case.name, "own_gradients", counts, [&] { return op_case.RunOwnGradients(); });
    Try(path, op_case.name, "their_gradients", counts, [&] { return op_case.RunTheirGradients(); });
  }
  return counts;
}

}  // namespace sextant::conformance
