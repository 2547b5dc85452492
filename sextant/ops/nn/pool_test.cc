#include "sextant/ops/nn/pool.h"

#include <cmath>
#include <limits>

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/nn/pool3d.h"

namespace sextant {
namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInf = std::numeric_limits<float>::infinity();

class PoolTest : public ArrayTest {
 protected:
  static constexpr int64_t kSide = 4;
  // 0 ... 15 in a square.
  Output Square() {
    std::vector<float> values(kSide * kSide);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return Const(Tensor::FromVector(values).Reshaped({1, kSide, kSide, 1}));
  }
  Output Image(const Shape& shape, std::initializer_list<float> values) {
    return Hidden(Tensor::Of<float>(shape, values));
  }
  const PoolOptions halves_ = {.ksize = {1, 2, 2, 1}, .strides = {1, 2, 2, 1}};
};

TEST_F(PoolTest, TakesTheLargestOfEachWindow) {
  ExpectTensor<float>(Run(MaxPool(Square(), halves_)), {1, 2, 2, 1}, {5, 7, 13, 15});
  const PoolOptions same = {.ksize = {1, 3, 3, 1}, .strides = {1, 3, 3, 1}, .padding = "SAME"};
  ExpectTensor<float>(Run(MaxPool(Square(), same)), {1, 2, 2, 1}, {5, 7, 13, 15});
  const PoolOptions padded = {.ksize = {1, 2, 2, 1},
                              .strides = {1, 2, 2, 1},
                              .padding = "EXPLICIT",
                              .explicit_paddings = {0, 0, 1, 1, 0, 0, 0, 0}};
  ExpectTensor<float>(Run(MaxPool(Square(), padded)), {1, 3, 2, 1}, {1, 3, 9, 11, 13, 15});
}

TEST_F(PoolTest, WindowsMayBeLargerThanTheImageByLessThanAStride) {
  const PoolOptions large = {.ksize = {1, 5, 5, 1}, .strides = {1, 2, 2, 1}};
  EXPECT_EQ(Run(MaxPool(Square(), large)).shape(), (Shape{1, 0, 0, 1}));
}

TEST_F(PoolTest, AveragesDoNotCountPadding) {
  const PoolOptions same = {.ksize = {1, 2, 2, 1}, .strides = {1, 3, 3, 1}, .padding = "SAME"};
  ExpectTensor<float>(Run(AvgPool(Square(), same)), {1, 2, 2, 1}, {2.5f, 5, 12.5f, 15});
}

TEST_F(PoolTest, SpreadsTheGradientOfAnAverage) {
  const PoolOptions overlapping = {
      .ksize = {1, 1, 2, 1}, .strides = {1, 1, 1, 1}, .padding = "SAME"};
  const Output grad = Image({1, 1, 3, 1}, {2, 4, 6});
  // The last window sees one element only.
  ExpectTensor<float>(Run(AvgPoolGrad(ConstInts({1, 1, 3, 1}), grad, overlapping)), {1, 1, 3, 1},
                      {1, 3, 8});
}

TEST_F(PoolTest, FirstOfEqualElementsGetsTheGradient) {
  const Output x = Image({1, 2, 4, 1}, {1, 1, 2, 3, 1, 1, 3, 3});
  const Output y = MaxPool(x, halves_);
  const Output g = Gradients(y * 2.0, {x})[0];
  ExpectTensor<float>(Run(g), {1, 2, 4, 1}, {2, 0, 0, 2, 0, 0, 0, 0});
}

TEST_F(PoolTest, AllEqualElementsOfAVolumeGetTheGradient) {
  const Output x = Image({1, 1, 2, 2, 1}, {1, 3, 3, 2});
  const Output y = MaxPool3D(x, {.ksize = {1, 1, 2, 2, 1}, .strides = {1, 1, 2, 2, 1}});
  ExpectTensor<float>(Run(y), {1, 1, 1, 1, 1}, {3});
  ExpectTensor<float>(Run(Gradients(y, {x})[0]), {1, 1, 2, 2, 1}, {0, 1, 1, 0});
}

// As TensorFlow 2.15 does on the CPU.
TEST_F(PoolTest, IgnoresNanAndInfinityInImagesOnly) {
  ExpectTensor<float>(Run(MaxPool(Image({1, 2, 2, 1}, {kNan, 1, 4, kNan}), halves_)), {1, 1, 1, 1},
                      {4});
  const float lowest = std::numeric_limits<float>::lowest();
  ExpectTensor<float>(Run(MaxPool(Image({1, 2, 2, 1}, {-kInf, -kInf, -kInf, -kInf}), halves_)),
                      {1, 1, 1, 1}, {lowest});
  const Tensor volume = Run(MaxPool3D(Image({1, 1, 2, 2, 1}, {0, 1, kNan, 4}),
                                      {.ksize = {1, 1, 2, 2, 1}, .strides = {1, 1, 2, 2, 1}}));
  EXPECT_TRUE(std::isnan(*volume.data<float>()));
}

TEST_F(PoolTest, ChannelsMayComeFirst) {
  const Output x = Image({1, 2, 2, 2}, {1, -1, 2, -2, 3, -3, 4, -4});
  const Output first = Transpose(x, {0, 3, 1, 2});
  const PoolOptions nchw = {.ksize = {1, 1, 2, 2}, .strides = {1, 1, 2, 2}, .data_format = "NCHW"};
  ExpectTensor<float>(Run(MaxPool(first, nchw)), {1, 2, 1, 1}, {4, -1});
  ExpectTensor<float>(Run(AvgPool(first, nchw)), {1, 2, 1, 1}, {2.5f, -2.5f});
}

TEST_F(PoolTest, PoolsAcrossChannels) {
  const Output x = Image({1, 1, 2, 4}, {1, 5, 2, 3, 9, 8, 7, 6});
  const PoolOptions channels = {.ksize = {1, 1, 1, 2}, .strides = {1, 1, 1, 2}};
  ExpectTensor<float>(Run(MaxPool(x, channels)), {1, 1, 2, 2}, {5, 3, 9, 7});
  EXPECT_EQ(ErrorOf(AvgPool(x, channels)).substr(0, 13), "UNIMPLEMENTED");
}

TEST_F(PoolTest, ArgmaxCountsInTheImageOrTheBatch) {
  const Output x = Image({2, 1, 2, 2}, {1, 4, 3, 2, 5, 6, 7, 8});
  MaxPoolWithArgmaxOptions options = {.ksize = {1, 1, 2, 1}, .strides = {1, 1, 2, 1}};
  const auto image = MaxPoolWithArgmax(x, options);
  ExpectTensor<float>(Run(image.output), {2, 1, 1, 2}, {3, 4, 7, 8});
  ExpectTensor<int64_t>(Run(image.argmax), {2, 1, 1, 2}, {2, 1, 2, 3});
  options.include_batch_in_index = true;
  options.argmax_type = DType::kInt32;
  const auto batch = MaxPoolWithArgmax(x, options);
  ExpectTensor<int32_t>(Run(batch.argmax), {2, 1, 1, 2}, {2, 1, 6, 7});
  ExpectTensor<float>(Run(Gradients(batch.output, {x})[0]), {2, 1, 2, 2}, {0, 1, 1, 0, 0, 0, 1, 1});
}

TEST_F(PoolTest, RefusesWindowsThatMakeNoSense) {
  const auto error = [&](const PoolOptions& options) {
    try {
      return ErrorOf(MaxPool(Hidden(Tensor::Zeros(DType::kFloat, {1, 4, 4, 1})), options));
    } catch (const Error& e) {  // known when the graph is built
      return e.status().ToString();
    }
  };
  EXPECT_NE(error({.ksize = {1, 0, 2, 1}, .strides = {1, 1, 1, 1}})
                .find("Sliding window ksize must be positive, got [1,0,2,1]"),
            std::string::npos);
  EXPECT_NE(error({.ksize = {1, 2, 2, 1, 1}, .strides = {1, 1, 1, 1}})
                .find("Sliding window ksize field must specify 4 dimensions"),
            std::string::npos);
  EXPECT_NE(error({.ksize = {2, 1, 1, 1}, .strides = {1, 1, 1, 1}})
                .find("Pooling is not yet supported on the batch dimension."),
            std::string::npos);
  EXPECT_NE(error({.ksize = {1, 2, 2, 1},
                   .strides = {1, 2, 2, 1},
                   .padding = "EXPLICIT",
                   .explicit_paddings = {0, 0, 2, 0, 0, 0, 0, 0}})
                .find("Padding 2 needs to be smaller than the window size 2"),
            std::string::npos);
}

TEST_F(PoolTest, ChecksGradientsAndIndices) {
  const Output x = Image({1, 2, 2, 1}, {1, 2, 3, 4});
  EXPECT_NE(ErrorOf(MaxPoolGrad(x, x, x, halves_)).find("Expected orig_output shape to be"),
            std::string::npos);
  EXPECT_NE(ErrorOf(AvgPoolGrad(Hidden(Tensor::Of<int32_t>({1, 2, -2, 1})), x, halves_))
                .find("INVALID_ARGUMENT"),
            std::string::npos);
  const Output bad = OpBuilder("MaxPoolGradWithArgmax")
                         .Input(x)
                         .Input(Image({1, 1, 1, 1}, {1}))
                         .Input(Hidden(Tensor::Of<int64_t>({1, 1, 1, 1}, {4})))
                         .Attr("ksize", halves_.ksize)
                         .Attr("strides", halves_.strides)
                         .Attr("padding", "VALID")
                         .Build();
  EXPECT_NE(ErrorOf(bad).find("argmax 4 at 0 is outside of its image: [0, 4)"), std::string::npos);
}

}  // namespace
}  // namespace sextant
