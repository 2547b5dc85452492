#include "sextant/ops/parsing/decode_csv.h"

#include <limits>

#include "sextant/ops/string/string_test.h"

namespace sextant {
namespace {

class DecodeCsvTest : public StringTest {
 protected:
  static std::vector<Output> Defaults() {
    return {Const(Tensor::Of<int32_t>({-1})), Const(Tensor("none")), Const(Tensor(1.5f))};
  }
};

TEST_F(DecodeCsvTest, Columns) {
  const auto columns = DecodeCSV(Text({"1,\"a,\"\"b\",2.5", ",,", " 7 ,x,inf"}), Defaults());
  EXPECT_TRUE(Run(columns[0]).Identical(Tensor::Of<int32_t>({1, -1, 7})));
  EXPECT_EQ(RunStrings(columns[1]), (Strings{"a,\"b", "none", "x"}));
  EXPECT_TRUE(
      Run(columns[2])
          .Identical(Tensor::Of<float>({2.5f, 1.5f, std::numeric_limits<float>::infinity()})));
}

TEST_F(DecodeCsvTest, Options) {
  const auto columns = DecodeCSV(Text({"x;NA;3", "y;b;"}), {Const(Tensor("d")), Const(Tensor(0.5))},
                                 {.field_delim = ";", .na_value = "NA", .select_cols = {1, 2}});
  EXPECT_EQ(RunStrings(columns[0]), (Strings{"d", "b"}));
  EXPECT_TRUE(Run(columns[1]).Identical(Tensor::Of<double>({3, 0.5})));
}

TEST_F(DecodeCsvTest, RejectsBadRecords) {
  for (const char* bad : {"1,a", "1,a,2,3", "x,a,2", "1,a\"b,2", ""}) {
    EXPECT_EQ(CodeOf(DecodeCSV(Text({bad}), Defaults())[0]), Code::kInvalidArgument) << bad;
  }
  const Output none = Const(Tensor(DType::kInt32, Shape{0}));
  EXPECT_EQ(CodeOf(DecodeCSV(Text({",2"}), {none, none})[0]), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(DecodeCSV(Text({"1,2"}), {none, none}, {.field_delim = ""})[0]),
            Code::kInvalidArgument);
}

TEST_F(DecodeCsvTest, ErrorsNameRecordAndField) {
  try {
    Run(DecodeCSV(Text({"1,a,2", "1,a,x"}), Defaults())[0]);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("record 1: field 2 is not a valid float: \"x\""), std::string::npos)
        << e.message();
  }
}

}  // namespace
}  // namespace sextant
