#include "sextant/train/queue_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "sextant/base/file_system.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/meta_graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/queue/queue.h"
#include "sextant/proto/meta_graph.pb.h"
#include "sextant/proto/queue_runner.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"
#include "sextant/train/coordinator.h"

namespace sextant::train {
namespace {

using nlohmann::json;

class QueueRunnerTest : public testing::Test {
 protected:
  // A queue of at most 5 numbers and an op that adds 1 to it.
  QueueRunnerTest()
      : queue_(FIFOQueue({DType::kInt32}, {.capacity = 5, .shapes = {Shape()}, .name = "numbers"})),
        get_(QueueDequeue(queue_)[0]) {}

  Graph graph_;
  GraphScope scope_{graph_};
  const Output queue_, get_;
};

TEST_F(QueueRunnerTest, KeepsAQueueFilledUntilStopped) {
  const Operation put = QueueEnqueue(queue_, {Const(Tensor(1))});
  AddQueueRunner(graph_, MakeQueueRunner(queue_, {put, put}));
  Session session(graph_);
  Coordinator coordinator;
  StartQueueRunners(session, coordinator);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(session.Run(get_).AsInt64(), 1);
  coordinator.RequestStop();
  coordinator.Join();
  const Output closed = QueueIsClosed(queue_);
  EXPECT_TRUE(session.Run(closed).scalar<bool>());
}

TEST_F(QueueRunnerTest, ClosesTheQueueAtTheEndOfTheData) {
  const Output source = FIFOQueue({DType::kInt32}, {.shapes = {Shape()}});
  const Operation fill = QueueEnqueueMany(source, {Const(Tensor::Of<int32_t>({1, 2, 3, 4, 5, 6}))});
  const Operation close = QueueClose(source);
  const Operation move = QueueEnqueue(queue_, {QueueDequeue(source)[0]});
  const QueueRunner runner = MakeQueueRunner(queue_, {move, move, move});
  Session session(graph_);
  session.Run(fill);
  session.Run(close);
  Coordinator coordinator;
  StartQueueRunners(session, coordinator, {runner});
  int64_t sum = 0;
  const Status end = StatusOf([&] {
    for (;;) sum += session.Run(get_).AsInt64();
  });
  EXPECT_EQ(end.code(), Code::kOutOfRange) << end.message();
  EXPECT_EQ(sum, 21);
  EXPECT_FALSE(coordinator.ShouldStop());
  coordinator.RequestStop();
  coordinator.Join();
}

TEST_F(QueueRunnerTest, FailuresStopTheCoordinatorAndItsConsumers) {
  const Output missing = OpBuilder("ReadFile").Input(Const(Tensor("/no/such/file"))).Build();
  const Output number =
      OpBuilder("StringToNumber").Input(missing).Attr("out_type", DType::kInt32).Build();
  const QueueRunner runner = MakeQueueRunner(queue_, {QueueEnqueue(queue_, {number})});
  Session session(graph_);
  Coordinator coordinator;
  StartQueueRunners(session, coordinator, {runner});
  EXPECT_EQ(StatusOf([&] { session.Run(get_); }).code(), Code::kOutOfRange);
  EXPECT_EQ(StatusOf([&] { coordinator.Join(); }).code(), Code::kNotFound);
}

TEST_F(QueueRunnerTest, IsWrittenAndRead) {
  const Operation put = QueueEnqueue(queue_, {Const(Tensor(1))});
  QueueRunner runner = MakeQueueRunner(queue_, {put, put});
  runner.closed = {Code::kOutOfRange, Code::kCancelled};
  proto::MetaGraphDef meta;
  auto& collection = (*meta.mutable_collection_def())["queue_runners"];
  collection.mutable_bytes_list()->add_value(QueueRunnerToDef(runner).SerializeAsString());
  AddQueueRunners(graph_, meta);
  const auto read = QueueRunnersOf(graph_);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].queue, "numbers");
  EXPECT_EQ(read[0].enqueue.size(), 2u);
  EXPECT_EQ(read[0].enqueue[1].node(), put.node());
  EXPECT_EQ(read[0].close.node(), runner.close.node());
  EXPECT_EQ(read[0].cancel.node(), runner.cancel.node());
  EXPECT_EQ(read[0].closed, runner.closed);
  collection.mutable_bytes_list()->add_value("\xff");
  EXPECT_EQ(StatusOf([&] { AddQueueRunners(graph_, meta); }).code(), Code::kDataLoss);
}

// ---- Input pipelines recorded by tools/golden/queue_inputs.py.

const json& Recorded() {
  static const json recorded = [] {
    const std::string path = SEXTANT_SOURCE_DIR "/testdata/queue_inputs/expected.json";
    json content = json::parse(FileSystem::ForPath(path).ReadFile(path));
    FileSystem& files = FileSystem::ForPath("memory://queue_inputs");
    files.CreateDirectories("memory://queue_inputs");
    for (const auto& [name, text] : content["files"].items()) {
      files.WriteFileAtomically("memory://queue_inputs/" + name, text.get<std::string>());
    }
    return content;
  }();
  return recorded;
}

json ToJson(const Tensor& value) {
  if (value.rank() > 0) {
    json list = json::array();
    for (int64_t i = 0; i < value.dim(0); ++i) {
      Shape row = value.shape();
      row.Erase(0);
      list.push_back(ToJson(value.Rows(i, i + 1).Reshaped(row)));
    }
    return list;
  }
  if (value.dtype() == DType::kString) return value.scalar<std::string>();
  if (value.dtype() == DType::kInt32) return value.AsInt64();
  return value.AsDouble();
}

// The batches that a recorded graph gives until the end of its data.
json RunRecorded(const std::string& name) {
  const json& recorded = Recorded();
  const std::string path = SEXTANT_SOURCE_DIR "/testdata/queue_inputs/" + name + ".meta";
  proto::MetaGraphDef meta;
  EXPECT_TRUE(meta.ParseFromString(FileSystem::ForPath(path).ReadFile(path)));
  Graph graph;
  ImportMetaGraphDef(meta, graph);
  AddQueueRunners(graph, meta);
  std::vector<Output> outputs;
  for (size_t i = 0; i < recorded["cases"][name][0].size(); ++i) {
    outputs.push_back(graph.FindOutput(fmt::format("output_{}:0", i)));
  }
  Session session(graph);
  session.Run(graph.FindOperation("start"));
  Coordinator coordinator;
  StartQueueRunners(session, coordinator);
  json steps = json::array();
  const Status end = StatusOf([&] {
    for (;;) {
      json step = json::array();
      for (const Tensor& value : session.Run(outputs)) step.push_back(ToJson(value));
      steps.push_back(std::move(step));
    }
  });
  EXPECT_EQ(end.code(), Code::kOutOfRange) << end.message();
  coordinator.RequestStop();
  coordinator.Join();
  return steps;
}

TEST(RecordedInputTest, GivesTheBatchesOfTensorFlow) {
  for (const char* name : {"batches", "padded", "fixed"}) {
    EXPECT_EQ(RunRecorded(name), Recorded()["cases"][name]) << name;
  }
}

// Which row comes when depends on the threads; that each comes three times does not.
TEST(RecordedInputTest, ShufflesTheRowsOfTensorFlow) {
  const auto rows = [](const json& steps) {
    std::vector<std::string> all;
    for (const json& step : steps) {
      for (size_t i = 0; i < step[0].size(); ++i) {
        all.push_back(json{step[0][i], step[1][i], step[2][i]}.dump());
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(rows(RunRecorded("shuffled")), rows(Recorded()["cases"]["shuffled"]));
}

}  // namespace
}  // namespace sextant::train
