#include "sextant/serving/access.h"

#include <gtest/gtest.h>

#include "sextant/base/file_system.h"
#include "sextant/testing/status_of.h"

namespace sextant::serving {
namespace {

constexpr char kTokens[] = "memory://access_test";

void Write(std::string_view text) {
  FileSystem::ForPath(kTokens).WriteFileAtomically(kTokens, text);
}

// Clients cannot send them; the message names the file, not the token.
TEST(AccessTest, TokensThatCannotBeSentAreRefused) {
  const std::string longest(4096, 'a');
  for (const std::string& wrong :
       {std::string("t\303\266ken"), std::string("a\177"), std::string("b\001"), longest + "a"}) {
    Write("all\n" + wrong + " n\n");
    for (const AccessOptions& options :
         {AccessOptions{.token_file = kTokens}, AccessOptions{.admin_token_file = kTokens}}) {
      if (!options.admin_token_file.empty()) Write(wrong);
      const Status status = StatusOf([&] { Access{options}; });
      EXPECT_EQ(status.code(), Code::kInvalidArgument);
      EXPECT_NE(status.message().find(kTokens), std::string::npos);
      EXPECT_EQ(status.message().find(wrong), std::string::npos);
    }
  }
  Write(longest + "\n");
  EXPECT_NO_THROW(Access({.token_file = kTokens}).CheckModel("Bearer " + longest, "n"));
}

TEST(AccessTest, KeepsItsTokensWhenNewOnesAreWrong) {
  Write("all\n");
  Access access({.token_file = kTokens});
  Write("t\303\266ken\n");
  EXPECT_EQ(StatusOf([&] { access.Reload(); }).code(), Code::kInvalidArgument);
  EXPECT_NO_THROW(access.CheckModel("Bearer all", "n"));
}

}  // namespace
}  // namespace sextant::serving
