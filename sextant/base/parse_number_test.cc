#include "sextant/base/parse_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace sextant {
namespace {

template <typename T>
std::optional<T> Parse(std::string_view text) {
  T value;
  return ParseNumber(text, &value) ? std::optional<T>(value) : std::nullopt;
}

// Values are TensorFlow's StringToNumber's.
TEST(ParseNumberTest, Integers) {
  EXPECT_EQ(Parse<int32_t>(" 42\t"), 42);
  EXPECT_EQ(Parse<int32_t>("00012"), 12);
  EXPECT_EQ(Parse<int32_t>("-2147483648"), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(Parse<int64_t>("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char* bad : {"", " ", "+3", "3.0", "1e3", "0x10", "- 3", "--3", "1 2", "2147483648"}) {
    EXPECT_EQ(Parse<int32_t>(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(Parse<int64_t>("9223372036854775808"), std::nullopt);
}

TEST(ParseNumberTest, Reals) {
  EXPECT_EQ(Parse<float>("+3"), 3.0f);
  EXPECT_EQ(Parse<float>("\v-.5 "), -0.5f);
  EXPECT_EQ(Parse<float>("5."), 5.0f);
  EXPECT_EQ(Parse<float>("1E-5"), 1e-5f);
  EXPECT_EQ(Parse<float>("123456789.123456789"), 123456792.0f);
  EXPECT_EQ(Parse<double>("0.1"), 0.1);
  EXPECT_EQ(Parse<double>("-0x1F"), -31.0);
  EXPECT_EQ(Parse<double>("  "), 0.0);
  EXPECT_TRUE(std::signbit(*Parse<double>("-0")));
  for (const char* bad : {"", ".", "1e", "1e+", "e3", "+-3", "1 2", "1f", "0x", "0x1p3", "0x1.8p1",
                          "infinity", "nan(1)", "- inf", "1,0", "0xg"}) {
    EXPECT_EQ(Parse<double>(bad), std::nullopt) << bad;
    EXPECT_EQ(Parse<float>(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(Parse<float>(std::string_view("3\0", 2)), std::nullopt);
}

TEST(ParseNumberTest, SpecialReals) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Parse<double>("+Inf"), kInf);
  EXPECT_EQ(Parse<double>(" -INF "), -kInf);
  EXPECT_TRUE(std::isnan(*Parse<float>("-NaN")));
}

TEST(ParseNumberTest, OutOfRangeRoundsToInfinityOrZero) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Parse<double>("1e400"), kInf);
  EXPECT_EQ(Parse<double>("-1e400"), -kInf);
  EXPECT_EQ(Parse<double>("1e-400"), 0.0);
  EXPECT_EQ(Parse<double>("1e99999999999999999999"), kInf);
  EXPECT_EQ(Parse<double>("1e-99999999999999999999"), 0.0);
  EXPECT_EQ(Parse<double>("0.0001e500"), kInf);
  EXPECT_EQ(Parse<double>(std::string(400, '1') + ".5"), kInf);
  EXPECT_EQ(Parse<double>("0x" + std::string(300, 'f')), kInf);
  EXPECT_EQ(Parse<float>("3.4028236e38"), std::numeric_limits<float>::infinity());
  EXPECT_EQ(Parse<float>("3.4028235677973362e38"), std::numeric_limits<float>::max());
  EXPECT_EQ(Parse<float>("1e-46"), 0.0f);
  EXPECT_EQ(Parse<float>("1e-38"), 0.0f);
  EXPECT_EQ(Parse<float>("1.1754944e-38"), std::numeric_limits<float>::min());
  EXPECT_TRUE(std::signbit(*Parse<float>("-1e-40")));
  EXPECT_EQ(Parse<double>("5e-324"), std::numeric_limits<double>::denorm_min());
}

}  // namespace
}  // namespace sextant
