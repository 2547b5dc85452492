#include "sextant/train/summary_writer.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/formats/event_reader.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/summaries.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/proto/event.pb.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/runtime/session.h"

namespace sextant::train {
namespace {

TEST(SummaryWriterTest, WritesTheGraphWithShapesAndSummaries) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape{-1, 3}, "x");
  const Output y = MatMul(x, Zeros({3, 2}));
  const Output summary = summaries::Scalar("two words", Const(Tensor(0.5f)));
  const TemporaryDirectory folder;
  SummaryWriter writer(folder.path(), graph);
  writer.AddSummary(Session(graph).Run(summary), 7);
  EXPECT_THROW(writer.AddSummary(Tensor(1.0f), 8), Error);
  writer.Close();

  EventReader reader(writer.events().path());
  proto::Event event;
  ASSERT_TRUE(reader.Next(&event));  // of the version
  ASSERT_TRUE(reader.Next(&event));
  proto::GraphDef def;
  ASSERT_TRUE(def.ParseFromString(event.graph_def()));
  int seen = 0;
  for (const proto::NodeDef& node : def.node()) {
    if (node.name() != y.node()->name()) continue;
    const auto& shape = node.attr().at("_output_shapes").list().shape(0);
    ASSERT_EQ(shape.dim_size(), 2);
    EXPECT_EQ(shape.dim(0).size(), -1);
    EXPECT_EQ(shape.dim(1).size(), 2);
    ++seen;
  }
  EXPECT_EQ(seen, 1);
  ASSERT_TRUE(reader.Next(&event));
  EXPECT_EQ(event.step(), 7);
  EXPECT_EQ(event.summary().value(0).tag(), "two words");
  EXPECT_EQ(event.summary().value(0).simple_value(), 0.5f);
}

}  // namespace
}  // namespace sextant::train
