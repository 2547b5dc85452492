#include "sextant/cli/option_prefix.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant::cli {
namespace {

const std::vector<std::string> kNames = {"--tag_set", "--signature_def", "--input_exprs",
                                         "--input_examples", "--inputs"};

TEST(OptionPrefix, TakesUnambiguousPrefixes) {
  EXPECT_EQ(ExpandOption("--tag", kNames), "--tag_set");
  EXPECT_EQ(ExpandOption("--tag-s", kNames), "--tag_set");
  EXPECT_EQ(ExpandOption("--input_exp", kNames), "--input_exprs");
  EXPECT_EQ(ExpandOption("--unknown", kNames), "--unknown");
}

TEST(OptionPrefix, PrefersExactNames) {
  EXPECT_EQ(ExpandOption("--inputs", kNames), "--inputs");
  EXPECT_EQ(ExpandOption("--input", {"--input", "--inputs"}), "--input");
}

TEST(OptionPrefix, NamesWhatIsAmbiguous) {
  try {
    ExpandOption("--input_ex", kNames);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(),
              "--input_ex is ambiguous: it could be --input_exprs or --input_examples");
  }
}

TEST(OptionPrefix, LeavesValuesAndWhatFollowsTwoDashes) {
  std::vector<std::string> arguments = {"--tag=a--sig=b", "-5", "x=--tag", "--", "--tag"};
  ExpandOptions(arguments, kNames);
  EXPECT_EQ(arguments,
            (std::vector<std::string>{"--tag_set=a--sig=b", "-5", "x=--tag", "--", "--tag"}));
}

}  // namespace
}  // namespace sextant::cli
