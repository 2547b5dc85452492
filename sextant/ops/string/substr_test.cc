#include "sextant/ops/string/substr.h"

#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class SubstrTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  std::string Part(const char* text, int32_t pos, int32_t len,
                   StringUnit unit = StringUnit::kByte) {
    return Run(Substr(Const(Tensor(text)), Const(Tensor(pos)), Const(Tensor(len)), unit))
        .scalar<std::string>();
  }
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(SubstrTest, Bytes) {
  EXPECT_EQ(Part("hello", 1, 3), "ell");
  EXPECT_EQ(Part("hello", -3, 2), "ll");
  EXPECT_EQ(Part("hello", 2, 99), "llo");
  EXPECT_EQ(Part("hello", 5, 1), "");
  EXPECT_EQ(Part("hello", 1, -1), "ello");
}

TEST_F(SubstrTest, Characters) {
  EXPECT_EQ(Part("h\xc3\xa9llo", 1, 2, StringUnit::kUtf8Char), "\xc3\xa9l");
  EXPECT_EQ(Part("h\xc3\xa9llo", -4, 1, StringUnit::kUtf8Char), "\xc3\xa9");
  const Output x = Const(Tensor::Of<std::string>({"h\xc3\xa9", ""}));
  EXPECT_TRUE(Run(StringLength(x)).Identical(Tensor::Of<int32_t>({3, 0})));
  EXPECT_TRUE(Run(StringLength(x, StringUnit::kUtf8Char)).Identical(Tensor::Of<int32_t>({2, 0})));
}

TEST_F(SubstrTest, PositionsAreBroadcast) {
  const Output x = Const(Tensor("hello"));
  const Output pos = Const(Tensor::Of<int64_t>({0, 1})), len = Const(Tensor::Of<int64_t>({3, 1}));
  EXPECT_TRUE(Run(Substr(x, pos, len)).Identical(Tensor::Of<std::string>({"hel", "e"})));
}

TEST_F(SubstrTest, RejectsPositionsOutside) {
  EXPECT_THROW(Part("hello", 6, 1), Error);
  EXPECT_THROW(Part("hello", -6, 1), Error);
  EXPECT_EQ(Part("hello", -1, -1), "o");
  EXPECT_EQ(Part("hello", 1, -1, StringUnit::kUtf8Char), "");
  EXPECT_THROW(Part("hello", -1, -1, StringUnit::kUtf8Char), Error);
}

}  // namespace
}  // namespace sextant
