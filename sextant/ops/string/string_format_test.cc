#include "sextant/ops/string/string_format.h"

#include "sextant/ops/string/string_test.h"

namespace sextant {
namespace {

class StringFormatTest : public StringTest {
 protected:
  std::string Format(const Tensor& x, int64_t summarize = 3) {
    return RunStrings(StringFormat({Const(x)}, "%s", {.summarize = summarize}))[0];
  }
  static Tensor Range(const Shape& shape) {
    Tensor x(DType::kInt32, shape);
    for (int64_t i = 0; i < x.num_elements(); ++i) x.data<int32_t>()[i] = static_cast<int32_t>(i);
    return x;
  }
};

// Answers of TensorFlow.
TEST_F(StringFormatTest, Values) {
  EXPECT_EQ(Format(Tensor(1)), "1");
  EXPECT_EQ(Format(Tensor::Of<float>({0.1f, 1 / 3.0f, 1e10f, 1234567.75f}), 9),
            "[0.1 0.333333343 1e+10 1234567.75]");
  EXPECT_EQ(Format(Tensor::Of<double>({0.1, 1 / 3.0})), "[0.1 0.33333333333333331]");
  EXPECT_EQ(Format(Tensor::Of<std::string>({"a", "b\"c\n"})), "[\"a\" \"b\\\"c\\n\"]");
  EXPECT_EQ(Format(Tensor::Of<bool>({true, false})), "[1 0]");
  EXPECT_EQ(Format(Tensor(DType::kFloat, Shape{0})), "[]");
}

TEST_F(StringFormatTest, Edges) {
  EXPECT_EQ(Format(Range({6})), "[0 1 2 3 4 5]");
  EXPECT_EQ(Format(Range({7})), "[0 1 2 ... 4 5 6]");
  EXPECT_EQ(Format(Range({10}), 0), "[ ...]");
  EXPECT_EQ(Format(Range({2, 2}), 0), "[\n ...]");
  EXPECT_EQ(Format(Range({0, 2}), 0), "[]");
  EXPECT_EQ(Format(Tensor(1), 0), "...");
  EXPECT_EQ(Format(Range({10}), -1), "[0 1 2 3 4 5 6 7 8 9]");
  EXPECT_EQ(Format(Range({3, 4})), "[[0 1 2 3]\n [4 5 6 7]\n [8 9 10 11]]");
  EXPECT_EQ(Format(Range({2, 3, 4}), 1),
            "[[[0 ... 3]\n  ...\n  [8 ... 11]]\n\n [[12 ... 15]\n  ...\n  [20 ... 23]]]");
}

TEST_F(StringFormatTest, Placeholders) {
  const Output one = Const(Tensor(1));
  EXPECT_EQ(RunStrings(StringFormat({one, one}, "a {} b {} %s", {.placeholder = "{}"})),
            Strings{"a 1 b 1 %s"});
  EXPECT_EQ(RunStrings(StringFormat({}, "abc")), Strings{"abc"});
  EXPECT_EQ(CodeOf(StringFormat({one}, "%s %s")), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant
