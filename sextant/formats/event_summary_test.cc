#include "sextant/formats/event_summary.h"

#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/formats/hparams_summary.h"
#include "sextant/formats/summary_values.h"
#include "sextant/proto/hparams.pb.h"
#include "sextant/proto/summary.pb.h"

namespace sextant {
namespace {

using namespace std::string_literals;
using proto::Summary;

class EventSummaryTest : public testing::TestWithParam<SummaryForm> {
 protected:
  SummaryData Only() {
    EXPECT_EQ(summary_.value_size(), 1);
    return SummaryReader().Read(summary_.value(0));
  }
  Summary summary_;
};

INSTANTIATE_TEST_SUITE_P(Forms, EventSummaryTest,
                         testing::Values(SummaryForm::kClassic, SummaryForm::kPlugin));

TEST_P(EventSummaryTest, Scalars) {
  AddScalar(&summary_, "loss", 0.5, GetParam());
  const SummaryData data = Only();
  EXPECT_EQ(data.kind, SummaryKind::kScalar);
  EXPECT_EQ(data.tag, "loss");
  EXPECT_EQ(data.scalar, 0.5);
}

TEST_P(EventSummaryTest, Histograms) {
  AddHistogram(&summary_, "weights", std::vector<float>{0, 1, 1, 3}, GetParam());
  const SummaryData data = Only();
  EXPECT_EQ(data.kind, SummaryKind::kHistogram);
  double count = 0;
  for (const SummaryBucket& bucket : data.buckets) count += bucket.count;
  EXPECT_EQ(count, 4);
  EXPECT_EQ(data.buckets.front().left, 0);
  EXPECT_EQ(data.buckets.back().right, 3);
  EXPECT_EQ(data.buckets.back().count, 1);
  EXPECT_THROW(AddHistogram(&summary_, "bad", std::vector<float>{NAN}, GetParam()), Error);
}

TEST_P(EventSummaryTest, EmptyAndEqualHistograms) {
  AddHistogram(&summary_, "none", {}, GetParam());
  double count = 0;
  for (const SummaryBucket& bucket : Only().buckets) count += bucket.count;
  EXPECT_EQ(count, 0);
  summary_.Clear();
  AddHistogram(&summary_, "equal", std::vector<float>{2, 2}, GetParam());
  EXPECT_EQ(Only().buckets.back().count, 2);
  EXPECT_EQ(Only().buckets.back().right, 2);
}

TEST_P(EventSummaryTest, Images) {
  AddImage(&summary_, "picture", std::vector<uint8_t>(2 * 5 * 3, 9), {2, 5, 3}, GetParam());
  const SummaryData data = Only();
  EXPECT_EQ(data.kind, SummaryKind::kImage);
  ASSERT_EQ(data.images.size(), 1u);
  EXPECT_EQ(data.images[0].width, 5);
  EXPECT_EQ(data.images[0].height, 2);
  EXPECT_TRUE(data.images[0].encoded.starts_with("\x89PNG"));
  EXPECT_THROW(AddImage(&summary_, "bad", {}, {2, 5, 3}, GetParam()), Error);
}

TEST_P(EventSummaryTest, Sounds) {
  AddAudio(&summary_, "tone", std::vector<float>(8), 2, 8000, GetParam());
  const SummaryData data = Only();
  EXPECT_EQ(data.kind, SummaryKind::kAudio);
  ASSERT_EQ(data.clips.size(), 1u);
  EXPECT_TRUE(data.clips[0].starts_with("RIFF"));
}

TEST(SummaryReaderTest, RemembersTheMetadataOfATag) {
  Summary summary;
  AddScalar(&summary, "loss", 0.5, SummaryForm::kPlugin);
  AddScalar(&summary, "loss", 0.25, SummaryForm::kPlugin);
  summary.mutable_value(1)->clear_metadata();
  SummaryReader reader;
  reader.Read(summary.value(0));
  EXPECT_EQ(reader.Read(summary.value(1)).kind, SummaryKind::kScalar);
  EXPECT_EQ(SummaryReader().Read(summary.value(1)).kind, SummaryKind::kTensor);
}

TEST(SummaryReaderTest, TextAndOtherTensorsKeepTheirTensor) {
  Summary summary;
  AddText(&summary, "note", Tensor::Of<std::string>({"# title", "cell"}));
  AddTensor(&summary, "any", Tensor::Of<float>({1, 2}));
  SummaryReader reader;
  const SummaryData text = reader.Read(summary.value(0));
  EXPECT_EQ(text.kind, SummaryKind::kText);
  EXPECT_EQ(text.tensor.flat<std::string>()[1], "cell");
  EXPECT_EQ(reader.Read(summary.value(1)).kind, SummaryKind::kTensor);
  EXPECT_THROW(AddText(&summary, "bad", Tensor(1.0f)), Error);
}

TEST(SummaryReaderTest, RefusesTensorsThatAreNotOfTheirPlugin) {
  for (const char* plugin : {"scalars", "histograms", "images", "audio", "text"}) {
    Summary summary;
    AddTensor(&summary, "bad", Tensor::Of<int32_t>({1, 2}), plugin);
    try {
      SummaryReader().Read(summary.value(0));
      FAIL() << plugin;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument);
      EXPECT_NE(e.message().find("'bad'"), std::string::npos);
    }
  }
}

TEST(SummaryReaderTest, HugeShapesTakeNoMemory) {
  Summary summary;
  auto* tensor = summary.add_value()->mutable_tensor();
  tensor->set_dtype(proto::DT_FLOAT);
  tensor->mutable_tensor_shape()->add_dim()->set_size(int64_t{1} << 36);
  EXPECT_THROW(SummaryReader().Read(summary.value(0)), Error);
}

// As TensorBoard's own functions write them.
TEST(HParamsTest, WritesTensorBoardsBytes) {
  Summary summary;
  AddHParamsSessionEnd(&summary, HParamsStatus::kSuccess, 1500000060);
  const auto& value = summary.value(0);
  EXPECT_EQ(value.tag(), "_hparams_/session_end_info");
  EXPECT_EQ(value.metadata().plugin_data().plugin_name(), "hparams");
  EXPECT_EQ(value.metadata().plugin_data().content(),
            "\x22\x0b\x08\x01\x11\0\0\0\xcf\x0b\x5a\xd6\x41"s);
  EXPECT_EQ(value.tensor().SerializeAsString(), "\x08\x01\x12\x02\x12\0"s);
}

TEST(HParamsTest, RoundTripsSessions) {
  Summary summary;
  AddHParamsSessionStart(&summary, {.hparams = {{"lr", 0.01}, {"opt", "adam"s}, {"drop", true}},
                                    .group_name = "trial-1",
                                    .start_time_secs = 15});
  EXPECT_EQ(SummaryReader().Read(summary.value(0)).kind, SummaryKind::kHParams);
  proto::hparams::HParamsPluginData data;
  ASSERT_TRUE(ReadHParams(summary.value(0), &data));
  const auto& info = data.session_start_info();
  EXPECT_EQ(info.group_name(), "trial-1");
  EXPECT_EQ(info.hparams().at("lr").number_value(), 0.01);
  EXPECT_EQ(info.hparams().at("opt").string_value(), "adam");
  EXPECT_TRUE(info.hparams().at("drop").bool_value());
  AddScalar(&summary, "loss", 1);
  EXPECT_FALSE(ReadHParams(summary.value(1), &data));
}

}  // namespace
}  // namespace sextant
