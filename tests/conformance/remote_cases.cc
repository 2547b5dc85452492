#include "tests/conformance/remote_cases.h"

#include <fmt/format.h>

#include <memory>
#include <set>

#include "sextant/formats/example.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/graph/graph_def.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::conformance {
namespace {

// Gives another shape than it infers, as TensorFlow does: a task whose answer is not what the graph
// promises is refused.
constexpr char kLies[] = "edges/TensorListGetItem/wanted_other";

constexpr char kHere[] = "/job:ps/task:0", kThere[] = "/job:ps/task:1";

struct RemoteCase {
  explicit RemoteCase(const proto::Example& example)
      : name(GetOneBytes(example, "name")),
        fetches(Names(example, "fetch_names")),
        expected(Tensors(example, "fetch_values")),
        runs(HasFeature(example, "num_runs") ? GetOneInt64(example, "num_runs") : 1),
        tolerance(ToleranceOf(example)) {
    const auto feed_names = Names(example, "feed_names");
    const auto feed_values = Tensors(example, "feed_values");
    for (size_t i = 0; i < feed_names.size(); ++i)
      feeds.emplace_back(feed_names[i], feed_values.at(i));
    if (!graph.ParseFromString(std::string(GetOneBytes(example, "graph_def"))))
      throw DataLoss("{} has no graph", name);
  }

  // The graph with what is fed on the first task and the rest on the second.
  proto::GraphDef Placed() const {
    std::set<std::string> fed;
    for (const auto& [tensor, value] : feeds) fed.insert(tensor.substr(0, tensor.find(':')));
    proto::GraphDef placed = graph;
    for (proto::NodeDef& node : *placed.mutable_node())
      node.set_device(fed.contains(node.name()) ? kHere : kThere);
    return placed;
  }

  std::vector<std::vector<Tensor>> Run(const proto::GraphDef& def,
                                       const SessionOptions& options) const {
    Graph imported;
    ImportGraphDef(def, imported);
    Session session(imported, options);
    std::vector<std::vector<Tensor>> results;
    for (int64_t run = 0; run < runs; ++run) results.push_back(session.Run(feeds, fetches));
    return results;
  }

  // Whether what it gives can be sent and is as recorded.
  bool Passes(const std::vector<std::vector<Tensor>>& results) const {
    for (size_t run = 0; run < results.size(); ++run) {
      for (const Tensor& value : results[run]) {
        if (!IsPlain(value.dtype()) && value.dtype() != DType::kString) return false;
      }
      const auto wanted = std::span(expected).subspan(run * fetches.size(), fetches.size());
      if (!FirstDifference(results[run], wanted, fetches, tolerance).empty()) return false;
    }
    return true;
  }

  const std::string name;
  proto::GraphDef graph;
  NamedFeeds feeds;
  const std::vector<std::string> fetches;
  const std::vector<Tensor> expected;
  const int64_t runs;
  const Tolerance tolerance;
};

}  // namespace

Counts RunRemoteOpCases(const std::string& path, const std::string& filter) {
  Counts counts;
  TFRecordReader reader(path);
  std::string record;
  while (reader.Next(&record)) {
    const proto::Example example = ParseExample(record);
    if (HasFeature(example, "error_code")) continue;
    const RemoteCase remote_case(example);
    if (remote_case.name.find(filter) == std::string::npos) continue;
    std::vector<std::vector<Tensor>> here;
    try {
      here = remote_case.Run(remote_case.graph, {});
    } catch (const Error&) {  // the local run of the vectors tells
    }
    if (here.empty() || remote_case.name == kLies || !remote_case.Passes(here)) {
      ++counts.skipped;
      continue;
    }
    Try(path, remote_case.name, "remote", counts, [&]() -> std::string {
      // Tasks of its own: variables of one case are none of another's.
      dist::TestCluster cluster(2, {.allow_files = true});
      const auto there =
          remote_case.Run(remote_case.Placed(), {.target = cluster.server(0).target()});
      for (size_t run = 0; run < here.size(); ++run) {
        for (size_t i = 0; i < here[run].size(); ++i) {
          if (!here[run][i].Identical(there[run][i]))
            return fmt::format("{} has other bits in run {}", remote_case.fetches[i], run);
        }
      }
      return "";
    });
  }
  return counts;
}

}  // namespace sextant::conformance
