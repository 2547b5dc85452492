// libFuzzer target: bytes are imported as a GraphDef, exported again, and run. An Error is the
// right answer to a bad graph; a crash, another exception, an INTERNAL error or a graph that cannot
// be imported twice is a finding.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "sextant/graph/graph_def.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/runtime/session.h"
#include "tests/fuzz/dice.h"
#include "tests/fuzz/graph_def_mutator.h"

namespace sextant::fuzz {
namespace {

constexpr size_t kMaxBytes = 1 << 16;
constexpr int kMaxNodes = 300;
constexpr int kMaxFetches = 6;

[[noreturn]] void Report(const char* what, const Error& e) {
  fmt::print(stderr, "finding: {}: {}\n", what, e.what());
  std::abort();
}

// Ops that answer INTERNAL to bad input in recorded vectors of TensorFlow, and so here.
bool IsInternalInTensorFlow(const Error& e) {
  static constexpr std::string_view kOps[] = {"SparseConcat", "SparseReduceSum"};
  return std::ranges::any_of(kOps, [&](std::string_view op) {
    return std::string_view(e.what()).find(fmt::format(" {}] ", op)) != std::string_view::npos;
  });
}

// Small values that suit the type; sizes that are not known are 2.
Tensor FeedFor(const Node& placeholder) {
  std::vector<int64_t> dims;
  const PartialShape& shape = placeholder.output_shape(0);
  if (shape.rank_known()) {
    for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape[i] < 0 ? 2 : shape[i]);
  }
  const Shape full{std::span<const int64_t>(dims)};
  if (full.num_elements() > (1 << 16))
    throw InvalidArgument("{} is too large to feed", full.ToString());
  Tensor tensor = Tensor::Zeros(placeholder.output_type(0), full);
  if (tensor.dtype() == DType::kFloat) {
    for (int64_t i = 0; i < full.num_elements(); ++i)
      tensor.data<float>()[i] = 0.5F * static_cast<float>(i - 1);
  } else if (tensor.dtype() == DType::kInt32) {
    for (int64_t i = 0; i < full.num_elements(); ++i)
      tensor.data<int32_t>()[i] = static_cast<int32_t>(i % 3);
  }
  return tensor;
}

FeedMap Feeds(const Graph& graph) {
  FeedMap feeds;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.node(i);
    if (node.type() != "Placeholder") continue;
    try {
      feeds.emplace_back(node.output(0), FeedFor(node));
    } catch (
        const Error&) {  // a type or size that cannot be fed; what needs it fails when it is run
    }
  }
  return feeds;
}

void Run(Session& session, const FeedMap& feeds, const std::vector<Output>& fetches,
         Operation target) {
  try {
    session.Run(feeds, fetches, {target});
  } catch (const Error& e) {
    if (e.code() == Code::kInternal && !IsInternalInTensorFlow(e)) Report("run", e);
  }
}

// The last nodes, each by itself, then all of them at once.
void RunNodes(const Graph& graph) {
  SessionOptions options;
  options.threads = 1;
  options.memory_limit = int64_t{64} << 20;
  options.deadline = std::chrono::milliseconds(200);
  Session session(graph, options);
  const FeedMap feeds = Feeds(graph);
  std::vector<Output> all;
  const int last = graph.num_nodes() - 1;
  for (int i = last; i >= 0 && i > last - kMaxFetches; --i) {
    Node* node = graph.node(i);
    std::vector<Output> fetches;
    for (int k = 0; k < std::min(node->num_outputs(), kMaxFetches); ++k)
      fetches.push_back(node->output(k));
    Run(session, feeds, fetches, node);
    all.insert(all.end(), fetches.begin(), fetches.end());
  }
  if (last >= 0) Run(session, feeds, all, graph.node(last));
}

void ImportAgain(const Graph& graph) {
  try {
    Graph copy;
    ImportGraphDef(ExportGraphDef(graph), copy);
  } catch (const Error& e) {
    Report("importing what was exported", e);
  }
}

void TestOne(std::string_view bytes) {
  if (bytes.size() > kMaxBytes) return;
  Graph graph;
  try {
    ImportGraphDef(bytes, graph);
  } catch (const Error& e) {
    if (e.code() == Code::kInternal) Report("import", e);
    return;
  }
  if (graph.num_nodes() > kMaxNodes) return;
  ImportAgain(graph);
  RunNodes(graph);
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sextant::fuzz::TestOne({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  sextant::fuzz::Dice dice(seed);
  sextant::proto::GraphDef def;
  if (dice.OneIn(50) || !def.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, max_size);
  for (int left = 1 + dice.Below(4); left > 0; --left) sextant::fuzz::MutateGraphDef(dice, &def);
  if (def.ByteSizeLong() > max_size) return size;
  const std::string bytes = def.SerializeAsString();
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
