#include "sextant/base/printable.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <ios>
#include <system_error>

#include "sextant/base/error.h"

namespace sextant {
namespace {

TEST(PrintableTest, LeavesTextAsItIs) {
  for (const char* text : {"", "plain", "Zürich, 東京, 🙂", "back\\slash \"quoted\""}) {
    EXPECT_EQ(Printable(text), text);
    EXPECT_TRUE(IsPrintable(text));
  }
}

TEST(PrintableTest, EscapesControls) {
  EXPECT_EQ(Printable("a\x1b[31mred\x07"), "a\\x1b[31mred\\x07");
  EXPECT_EQ(Printable(std::string_view("nul\0end", 7)), "nul\\x00end");
  EXPECT_EQ(Printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(Printable("a\nb\tc\rd", LineEnds::kKeep), "a\nb\tc\\rd");
  EXPECT_EQ(Printable("\x7f"), "\\u007f");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");  // C1: CSI in one character
  EXPECT_EQ(Printable("a\xe2\x80\xae"
                      "b"),
            "a\\u202eb");  // right to left
  EXPECT_EQ(Printable("\xef\xbb\xbf"
                      "age"),
            "\\ufeffage");                                  // a byte order mark
  EXPECT_EQ(Printable("a\xff\xc3"), "a\\xff\\xc3");         // no UTF-8
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_FALSE(IsPrintable("a\x1b"));
  EXPECT_FALSE(IsPrintable("\xff"));
  EXPECT_TRUE(IsPrintable("a\nb\t"));
}

TEST(PrintableTest, EscapesOnce) {
  const std::string once = Printable("a\x1b\xff\nb");
  EXPECT_EQ(Printable(once), once);
}

TEST(PrintableTest, CutsTheMiddle) {
  EXPECT_EQ(WithoutMiddle("short", 5), "short");
  const std::string cut =
      WithoutMiddle(std::string(200, 'a') + std::string(31000, 'x') + "end", 300);
  EXPECT_EQ(cut, std::string(200, 'a') + " ... (30903 bytes left out) ... " + std::string(97, 'x') +
                     "end");
  // No character is cut in two.
  std::string umlauts;
  for (int i = 0; i < 1000; ++i) umlauts += "ü";
  for (size_t most = 90; most < 100; ++most) {
    EXPECT_TRUE(IsPrintable(WithoutMiddle(umlauts, most))) << most;
    EXPECT_TRUE(IsPrintable(WithoutMiddle("x" + umlauts, most))) << most;
  }
}

TEST(PrintableTest, ErrorsAreFitToBeShown) {
  const Error error = InvalidArgument("column '{}' is bad", "a\x1b]0;title\x07\xff");
  EXPECT_EQ(error.message(), "column 'a\\x1b]0;title\\x07\\xff' is bad");
  EXPECT_STREQ(error.what(), "INVALID_ARGUMENT: column 'a\\x1b]0;title\\x07\\xff' is bad");
  const Error longer =
      InvalidArgument("field '{}' of people.csv is no number", std::string(31000, 'x'))
          .WithPrefix("row 3: ");
  EXPECT_LT(longer.message().size(), 2000u);
  EXPECT_TRUE(longer.message().starts_with("row 3: field 'xxx")) << longer.message();
  EXPECT_TRUE(longer.message().ends_with("xxx' of people.csv is no number")) << longer.message();
  EXPECT_NE(longer.message().find("bytes left out"), std::string::npos);
  try {
    throw std::runtime_error("raw \x1b" + std::string(31000, 'x'));
  } catch (...) {
    const Status status = CurrentStatus();
    EXPECT_TRUE(status.message().starts_with("raw \\x1bxxx"));
    EXPECT_LT(status.message().size(), 2000u);
  }
  try {  // no thread: those are of std::system_error itself
    throw std::ios_base::failure("read", std::error_code(EAGAIN, std::generic_category()));
  } catch (...) {
    EXPECT_EQ(CurrentStatus().code(), Code::kInternal);
    EXPECT_TRUE(CurrentStatus().message().starts_with("read")) << CurrentStatus().message();
  }
}

}  // namespace
}  // namespace sextant
