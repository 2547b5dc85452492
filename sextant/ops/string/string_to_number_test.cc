#include "sextant/ops/string/string_to_number.h"

#include "sextant/ops/string/string_test.h"

namespace sextant {
namespace {

using StringToNumberTest = StringTest;

TEST_F(StringToNumberTest, ReadsNumbers) {
  EXPECT_TRUE(Run(StringToNumber(Text({"1.5", " -2"}))).Identical(Tensor::Of<float>({1.5f, -2})));
  EXPECT_EQ(RunInts(StringToNumber(Text({"15"}), DType::kInt64)), Ints{15});
  EXPECT_EQ(CodeOf(StringToNumber(Text({"1", "abc"}))), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant
