#include "sextant/ops/control_flow/tensor_list.h"

#include "sextant/ops/control_flow/control_flow_test.h"
#include "sextant/ops/control_flow/functional.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/compare.h"

namespace sextant {
namespace {

class TensorListTest : public ControlFlowTest {
 protected:
  Output Any() { return ShapeConstant(PartialShape()); }
  Output Index(int i) { return Const(Tensor(i)); }
  Output Reserve(int size, const PartialShape& shape = {}) {
    return TensorListReserve(ShapeConstant(shape), Index(size), DType::kFloat);
  }
  Output Stack(Output list) { return TensorListStack(list, Any(), DType::kFloat); }
  Output Get(Output list, int i) { return TensorListGetItem(list, Index(i), Any(), DType::kFloat); }
  const Output pair_ = Const(Tensor::Of<float>({1, 2}));
};

TEST_F(TensorListTest, PushAndPop) {
  const Output list = TensorListPushBack(
      TensorListPushBack(EmptyTensorList(Any(), DType::kFloat), pair_), pair_ * 3.0);
  EXPECT_EQ(Floats(Stack(list)), (std::vector<float>{1, 2, 3, 6}));
  const PopBackOutputs popped = TensorListPopBack(list, Any(), DType::kFloat);
  EXPECT_EQ(Floats(popped.tensor), (std::vector<float>{3, 6}));
  EXPECT_EQ(Run(TensorListLength(popped.list)).AsInt64(), 1);
  EXPECT_EQ(Run(TensorListLength(list)).AsInt64(), 2);  // the old list is as it was
}

TEST_F(TensorListTest, ElementsThatAreNotSetAreZeros) {
  const Output list = TensorListSetItem(Reserve(3), Index(1), pair_);
  EXPECT_EQ(Floats(Stack(list)), (std::vector<float>{0, 0, 1, 2, 0, 0}));
  EXPECT_EQ(Floats(Get(list, 2)), (std::vector<float>{0, 0}));
  EXPECT_EQ(Floats(Get(Reserve(1, {1}), 0)), (std::vector<float>{0}));
  ExpectError(Get(Reserve(1), 0), "INVALID_ARGUMENT", "not fully defined");
}

TEST_F(TensorListTest, ListsOfOneElementShapeAreJoined) {
  const auto joined = [&](const PartialShape& a, const PartialShape& b) {
    return TensorListLength(OpBuilder("TensorListConcatLists")
                                .Input(Reserve(1, a))
                                .Input(Reserve(2, b))
                                .Attr("element_dtype", DType::kFloat)
                                .Build());
  };
  EXPECT_EQ(Run(joined({}, {})).AsInt64(), 3);
  EXPECT_EQ(Run(joined({-1, 2}, {-1, 2})).AsInt64(), 3);
  ExpectError(joined({-1}, {3}), "INVALID_ARGUMENT", "same element shapes");
  ExpectError(joined({}, {3}), "INVALID_ARGUMENT", "same element shapes");
  ExpectError(joined({3}, {}), "INVALID_ARGUMENT", "same element shapes");
}

TEST_F(TensorListTest, Errors) {
  const Output empty = EmptyTensorList(Any(), DType::kFloat);
  ExpectError(Get(TensorListPushBack(empty, pair_), 1), "INVALID_ARGUMENT",
              "element 1 in a list with 1 elements");
  ExpectError(TensorListPopBack(empty, Any(), DType::kFloat).tensor, "INVALID_ARGUMENT",
              "empty list");
  ExpectError(Stack(empty), "INVALID_ARGUMENT", "not fully defined");
  ExpectError(TensorListLength(
                  TensorListPushBack(EmptyTensorList(ShapeConstant({3}), DType::kFloat), pair_)),
              "INVALID_ARGUMENT", "[2]");
  ExpectError(TensorListLength(TensorListPushBack(EmptyTensorList(Any(), DType::kFloat, 0), pair_)),
              "INVALID_ARGUMENT", "full list");
  ExpectError(TensorListLength(TensorListSetItem(Reserve(2), Index(2), pair_)), "INVALID_ARGUMENT",
              "element 2 in a list with 2 elements");
  ExpectError(TensorListLength(Reserve(-1)), "INVALID_ARGUMENT", "-1");
  ExpectError(Stack(TensorListPushBack(TensorListPushBack(empty, pair_), Const(Tensor(1.f)))),
              "INVALID_ARGUMENT", "");
  const Output other =
      TensorListGetItem(TensorListPushBack(empty, pair_), Index(0), Any(), DType::kInt32);
  ExpectError(other, "INVALID_ARGUMENT", "int32");
}

TEST_F(TensorListTest, StaticShapesFollowTheList) {
  const Output list = TensorListFromTensor(Placeholder(DType::kFloat, {-1, 3}), ShapeConstant({3}));
  EXPECT_EQ(Get(list, 0).shape().ToString(), "[3]");
  EXPECT_EQ(Stack(list).shape().ToString(), "[?,3]");
}

TEST_F(TensorListTest, ALoopOfPushesIsLinear) {
  constexpr int kSteps = 200'000;  // quadratic copying would take minutes
  const Output list =
      While([](const std::vector<Output>& v) { return Less(v[0], Const(Tensor(kSteps))); },
            [](const std::vector<Output>& v) {
              return std::vector<Output>{v[0] + 1.0, TensorListPushBack(v[1], v[0])};
            },
            {Index(0), EmptyTensorList(Any(), DType::kInt32)})[1];
  EXPECT_EQ(Run(TensorListLength(list)).AsInt64(), kSteps);
}

TEST_F(TensorListTest, SumsAndZerosOfLists) {
  const auto list = [](std::vector<Tensor> elements) {
    return ListTensor({DType::kFloat, {}, -1, std::move(elements)});
  };
  const Tensor sum = AddVariants(list({Tensor(1.f), Tensor(), Tensor()}),
                                 list({Tensor(2.f), Tensor(5.f), Tensor()}));
  const TensorList& elements = ListOf(sum);
  EXPECT_EQ(elements.elements[0].AsDouble(), 3);
  EXPECT_EQ(elements.elements[1].AsDouble(), 5);
  EXPECT_FALSE(elements.elements[2].valid());
  EXPECT_THROW(AddVariants(list({}), list({Tensor(1.f)})), Error);
  EXPECT_EQ(ListOf(ZerosLikeVariant(sum)).elements[1].AsDouble(), 0);
  // Lists of lists.
  const auto nested = [&](float v) {
    return ListTensor({DType::kVariant, {}, -1, {list({Tensor(v)})}});
  };
  EXPECT_EQ(ListOf(ListOf(AddVariants(nested(1), nested(2))).elements[0]).elements[0].AsDouble(),
            3);
}

}  // namespace
}  // namespace sextant
