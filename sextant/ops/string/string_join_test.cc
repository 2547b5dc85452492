#include "sextant/ops/string/string_join.h"

#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class StringJoinTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(StringJoinTest, ScalarsGoWithEveryElement) {
  const Output x = Const(Tensor::Of<std::string>({"a", "b"})), dash = Const(Tensor("-"));
  EXPECT_TRUE(Run(StringJoin({x, dash, x}, {.separator = "+"}))
                  .Identical(Tensor::Of<std::string>({"a+-+a", "b+-+b"})));
  EXPECT_TRUE(Run(StringJoin({dash, dash})).Identical(Tensor("--")));
}

TEST_F(StringJoinTest, OtherShapesMustAgree) {
  const Output x = Const(Tensor::Of<std::string>({"a", "b"}));
  EXPECT_THROW(StringJoin({x, Const(Tensor::Of<std::string>({"a"}))}), Error);
}

TEST_F(StringJoinTest, ReducesFirstAxisFastest) {
  const Output x = Const(Tensor::Of<std::string>({2, 2}, {"a", "b", "c", "d"}));
  EXPECT_TRUE(Run(ReduceJoin(x, {0})).Identical(Tensor::Of<std::string>({"ac", "bd"})));
  EXPECT_TRUE(Run(ReduceJoin(x, {-1}, {.keep_dims = true, .separator = "+"}))
                  .Identical(Tensor::Of<std::string>({2, 1}, {"a+b", "c+d"})));
  EXPECT_TRUE(Run(ReduceJoin(x, {0, 1})).Identical(Tensor("acbd")));
  EXPECT_TRUE(Run(ReduceJoin(x, {1, 0})).Identical(Tensor("abcd")));
}

TEST_F(StringJoinTest, NothingJoinedIsEmpty) {
  const Output x = Const(Tensor(DType::kString, {0, 2}));
  EXPECT_TRUE(Run(ReduceJoin(x, {0})).Identical(Tensor::Of<std::string>({"", ""})));
}

// Answers of TensorFlow.
TEST_F(StringJoinTest, Segments) {
  const Output x = Const(Tensor::Of<std::string>({3, 2}, {"a", "b", "c", "d", "e", "f"}));
  const UnsortedSegmentJoinOptions options{.separator = ":"};
  EXPECT_TRUE(Run(UnsortedSegmentJoin(x, Const(Tensor::Of<int32_t>({1, 0, 1})), 3, options))
                  .Identical(Tensor::Of<std::string>({3, 2}, {"c", "d", "a:e", "b:f", "", ""})));
  const Output ids = Const(Tensor::Of<int64_t>({3, 2}, {1, 0, 1, 1, 0, 0}));
  EXPECT_TRUE(Run(UnsortedSegmentJoin(x, ids, 3, options))
                  .Identical(Tensor::Of<std::string>({"b:e:f", "a:c:d", ""})));
  EXPECT_THROW(Run(UnsortedSegmentJoin(x, ids, 1)), Error);
  EXPECT_THROW(Run(UnsortedSegmentJoin(x, Const(Tensor::Of<int32_t>({0, 0})), 1)), Error);
}

}  // namespace
}  // namespace sextant
