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

TEST_F(StringToNumberTest, ErrorsNameCoordinates) {
  const Output matrix = Const(Tensor::Of<std::string>({2, 2}, {"1", "2", "3", "x"}));
  try {
    Run(StringToNumber(matrix));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("string_tensor[1,1] is not a valid float: \"x\""), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace sextant
