// The expected values are those of TensorFlow.
#include "sextant/ops/sparse/ragged.h"

#include <gtest/gtest.h>

#include <limits>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class RaggedTest : public testing::Test {
 protected:
  static Output Splits(std::initializer_list<int64_t> splits) {
    return Const(Tensor::Of<int64_t>(splits));
  }
  void Expect(Output y, const Tensor& value) {
    const Tensor got = Session(graph_).Run(y);
    EXPECT_TRUE(got.Identical(value)) << got.ToString();
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
  const Output any_ = Const(Tensor(int64_t{-1}));
  const Output values_ = Const(Tensor::Of<float>({1, 2, 3}));
  const Output pairs_ = Const(Tensor::Of<int32_t>({3, 2}, {1, 2, 3, 4, 5, 6}));
};

TEST_F(RaggedTest, ToSparse) {
  const SparseTensor flat = RaggedTensorToSparse({Splits({0, 2, 2, 3})}, values_);
  Expect(flat.indices, Tensor::Of<int64_t>({3, 2}, {0, 0, 0, 1, 2, 0}));
  Expect(flat.values, Tensor::Of<float>({1, 2, 3}));
  Expect(flat.dense_shape, Tensor::Of<int64_t>({3, 2}));
  const SparseTensor deep = RaggedTensorToSparse({Splits({0, 2, 3}), Splits({0, 1, 3, 3})}, pairs_);
  Expect(deep.indices, Tensor::Of<int64_t>({6, 4}, {0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0,
                                                    0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1}));
  Expect(deep.dense_shape, Tensor::Of<int64_t>({2, 2, 2, 2}));
  for (const Output& bad :
       {Splits({0, 2, 5}), Splits({1, 2, 3}), Splits({}), Splits({0, 3, 2, 3})}) {
    EXPECT_EQ(CodeOf(RaggedTensorToSparse({bad}, values_).indices), Code::kInvalidArgument);
  }
}

TEST_F(RaggedTest, ToTensor) {
  const Output zero = Const(Tensor(0.f)), nine = Const(Tensor(9.f));
  const auto splits = Splits({0, 2, 2, 3});
  Expect(RaggedTensorToTensor(any_, values_, zero, {splits}),
         Tensor::Of<float>({3, 2}, {1, 2, 0, 0, 3, 0}));
  Expect(RaggedTensorToTensor(Splits({2, 1}), values_, nine, {splits}),
         Tensor::Of<float>({2, 1}, {1, 9}));
  Expect(RaggedTensorToTensor(Splits({4, -1}), values_, nine, {splits}),
         Tensor::Of<float>({4, 2}, {1, 2, 9, 9, 3, 9, 9, 9}));
  Expect(
      RaggedTensorToTensor(any_, pairs_, Const(Tensor::Of<int32_t>({8, 9})), {Splits({0, 1, 3})}),
      Tensor::Of<int32_t>({2, 2, 2}, {1, 2, 8, 9, 3, 4, 5, 6}));
  Expect(RaggedTensorToTensor(any_, Const(Tensor::Of<int32_t>({1, 2, 3, 4})), Const(Tensor(0)),
                              {Splits({0, 2, 3}), Splits({0, 1, 3, 4})}),
         Tensor::Of<int32_t>({2, 2, 2}, {1, 0, 2, 3, 4, 0, 0, 0}));
  const auto by_ids = [&](int64_t rows) {
    return OpBuilder("RaggedTensorToTensor")
        .Input(any_)
        .Input(values_)
        .Input(nine)
        .Input({Const(Tensor(rows)), Splits({0, 0, 2})})
        .Attr("row_partition_types", std::vector<std::string>{"FIRST_DIM_SIZE", "VALUE_ROWIDS"})
        .Build();
  };
  Expect(by_ids(4), Tensor::Of<float>({4, 2}, {1, 2, 9, 9, 3, 9, 9, 9}));
  for (const int64_t rows : {int64_t{1} << 34, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(CodeOf(by_ids(rows)), Code::kResourceExhausted);
  }
  EXPECT_EQ(CodeOf(RaggedTensorToTensor(any_, pairs_, Const(Tensor::Of<int32_t>({1, 2, 3})),
                                        {Splits({0, 1, 3})})),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant
