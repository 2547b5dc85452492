#include "sextant/ops/control_flow/tensor_array.h"

#include "sextant/ops/control_flow/control_flow_test.h"
#include "sextant/ops/math/binary.h"

namespace sextant {
namespace {

class TensorArrayTest : public ControlFlowTest {
 protected:
  TensorArrayOutputs Array(int size, const TensorArrayOptions& options = {}) {
    return TensorArrayV3(Const(Tensor(size)), DType::kFloat, options);
  }
  Output Index(int i) { return Const(Tensor(i)); }
  Output Write(const TensorArrayOutputs& a, int i, Output value, Output flow = {}) {
    return TensorArrayWriteV3(a.handle, Index(i), value, flow ? flow : a.flow);
  }
  Output Read(const TensorArrayOutputs& a, int i, Output flow) {
    return TensorArrayReadV3(a.handle, Index(i), flow, DType::kFloat);
  }
  const Output pair_ = Const(Tensor::Of<float>({1, 2}));
};

TEST_F(TensorArrayTest, WriteGatherConcatSize) {
  const auto a = Array(2);
  const Output flow = Write(a, 1, pair_ * 3.0, Write(a, 0, pair_));
  const Output indices = ConstInts({1, 0, 1});
  ExpectError(TensorArrayGatherV3(a.handle, indices, flow, DType::kFloat), "INVALID_ARGUMENT",
              "clear_after_read");
  const auto b = Array(2, {.clear_after_read = false});
  const Output flow_b = Write(b, 1, pair_ * 3.0, Write(b, 0, pair_));
  EXPECT_EQ(Floats(TensorArrayGatherV3(b.handle, indices, flow_b, DType::kFloat)),
            (std::vector<float>{3, 6, 1, 2, 3, 6}));
  EXPECT_EQ(Floats(TensorArrayConcatV3(b.handle, flow_b, DType::kFloat).value),
            (std::vector<float>{1, 2, 3, 6}));
  EXPECT_EQ(Run(TensorArraySizeV3(b.handle, flow_b)).AsInt64(), 2);
}

TEST_F(TensorArrayTest, DynamicSizeGrows) {
  const auto a = Array(0, {.dynamic_size = true});
  EXPECT_EQ(Run(TensorArraySizeV3(a.handle, Write(a, 7, pair_))).AsInt64(), 8);
}

TEST_F(TensorArrayTest, Errors) {
  const auto a = Array(2);
  ExpectError(Write(a, 7, pair_), "INVALID_ARGUMENT",
              "index 7 but array is not resizeable and size is: 2");
  ExpectError(Write(a, 0, pair_, Write(a, 0, pair_)), "INVALID_ARGUMENT", "already been written");
  ExpectError(Read(a, 5, a.flow), "INVALID_ARGUMENT", "index 5 but array size is: 2");
  ExpectError(Read(a, 0, a.flow), "INVALID_ARGUMENT", "not fully defined");
  ExpectError(Write(a, 0, Const(Tensor(1))), "INVALID_ARGUMENT", "int32");
  const auto fixed = Array(2, {.element_shape = {3}});
  ExpectError(Write(fixed, 0, pair_), "INVALID_ARGUMENT", "[3]");
  EXPECT_EQ(Floats(Read(fixed, 0, fixed.flow)), (std::vector<float>{0, 0, 0}));
  const auto same = Array(2, {.identical_element_shapes = true});
  ExpectError(Write(same, 1, Const(Tensor::Of<float>({1})), Write(same, 0, pair_)),
              "INVALID_ARGUMENT", "[2]");
  ExpectError(TensorArrayGatherV3(a.handle, ConstInts({}), a.flow, DType::kFloat), "UNIMPLEMENTED",
              "size zero");
  ExpectError(Array(-1).flow, "INVALID_ARGUMENT", "-1");
  ExpectError(TensorArraySplitV3(a.handle, pair_, ConstInts({1, 0}, DType::kInt64), a.flow),
              "INVALID_ARGUMENT", "sum of lengths is 1");
}

TEST_F(TensorArrayTest, GradientArraysAddUpAndKnowShapes) {
  const auto a = Array(2);
  const Output flow = Write(a, 1, pair_, Write(a, 0, pair_));
  const auto g = TensorArrayGradV3(a.handle, flow, "gradients");
  const Output twice = Write(g, 0, pair_, Write(g, 0, pair_ * 2.0));
  EXPECT_EQ(Floats(Read(g, 0, twice)), (std::vector<float>{3, 6}));
  EXPECT_EQ(Floats(Read(g, 1, g.flow)), (std::vector<float>{0, 0}));
  const Output three = Const(Tensor::Of<float>({1, 2, 3}));
  ExpectError(Write(g, 0, three), "INVALID_ARGUMENT", "existing shape is [2] but the new input");
}

TEST_F(TensorArrayTest, GradientArrayMayPrependASize) {
  const auto a = Array(2, {.element_shape = {2}});
  const Output flow = Write(a, 1, pair_, Write(a, 0, pair_));
  const auto grad = OpBuilder("TensorArrayGradWithShape")
                        .Input(a.handle)
                        .Input(flow)
                        .Input(ConstInts({3}))
                        .Attr("source", "test")
                        .BuildAll();
  const Output unwritten = TensorArrayReadV3(grad[0], Index(1), grad[1], DType::kFloat);
  EXPECT_EQ(Run(unwritten).shape(), (Shape{3, 2}));
}

TEST_F(TensorArrayTest, ClosedArrayCannotBeRead) {
  const auto a = Array(1);
  const Output flow = Write(a, 0, pair_);
  const ControlDependencies after_write({flow});
  const Operation close = OpBuilder("TensorArrayCloseV3").Input(a.handle).BuildOperation();
  const ControlDependencies after_close({close});
  ExpectError(Read(a, 0, flow), "INVALID_ARGUMENT", "");
}

TEST_F(TensorArrayTest, Gradients) {
  const Output x = Placeholder(DType::kFloat, {3, 2});
  const auto a = Array(3, {.clear_after_read = false});
  const Output flow = TensorArrayScatterV3(a.handle, ConstInts({2, 1, 0}), x, a.flow);
  const Output y = Read(a, 0, flow) * Read(a, 2, flow);
  const Tensor value = Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Floats(sextant::Gradients(y, {x})[0], {{x, value}}),
            (std::vector<float>{5, 6, 0, 0, 1, 2}));
}

}  // namespace
}  // namespace sextant
