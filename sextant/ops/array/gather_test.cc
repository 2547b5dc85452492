#include "sextant/ops/array/gather.h"

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/array/scatter.h"

namespace sextant {
namespace {

class GatherTest : public ArrayTest {
 protected:
  const Output table_ = Const(Tensor::Of<float>(Shape{3, 2}, {0, 1, 10, 11, 20, 21}));
};

TEST_F(GatherTest, PicksRowsAndColumns) {
  ExpectTensor<float>(Run(Gather(table_, {2, 0, 2})), {3, 2}, {20, 21, 0, 1, 20, 21});
  ExpectTensor<float>(Run(Gather(table_, {1}, {.axis = -1})), {3, 1}, {1, 11, 21});
  ExpectTensor<float>(Run(Gather(table_, 1)), {2}, {10, 11});
}

TEST_F(GatherTest, RowsOfAllSizes) {
  for (int64_t width = 1; width <= 70; ++width) {
    Tensor table(DType::kUInt8, {3, width});
    for (int64_t i = 0; i < 3 * width; ++i) table.data<uint8_t>()[i] = static_cast<uint8_t>(i);
    std::vector<uint8_t> expected;
    for (const int64_t row : {2, 0, 1, 2}) {
      for (int64_t i = 0; i < width; ++i) expected.push_back(static_cast<uint8_t>(row * width + i));
    }
    ExpectTensor<uint8_t>(Run(Gather(Const(table), {2, 0, 1, 2})), {4, width}, expected);
  }
}

TEST_F(GatherTest, BatchesGoTogether) {
  const Output indices = Const(Tensor::Of<int64_t>(Shape{3, 1}, {1, 0, 1}));
  const Output y = Gather(table_, indices, {.axis = 1, .batch_dims = 1});
  ExpectTensor<float>(Run(y), {3, 1}, {1, 10, 21});
}

TEST_F(GatherTest, NamesTheBadIndex) {
  EXPECT_NE(ErrorOf(Gather(table_, {0, 3})).find("indices[1] = 3 is not in [0, 3)"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Gather(table_, {-1})).find("INVALID_ARGUMENT"), std::string::npos);
  const Output outside = Const(Tensor::Of<int32_t>(Shape{1, 2}, {0, 2}));
  EXPECT_NE(ErrorOf(GatherNd(table_, outside)).find("indices[0] = [0, 2] does not index into"),
            std::string::npos);
}

TEST_F(GatherTest, ErrorsNameCoordinates) {
  const Output matrix = Const(Tensor::Of<int32_t>(Shape{2, 2}, {0, 1, 2, 9}));
  EXPECT_NE(ErrorOf(Gather(table_, matrix)).find("indices[1,1] = 9 is not in [0, 3)"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Gather(table_, Const(Tensor(9)))).find("indices = 9 is not in [0, 3)"),
            std::string::npos);
}

TEST_F(GatherTest, GradientAlongAxisZeroIsSparse) {
  const Output x = Placeholder(DType::kFloat, {3, 2});
  const auto grads = Gradients(Gather(x, {2, 0, 2}), {x});
  ASSERT_TRUE(grads[0].sparse());
  ExpectTensor<int32_t>(Run(grads[0].slices().indices), {3}, {2, 0, 2});
  ExpectTensor<float>(Run(grads[0].dense(), {{x, Tensor::Zeros(DType::kFloat, {3, 2})}}), {3, 2},
                      {1, 1, 0, 0, 2, 2});
}

TEST_F(GatherTest, GradientAlongAnotherAxisOfUnknownShape) {
  const Output x = Placeholder(DType::kFloat);
  const auto grads = Gradients(Gather(x, {1, 1}, {.axis = 1}), {x});
  ExpectTensor<float>(Run(grads[0], {{x, Tensor::Zeros(DType::kFloat, {2, 2})}}), {2, 2},
                      {0, 2, 0, 2});
  EXPECT_EQ(Run(grads[0], {{x, Tensor(DType::kFloat, Shape{0, 2})}}).shape().ToString(), "[0,2]");
}

TEST_F(GatherTest, GatherAndScatterByPosition) {
  const Output at = Const(Tensor::Of<int32_t>(Shape{2, 2}, {2, 1, 0, 0}));
  ExpectTensor<float>(Run(GatherNd(table_, at)), {2}, {21, 0});
  const Output rows = Const(Tensor::Of<int32_t>(Shape{3, 1}, {1, 3, 1}));
  const Output updates = Const(Tensor::Of<float>({1, 2, 4}));
  ExpectTensor<float>(Run(ScatterNd(rows, updates, {4})), {4}, {0, 5, 0, 2});
  const Output tensor = Const(Tensor::Of<float>({1, 1, 1, 1}));
  ExpectTensor<float>(Run(TensorScatterAdd(tensor, rows, updates)), {4}, {1, 6, 1, 3});
  ExpectTensor<float>(Run(TensorScatterSub(tensor, rows, updates)), {4}, {1, -4, 1, -1});
  ExpectTensor<float>(Run(TensorScatterMax(tensor, rows, updates)), {4}, {1, 4, 1, 2});
  ExpectTensor<float>(Run(TensorScatterMin(tensor, rows, updates)), {4}, {1, 1, 1, 1});
  ExpectTensor<float>(Run(TensorScatterUpdate(tensor, rows, updates)), {4}, {1, 4, 1, 2});
}

TEST_F(GatherTest, ScatterOfATensorIntoItself) {
  const Output x = Placeholder(DType::kInt32, {2});
  const Output rows = Const(Tensor::Of<int32_t>(Shape{2, 1}, {1, 0}));
  const Output doubled = OpBuilder("AddV2").Input(x).Input(x).Build();
  ExpectTensor<int32_t>(
      Run(TensorScatterAdd(doubled, rows, doubled), {{x, Tensor::Of<int32_t>({1, 10})}}), {2},
      {22, 22});
}

TEST_F(GatherTest, ScatterRejectsWhatDoesNotFit) {
  const Output rows = Const(Tensor::Of<int32_t>(Shape{1, 1}, {5}));
  const Output update = Const(Tensor::Of<float>({1}));
  EXPECT_NE(ErrorOf(ScatterNd(rows, update, {3})).find("indices[0] = [5] does not index into"),
            std::string::npos);
  EXPECT_THROW(ScatterNd(rows, Const(Tensor::Of<float>({1, 2})), {3}), Error);
}

// As TensorFlow, which looks at the indices only where there is something to copy.
TEST_F(GatherTest, EmptyTensors) {
  const Output x = Placeholder(DType::kFloat), i = Placeholder(DType::kInt32);
  const FeedMap feeds = {{x, Tensor::Zeros(DType::kFloat, {2, 0})}, {i, Tensor::Of<int32_t>({5})}};
  EXPECT_EQ(Run(Gather(x, i), feeds).shape(), (Shape{1, 0}));
  EXPECT_NE(ErrorOf(GatherNd(x, i), feeds).find("params is empty"), std::string::npos);
  const Output scattered = ScatterNd(i, x, {2});
  EXPECT_NE(ErrorOf(scattered, {{i, Tensor::Zeros(DType::kInt32, {2, 0})},
                                {x, Tensor::Zeros(DType::kFloat, {2, 2})}})
                .find("INVALID_ARGUMENT"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
