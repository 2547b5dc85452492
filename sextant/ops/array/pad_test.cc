#include "sextant/ops/array/pad.h"

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/array/one_hot.h"
#include "sextant/ops/array/space_batch.h"

namespace sextant {
namespace {

using PadTest = ArrayTest;

TEST_F(PadTest, PadsWithZerosOrAConstant) {
  const Output x = Const(Tensor::Of<int32_t>(Shape{1, 2}, {1, 2}));
  ExpectTensor<int32_t>(Run(Pad(x, {{1, 0}, {0, 2}})), {2, 4}, {0, 0, 0, 0, 1, 2, 0, 0});
  const Output row = Const(Tensor::Of<int32_t>({1, 2}));
  EXPECT_EQ(Pad(row, {{0, 2}}).shape().ToString(), "[4]");
  const Output paddings = Const(Tensor::Of<int32_t>(Shape{1, 2}, {1, 1}));
  ExpectTensor<int32_t>(Run(PadV2(row, paddings, Const(Tensor(int32_t{7})))), {4}, {7, 1, 2, 7});
  EXPECT_THROW(Pad(row, {{-1, 0}}), Error);
}

TEST_F(PadTest, Mirrors) {
  const Output x = Const(Tensor::Of<int32_t>({1, 2, 3}));
  ExpectTensor<int32_t>(Run(MirrorPad(x, {{2, 1}}, "REFLECT")), {6}, {3, 2, 1, 2, 3, 2});
  ExpectTensor<int32_t>(Run(MirrorPad(x, {{3, 2}}, "SYMMETRIC")), {8}, {3, 2, 1, 1, 2, 3, 3, 2});
  EXPECT_NE(ErrorOf(MirrorPad(x, {{3, 0}}, "REFLECT")).find("less than the dimension size"),
            std::string::npos);
}

TEST_F(PadTest, MirrorGradientAddsUp) {
  const Output x = Placeholder(DType::kFloat, {3});
  const Output weights = Const(Tensor::Of<float>({1, 2, 4, 8, 16, 32}));
  const auto grads = Gradients(MirrorPad(x, {{2, 1}}, "REFLECT"), {x}, {.grad_ys = {weights}});
  ExpectTensor<float>(Run(grads[0], {{x, Tensor::Zeros(DType::kFloat, {3})}}), {3}, {4, 42, 17});
}

TEST_F(PadTest, OneHotPutsTheAxisAnywhere) {
  const Output indices = Const(Tensor::Of<int64_t>({1, -1, 2, 3}));
  ExpectTensor<float>(Run(OneHot(indices, 3)), {4, 3}, {0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0});
  ExpectTensor<int32_t>(Run(OneHot(indices, 3, {.axis = 0, .dtype = DType::kInt32})), {3, 4},
                        {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0});
  const Output negative = Hidden(Tensor(int32_t{-1}));
  EXPECT_NE(ErrorOf(OneHot(indices, negative)).find("depth must be non-negative"),
            std::string::npos);
}

TEST_F(PadTest, BlocksToDepthAndBack) {
  const Output x = Const(Tensor::Of<int32_t>(Shape{1, 2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8}));
  const Output deep = SpaceToDepth(x, {.block_size = 2});
  ExpectTensor<int32_t>(Run(deep), {1, 1, 2, 4}, {1, 2, 5, 6, 3, 4, 7, 8});
  ExpectTensor<int32_t>(Run(DepthToSpace(deep, {.block_size = 2})), {1, 2, 4, 1},
                        {1, 2, 3, 4, 5, 6, 7, 8});
  const Output planes = Const(Tensor::Of<int32_t>(Shape{1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  ExpectTensor<int32_t>(Run(SpaceToDepth(planes, {.block_size = 2, .data_format = "NCHW"})),
                        {1, 4, 1, 2}, {1, 3, 2, 4, 5, 7, 6, 8});
}

TEST_F(PadTest, BlocksToBatchAndBack) {
  const Output x = Const(Tensor::Of<int32_t>(Shape{1, 3}, {1, 2, 3}));
  const Output block = ConstInts({2});
  const Output border = Const(Tensor::Of<int32_t>(Shape{1, 2}, {1, 0}));
  const Output batch = SpaceToBatchND(x, block, border);
  ExpectTensor<int32_t>(Run(batch), {2, 2}, {0, 2, 1, 3});
  ExpectTensor<int32_t>(Run(BatchToSpaceND(batch, block, border)), {1, 3}, {1, 2, 3});
  const Output none = Const(Tensor::Of<int32_t>(Shape{1, 2}, {0, 0}));
  EXPECT_THROW(SpaceToBatchND(x, block, none), Error);
}

}  // namespace
}  // namespace sextant
