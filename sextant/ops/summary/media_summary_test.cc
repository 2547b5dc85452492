// The expected values are those of TensorFlow.
#include "sextant/ops/summary/media_summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/formats/image/png.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/proto/summary.pb.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class MediaSummaryTest : public testing::Test {
 protected:
  proto::Summary Run(Output y) {
    proto::Summary summary;
    EXPECT_TRUE(summary.ParseFromString(Session(graph_).Run(y).scalar<std::string>()));
    return summary;
  }
  // The pixels of the first image.
  std::vector<int> Pixels(const Tensor& images, const ImageSummaryOptions& options = {}) {
    const auto summary = Run(ImageSummary(Const(Tensor("i")), Const(images), options));
    std::vector<uint8_t> pixels;
    ReadPng(summary.value(0).image().encoded_image_string(), {}, [&](const ImageSize& size) {
      pixels.resize(static_cast<size_t>(size.height) * size.row_elements());
      return static_cast<void*>(pixels.data());
    });
    return {pixels.begin(), pixels.end()};
  }
  std::vector<int> Square(std::initializer_list<float> values) {
    return Pixels(Tensor::Of<float>({1, 2, 2, 1}, values));
  }
  Code CodeOf(Output y) {
    try {
      Session(graph_).Run(y);
    } catch (const Error& e) {
      return e.code();
    }
    return Code::kOk;
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

using Ints = std::vector<int>;

TEST_F(MediaSummaryTest, TagsImages) {
  const Output batch = Const(Tensor::Zeros(DType::kUInt8, {4, 1, 2, 3}));
  const auto some = Run(ImageSummary(Const(Tensor("i")), batch));
  ASSERT_EQ(some.value_size(), 3);
  EXPECT_EQ(some.value(2).tag(), "i/image/2");
  EXPECT_EQ(some.value(0).image().height(), 1);
  EXPECT_EQ(some.value(0).image().width(), 2);
  EXPECT_EQ(some.value(0).image().colorspace(), 3);
  EXPECT_EQ(Run(ImageSummary(Const(Tensor("i")), batch, {.max_images = 1})).value(0).tag(),
            "i/image");
}

TEST_F(MediaSummaryTest, ScalesImages) {
  EXPECT_EQ(Pixels(Tensor::Of<uint8_t>({1, 2, 2, 1}, {0, 1, 2, 3})), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(Square({0, 1, 2, 4}), (Ints{0, 63, 127, 255}));
  EXPECT_EQ(Square({-1, 1, 2, 4}), (Ints{96, 159, 191, 255}));
  EXPECT_EQ(Square({-8, 1, 2, 4}), (Ints{1, 143, 159, 191}));
  EXPECT_EQ(Square({0, 0, 1e-7f, 0}), (Ints{0, 0, 0, 0}));
  EXPECT_EQ(Square({0, 0, -1e-7f, 0}), (Ints{128, 128, 128, 128}));
}

TEST_F(MediaSummaryTest, PaintsPixelsThatAreNotFinite) {
  const float nan = std::nanf("");
  EXPECT_EQ(Square({0, nan, 1, 2}), (Ints{0, 255, 127, 255}));
  EXPECT_EQ(Pixels(Tensor::Of<float>({1, 1, 2, 4}, {0, nan, 1, 2, 1, 2, 3, 3})),
            (Ints{255, 0, 0, 255, 85, 170, 255, 255}));
  EXPECT_EQ(Pixels(Tensor::Of<float>({1, 2, 2, 1}, {0, nan, 1, 2}),
                   {.bad_color = Tensor::Of<uint8_t>({7})}),
            (Ints{0, 7, 127, 255}));
}

TEST_F(MediaSummaryTest, RejectsWhatIsNoImage) {
  for (const Shape& shape : {Shape{1, 2, 2, 2}, Shape{2, 2, 1}, Shape{1, 0, 2, 1}}) {
    const Output image = Const(Tensor::Zeros(DType::kFloat, shape));
    EXPECT_EQ(CodeOf(ImageSummary(Const(Tensor("i")), image)), Code::kInvalidArgument);
  }
}

TEST_F(MediaSummaryTest, WritesSounds) {
  const Output sound = Const(Tensor::Of<float>({1, 8}, {0, .5, -.5, 1, -1, 2, -2, .99999f}));
  const auto summary = Run(AudioSummary(Const(Tensor("a")), sound, Const(Tensor(8000.f))));
  const auto& value = summary.value(0);
  EXPECT_EQ(value.tag(), "a/audio/0");
  EXPECT_EQ(value.audio().content_type(), "audio/wav");
  EXPECT_EQ(value.audio().length_frames(), 8);
  std::string hex;
  for (const unsigned char byte : value.audio().encoded_audio_string()) {
    hex += fmt::format("{:02x}", byte);
  }
  EXPECT_EQ(
      hex,
      "524946463400000057415645666d74201000000001000100401f0000803e00000200100064617461100000000"
      "000004000c0ff7f0080ff7f0080ff7f");
  EXPECT_EQ(CodeOf(AudioSummary(Const(Tensor("a")), sound, Const(Tensor(0.f)))),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant
