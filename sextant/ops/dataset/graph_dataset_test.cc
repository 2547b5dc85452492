// Graphs whose data sets are made by ops: they are imported, and run by feeding.
#include <gtest/gtest.h>

#include <functional>

#include "sextant/base/file_system.h"
#include "sextant/graph/graph_def.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/proto/meta_graph.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

TEST(GraphDatasetTest, SaysThatItIsNotRun) {
  Graph graph;
  const GraphScope scope(graph);
  const std::vector<DType> types = {DType::kInt64};
  const std::vector<PartialShape> shapes = {Shape()};
  const Output range = OpBuilder("RangeDataset")
                           .Input(Const(Tensor(int64_t{0})))
                           .Input(Const(Tensor(int64_t{5})))
                           .Input(Const(Tensor(int64_t{1})))
                           .Attr("output_types", types)
                           .Attr("output_shapes", shapes)
                           .Build();
  const Output repeated = OpBuilder("RepeatDataset")
                              .Input(range)
                              .Input(Const(Tensor(int64_t{2})))
                              .Attr("output_types", types)
                              .Attr("output_shapes", shapes)
                              .Build();
  const Output iterator = OpBuilder("IteratorV2")
                              .Attr("shared_name", "")
                              .Attr("container", "")
                              .Attr("output_types", types)
                              .Attr("output_shapes", shapes)
                              .Build();
  const Operation start =
      OpBuilder("MakeIterator").Input(repeated).Input(iterator).BuildOperation();
  const Output next = OpBuilder("IteratorGetNext")
                          .Input(iterator)
                          .Attr("output_types", types)
                          .Attr("output_shapes", shapes)
                          .Build();
  Session session(graph);
  const Status status = StatusOf([&] { session.Run(start); });
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_NE(status.message().find("feed the outputs of IteratorGetNext"), std::string::npos);
  EXPECT_EQ(session.Run({{next, Tensor(int64_t{4})}}, next).AsInt64(), 4);
}

// A real training graph of TensorFlow's Estimator; skipped where the recorded runs are not beside
// the repository.
TEST(GraphDatasetTest, ImportsATrainingGraph) {
  const std::string path =
      SEXTANT_SOURCE_DIR "/../shared/golden/trajectory/census_wide_deep/model.ckpt-0.meta";
  FileSystem& files = FileSystem::ForPath(path);
  if (!files.Exists(path)) GTEST_SKIP() << "needs " << path;
  proto::MetaGraphDef meta;
  ASSERT_TRUE(meta.ParseFromString(files.ReadFile(path)));
  Graph graph;
  ImportGraphDef(meta.graph_def(), graph);
  const Node* next = graph.FindNode("IteratorGetNext");
  ASSERT_NE(next, nullptr);
  FeedMap feeds;
  std::vector<Output> outputs;
  for (int i = 0; i < next->num_outputs(); ++i) {
    ASSERT_TRUE(next->output_shape(i).rank_known());
    Shape shape;
    for (const int64_t size : next->output_shape(i).dims()) {
      shape.Insert(shape.rank(), size < 0 ? 3 : size);
    }
    outputs.push_back(next->output(i));
    feeds.emplace_back(next->output(i), Tensor::Zeros(next->output_type(i), shape));
  }
  Session session(graph);
  EXPECT_EQ(session.Run(feeds, outputs).size(), outputs.size());
  EXPECT_EQ(StatusOf([&] { session.Run(outputs); }).code(), Code::kFailedPrecondition);
  EXPECT_EQ(StatusOf([&] { session.Run(graph.FindOperation("MakeIterator")); }).code(),
            Code::kUnimplemented);
}

}  // namespace
}  // namespace sextant
