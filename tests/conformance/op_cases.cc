#include "tests/conformance/op_cases.h"

#include <fmt/format.h>

#include "sextant/formats/example.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/graph_def.h"
#include "sextant/graph/scope.h"
#include "sextant/proto/tensor.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/tensor/tensor_proto.h"
#include "tests/conformance/compare.h"

namespace sextant::conformance {
namespace {

std::vector<Tensor> Tensors(const tensorflow::Example& example, const char* key) {
  std::vector<Tensor> tensors;
  if (!HasFeature(example, key)) return tensors;
  for (std::string_view bytes : GetBytes(example, key)) {
    tensorflow::TensorProto proto;
    if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      throw DataLoss("feature '{}' is not a TensorProto", key);
    }
    tensors.push_back(TensorFromProto(proto));
  }
  return tensors;
}

std::vector<std::string> Names(const tensorflow::Example& example, const char* key) {
  std::vector<std::string> names;
  if (!HasFeature(example, key)) return names;
  for (std::string_view name : GetBytes(example, key)) names.emplace_back(name);
  return names;
}

// The first difference of several tensors, with the name of the tensor in front.
std::string FirstDifference(const std::vector<Tensor>& actual, std::span<const Tensor> expected,
                            const std::vector<std::string>& names, const Tolerance& tolerance) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string difference = Difference(actual.at(i), expected[i], tolerance);
    if (!difference.empty()) return names[i] + ": " + difference;
  }
  return "";
}

class OpCase {
 public:
  explicit OpCase(tensorflow::Example example) : example_(std::move(example)) {
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
    Session session(graph);
    const auto fetches = Names(example_, "fetch_names");
    const auto expected = Tensors(example_, "fetch_values");
    const int64_t runs = HasFeature(example_, "num_runs") ? GetOneInt64(example_, "num_runs") : 1;
    for (int64_t run = 0; run < runs; ++run) {
      const auto actual = session.Run(feeds_, fetches);
      const auto difference =
          FirstDifference(actual, std::span(expected).subspan(run * fetches.size(), fetches.size()),
                          fetches, {GetOneFloat(example_, "rtol"), GetOneFloat(example_, "atol")});
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
    Session session(graph);
    return FirstDifference(session.Run(feeds, fetches), Tensors(example_, "grad_values"), names,
                           GradTolerance());
  }

  std::string RunTheirGradients() const {
    Graph graph;
    ImportGraphDef(GetOneBytes(example_, "graph_def_with_grads"), graph);
    Session session(graph);
    const auto names = Names(example_, "grad_fetch_names");
    return FirstDifference(session.Run(feeds_, names), Tensors(example_, "grad_values"), names,
                           GradTolerance());
  }

  std::string RunError() const {
    const int64_t wanted = GetOneInt64(example_, "error_code");
    try {
      RunForward();
    } catch (const Error& e) {
      const auto code = static_cast<int64_t>(e.code());
      if (code == wanted) return "";
      return fmt::format("code {} ({}), expected {}", code, e.what(), wanted);
    }
    return fmt::format("did not fail, expected code {}", wanted);
  }

  std::string name;

 private:
  Tolerance GradTolerance() const {
    return {GetOneFloat(example_, "grad_rtol"), GetOneFloat(example_, "grad_atol")};
  }

  const tensorflow::Example example_;
  NamedFeeds feeds_;
};

// Runs one way of a case and prints what went wrong.
template <typename Way>
void Try(const std::string& path, const OpCase& op_case, const char* way_name, Counts& counts,
         Way&& way) {
  std::string problem;
  try {
    problem = way();
  } catch (const Error& e) {
    problem = e.what();
  }
  if (problem.empty()) {
    ++counts.passed;
    return;
  }
  ++counts.failed;
  fmt::print("FAILED {} {} {}: {}\n", path, op_case.name, way_name, problem);
}

}  // namespace

Counts RunOpCases(const std::string& path, const std::string& filter) {
  Counts counts;
  TFRecordReader reader(path);
  std::string record;
  while (reader.Next(&record)) {
    const OpCase op_case(ParseExample(record));
    if (op_case.name.find(filter) == std::string::npos) continue;
    if (op_case.must_fail()) {
      Try(path, op_case, "error", counts, [&] { return op_case.RunError(); });
      continue;
    }
    Try(path, op_case, "forward", counts, [&] { return op_case.RunForward(); });
    if (!op_case.has_gradients()) continue;
    Try(path, op_case, "own_gradients", counts, [&] { return op_case.RunOwnGradients(); });
    Try(path, op_case, "their_gradients", counts, [&] { return op_case.RunTheirGradients(); });
  }
  return counts;
}

}  // namespace sextant::conformance
