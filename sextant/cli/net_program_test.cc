#include "sextant/cli/net_program.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant::cli {
namespace {

TEST(NetProgram, ForwardedArgumentsAreNotRead) {
  Command program("sextant", "A program.");
  std::vector<std::string> forwarded;
  program.AddCommand("serve", "Serves.", "")
      .OnForward([&](const std::vector<std::string>& arguments) {
        forwarded = arguments;
        return 7;
      });
  EXPECT_EQ(RunProgram(program, {"serve", "--help", "--port=1", "--", "x"}), 7);
  EXPECT_EQ(forwarded, (std::vector<std::string>{"--help", "--port=1", "--", "x"}));
}

TEST(NetProgram, SaysWhereTheProgramIsMissing) {
  try {
    ReplaceProcess("no-such-program", {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
    EXPECT_NE(e.message().find("/no-such-program, which runs this command, cannot be started"),
              std::string::npos)
        << e.message();
  }
}

TEST(NetProgram, ReplacesTheProcess) {
  // The test's own program takes the place of the child.
  EXPECT_EXIT(ReplaceProcess("cli_test", {"--gtest_list_tests", "--gtest_filter=NetProgram.*"}),
              testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sextant::cli
