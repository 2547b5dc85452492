#include "sextant/nn/summaries.h"

#include <gtest/gtest.h>

#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/proto/summary.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

class SummariesTest : public testing::Test {
 protected:
  proto::Summary Run(Output summary) {
    proto::Summary message;
    message.ParseFromString(Session(graph_).Run(summary).scalar<std::string>());
    return message;
  }
  static std::vector<float> Values(const proto::Summary& summary) {
    const Tensor tensor = TensorFromProto(summary.value(0).tensor());
    return {tensor.data<float>(), tensor.data<float>() + tensor.num_elements()};
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(SummariesTest, TagsHoldWhatNamesOfNodesCannot) {
  const Output value = Const(Tensor(2.5f));
  const auto tag = [&](Output summary) { return Run(summary).value(0).tag(); };
  const Output raw = summaries::Scalar("total_loss (raw)", value);
  EXPECT_EQ(tag(raw), "total_loss (raw)");
  EXPECT_EQ(raw.node()->name(), "total_loss__raw_/ScalarSummary");
  EXPECT_EQ(tag(summaries::Scalar("magnitude at t=1", value)), "magnitude at t=1");
  EXPECT_EQ(tag(summaries::Scalar("total_loss (raw)", value)), "total_loss (raw)_1");
  EXPECT_EQ(tag(summaries::Scalar("cost", value)), "cost");
  EXPECT_EQ(tag(summaries::Histogram("(?)", value)), "(?)");
  const NameScope tower("tower_0");
  EXPECT_EQ(tag(summaries::Scalar("a b", value)), "tower_0/a b");
  EXPECT_EQ(tag(summaries::Scalar("cost", value)), "tower_0/cost");
  EXPECT_THROW(summaries::Scalar("", value), Error);
}

TEST_F(SummariesTest, TagsAsTheyAre) {
  const Output value = Const(Tensor(2.5f));
  const NameScope tower("tower_0");
  for (int i = 0; i < 2; ++i) {
    const Output summary = summaries::Scalar(summaries::Tag{"/conv1/sparsity"}, value);
    EXPECT_EQ(Run(summary).value(0).tag(), "/conv1/sparsity");
    EXPECT_TRUE(summary.node()->name().starts_with("tower_0/conv1/sparsity"));
  }
}

// Tag, metadata and numbers are those of tensorboard.plugins.pr_curve.summary.op.
TEST_F(SummariesTest, PrCurveIsTensorBoards) {
  const Output labels = Const(Tensor::Of<bool>({true, false, true, true, false, false}));
  const Output predictions = Const(Tensor::Of<float>({0.9F, 0.8F, 0.35F, 0.5F, 0.1F, 1.2F}));
  const NameScope eval("eval");
  const proto::Summary curve = Run(
      summaries::PrCurve("clf", labels, predictions, {.num_thresholds = 5, .description = "d"}));
  ASSERT_EQ(curve.value_size(), 1);
  EXPECT_EQ(curve.value(0).tag(), "eval/clf/pr_curves");
  EXPECT_EQ(curve.value(0).metadata().SerializeAsString(),
            std::string("\n\x0f\n\tpr_curves\x12\x02\x10\x05\x12\x03"
                        "clf\x1a\x01"
                        "d"));
  const std::vector<float> third = {3,    3,    2,    1,        0, 3, 2, 2,        2,        1,
                                    0,    1,    1,    1,        2, 0, 0, 1,        2,        3,
                                    0.5F, 0.6F, 0.5F, 1 / 3.0F, 0, 1, 1, 2 / 3.0F, 1 / 3.0F, 0};
  const std::vector<float> values = Values(curve);
  ASSERT_EQ(values.size(), third.size());
  for (size_t i = 0; i < third.size(); ++i) EXPECT_NEAR(values[i], third[i], 1e-6F) << i;

  const proto::Summary weighted =
      Run(summaries::PrCurve("w", labels, predictions,
                             {.num_thresholds = 300,
                              .weights = Const(Tensor::Of<float>({1, 2, 0.5F, 1, 1, 0})),
                              .display_name = "shown"}));
  EXPECT_EQ(weighted.value(0).metadata().SerializeAsString(),
            std::string("\n\x10\n\tpr_curves\x12\x03\x10\xac\x02\x12\x05shown"));
  const float sums[] = {472.5F, 510, 390, 277.5F, 137.80304F, 189.00002F};
  for (int row = 0; row < 6; ++row) {
    float sum = 0;
    for (int i = 0; i < 300; ++i) sum += Values(weighted)[row * 300 + i];
    EXPECT_NEAR(sum, sums[row], 1e-2F) << row;
  }
  EXPECT_EQ(graph_.Collection(kSummaries).size(), 2U);
}

TEST_F(SummariesTest, PrCurveRefusesWhatItCannotCount) {
  const Output x = Ones({2});
  EXPECT_THROW(summaries::PrCurve("a", x, x), Error);
  EXPECT_THROW(
      summaries::PrCurve("a", Const(Tensor::Of<bool>({true, false})), x, {.num_thresholds = 1}),
      Error);
}

TEST_F(SummariesTest, TagsAreNamesInTheirScopeAndUnique) {
  EXPECT_FALSE(summaries::MergeAll());
  const Output number = Const(Tensor(2.5F));
  {
    const NameScope scope("a");
    EXPECT_EQ(Run(summaries::Scalar("loss", number)).value(0).tag(), "a/loss");
    EXPECT_EQ(Run(summaries::Scalar("loss", number)).value(0).tag(), "a/loss_1");
  }
  summaries::Histogram("weights", Ones({3}));
  summaries::Image("image", Ones({1, 2, 2, 1}));
  summaries::Audio("sound", Zeros({1, 8}), 8000);
  const proto::Summary text = Run(summaries::Text("note", Const(Tensor(std::string("**hi**")))));
  EXPECT_EQ(text.value(0).metadata().plugin_data().plugin_name(), "text");
  const proto::Summary all = Run(summaries::MergeAll());
  ASSERT_EQ(all.value_size(), 6);
  EXPECT_EQ(all.value(0).simple_value(), 2.5F);
  EXPECT_EQ(all.value(2).histo().num(), 3);
  EXPECT_EQ(all.value(3).image().height(), 2);
  EXPECT_EQ(all.value(4).audio().sample_rate(), 8000);
}

}  // namespace
}  // namespace sextant
