#include "sextant/ops/parsing/serialize_tensor.h"

#include "sextant/ops/string/string_test.h"

namespace sextant {
namespace {

using SerializeTensorTest = StringTest;

// Bytes as TensorFlow writes them.
TEST_F(SerializeTensorTest, ThereAndBack) {
  EXPECT_EQ(RunStrings(SerializeTensor(Const(Tensor(2.5f))))[0],
            std::string("\x08\x01\x12\x00\"\x04\x00\x00 @", 10));
  EXPECT_EQ(RunStrings(SerializeTensor(Text({"a", "b"})))[0],
            "\x08\x07\x12\x04\x12\x02\x08\x02"
            "B\x01"
            "aB\x01"
            "b");
  const Tensor x = Tensor::Of<double>({2, 1}, {1.5, -2});
  EXPECT_TRUE(Run(ParseTensor(SerializeTensor(Const(x)), DType::kDouble)).Identical(x));
  EXPECT_EQ(CodeOf(ParseTensor(SerializeTensor(Const(x)), DType::kFloat)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(ParseTensor(One("\x0fzz"), DType::kFloat)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(ParseTensor(One(""), DType::kFloat)), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant
