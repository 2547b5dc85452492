#include "sextant/formats/csv.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant {
namespace {

using Fields = std::vector<std::string>;

Fields Split(std::string_view record, CsvOptions options = {}) {
  CsvSplitter splitter(std::move(options));
  const auto& fields = splitter.Split(record);
  return Fields(fields.begin(), fields.end());
}

// What TensorFlow's DecodeCSV makes of these records.
TEST(CsvTest, Fields) {
  EXPECT_EQ(Split("a,b"), (Fields{"a", "b"}));
  EXPECT_EQ(Split(" a , b"), (Fields{" a ", " b"}));
  EXPECT_EQ(Split("a,"), (Fields{"a", ""}));
  EXPECT_EQ(Split(","), (Fields{"", ""}));
  EXPECT_EQ(Split(""), Fields());
  EXPECT_EQ(Split("a\tb", {.delimiter = '\t'}), (Fields{"a", "b"}));
}

TEST(CsvTest, LineEndsBeforeFields) {
  EXPECT_EQ(Split("\na,\r\nb"), (Fields{"a", "b"}));
  EXPECT_EQ(Split("a,\n"), Fields{"a"});
  EXPECT_EQ(Split("\n"), Fields());
  EXPECT_EQ(Split("a\nb", {.delimiter = '\n'}), (Fields{"a", "b"}));
  EXPECT_THROW(Split("a,b\n"), Error);
  EXPECT_THROW(Split("a\rb"), Error);
}

TEST(CsvTest, Quotes) {
  EXPECT_EQ(Split(R"("a,b",c)"), (Fields{"a,b", "c"}));
  EXPECT_EQ(Split(R"("a""b",""",",x)"), (Fields{"a\"b", "\",", "x"}));
  EXPECT_EQ(Split(R"("","")"), (Fields{"", ""}));
  EXPECT_EQ(Split("\"two\r\nlines\",5"), (Fields{"two\r\nlines", "5"}));
  EXPECT_EQ(Split(R"("a",)"), (Fields{"a", ""}));
  for (const char* bad : {R"("a" ,b)", R"(a"b,c)", R"("a"b",c)", R"("a,b)", R"("a",")", R"("a"",b)",
                          R"(x,"y"z)", R"(")", "\"a\"\n"}) {
    EXPECT_THROW(Split(bad), Error) << bad;
  }
  EXPECT_EQ(Split(R"("a",b")", {.quotes = false}), (Fields{"\"a\"", "b\""}));
}

TEST(CsvTest, WantedColumns) {
  EXPECT_EQ(Split("a,b,c,", {.columns = {1, 3}}), (Fields{"b", ""}));
  EXPECT_EQ(Split("a,b", {.columns = {3}}), Fields());
  EXPECT_EQ(Split(R"(a,b"c)", {.columns = {0}}), Fields{"a"});  // the rest is not looked at
  EXPECT_THROW(Split(R"(a"x,b)", {.columns = {1}}), Error);
  EXPECT_THROW(Split("a", {.columns = {1, 1}}), Error);
  EXPECT_THROW(Split("a", {.columns = {-1}}), Error);
}

}  // namespace
}  // namespace sextant
