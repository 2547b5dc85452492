#include "sextant/formats/json_events.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

// Keeps the reals.
class Reals : public JsonEvents {
 public:
  void Null() override {}
  void Bool(bool) override {}
  void Integer(int64_t value) override { values.push_back(static_cast<double>(value)); }
  void Unsigned(uint64_t value) override { values.push_back(static_cast<double>(value)); }
  void Real(double value) override { values.push_back(value); }
  void String(std::string_view) override {}
  void StartObject() override {}
  void Key(std::string_view) override {}
  void EndObject() override {}
  void StartList() override {}
  void EndList() override {}

  std::vector<double> values;
};

uint64_t BitsOf(double value) { return std::bit_cast<uint64_t>(value); }

void ExpectReadAsByStrtod(const std::vector<std::string>& numbers) {
  Reals reals;
  ReadJsonEvents(fmt::format("[ {} ]", fmt::join(numbers, " ,")), reals);
  ASSERT_EQ(reals.values.size(), numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(BitsOf(reals.values[i]), BitsOf(std::strtod(numbers[i].c_str(), nullptr)))
        << numbers[i];
  }
}

TEST(JsonEventsTest, RealsAreRoundedCorrectly) {
  ExpectReadAsByStrtod({"0.1", "-0.0", "3.0e0", "1e22", "1e23", "8.98846567431158e307",
                        "1.7976931348623157e308", "-1.7976931348623157E+308",
                        "2.2250738585072011e-308", "4.9406564584124654e-324", "2.4e-324", "1e-400",
                        "9007199254740993.0", "123456789012345678901234567890",
                        "0.500000000000000166533453693773481063544750213623046875"});
  std::mt19937_64 random(1);
  std::vector<std::string> numbers;
  for (int i = 0; i < 2000; ++i) {
    double value;
    do {
      value = std::bit_cast<double>(random());
    } while (!std::isfinite(value));
    numbers.push_back(fmt::format("{:.{}e}", value, i % 20));
    const auto single = static_cast<float>(value);
    if (std::isfinite(single) && single != 0) numbers.push_back(fmt::format("{}", single));
  }
  ExpectReadAsByStrtod(numbers);
}

// Rapidjson's own conversion reads behind a table for these.
TEST(JsonEventsTest, SmallNumbersMayHaveManyZeros) {
  for (const int zeros : {30, 200, 330, 500, 5000}) {
    const std::string small = "0." + std::string(zeros, '0') + "123456789";
    ExpectReadAsByStrtod({small, "-" + small, small + "e-320", small + "e-200", small + "e+150",
                          small + "1" + std::string(1000, '9')});
  }
}

TEST(JsonEventsTest, ValuesThatAreNoNumbersArePassedOn) {
  Reals reals;
  ReadJsonEvents("[NaN, Inf, -Infinity, 1.5]", reals);
  ASSERT_EQ(reals.values.size(), 4u);
  EXPECT_TRUE(std::isnan(reals.values[0]));
  EXPECT_EQ(reals.values[1], HUGE_VAL);
  EXPECT_EQ(reals.values[2], -HUGE_VAL);
  EXPECT_EQ(reals.values[3], 1.5);
  EXPECT_EQ(StatusOf([&] { ReadJsonEvents("[1e400]", reals); }).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant
