#include "sextant/net/token.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sextant/base/temporary_directory.h"
#include "sextant/testing/echo_server.h"
#include "sextant/testing/status_of.h"

namespace sextant::net {
namespace {

class TokenTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  TemporaryDirectory directory_;
};

TEST_F(TokenTest, TokenIsTheFirstLineAndMustBeEqual) {
  const Token token({.token_file = Write("token", "s3cret\nnot this\n")});
  EXPECT_FALSE(token.empty());
  EXPECT_TRUE(token.Matches("Bearer s3cret"));
  for (const char* wrong :
       {"", "s3cret", "Bearer ", "Bearer s3cre", "Bearer s3cret ", "bearer s3cret"})
    EXPECT_FALSE(token.Matches(wrong)) << wrong;
  const Token marked({.token_file = Write("marked", "\xef\xbb\xbfs3cret\r\n")});
  EXPECT_TRUE(marked.Matches("Bearer s3cret"));
  const Token none({});
  EXPECT_TRUE(none.Matches(""));
}

TEST_F(TokenTest, FilesThatAreMissingOrEmptyAreNamed) {
  const std::string empty = Write("empty", "\n");
  const Status nothing = StatusOf([&] { Token({.token_file = empty}); });
  EXPECT_EQ(nothing.code(), Code::kInvalidArgument);
  EXPECT_NE(nothing.message().find(empty), std::string::npos) << nothing.message();
  const Status missing = StatusOf([&] { Token({.token_file = "/no/such/token"}); });
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_NE(missing.message().find("/no/such/token"), std::string::npos) << missing.message();
}

// gRPC aborts the process for bytes that a header cannot carry.
TEST_F(TokenTest, TokensThatCannotBeSentAreRefused) {
  using std::string_literals::operator""s;
  const std::vector<std::string> wrong = {"s3cr\xc3\xa9t"s, "s3\tcret"s, "s3\0cret"s,
                                          "s3cret\xff"s,    "s3 cret"s,  "s3cret "s,
                                          "\x7f"s,          "\x1f"s,     std::string(4097, 'x')};
  for (size_t i = 0; i < wrong.size(); ++i) {
    const std::string path = Write("wrong" + std::to_string(i), wrong[i] + "\nsecond line\n");
    const Status status = StatusOf([&] { Token({.token_file = path}); });
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << i;
    EXPECT_NE(status.message().find(path), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("a token is one line of"), std::string::npos)
        << status.message();
    EXPECT_EQ(status.message().find("s3"), std::string::npos) << status.message();
  }
  std::string all;
  for (char byte = '!'; byte <= '~'; ++byte) all += byte;
  for (const std::string& right : {all, std::string(4096, 'x')}) {
    const CredentialOptions options{.token_file = Write("right", right + "\n\xff\n")};
    const EchoServer server(options);
    std::string answer;
    const grpc::Status status = Echo(server.address(), options, "a", &answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
}

TEST_F(TokenTest, CallsCarryTheToken) {
  const EchoServer server({.token_file = Write("right", "right")});
  std::string answer;
  EXPECT_TRUE(Echo(server.address(), {.token_file = Write("same", "right\n")}, "a", &answer).ok());
  EXPECT_EQ(answer, "a");
  for (const CredentialOptions& wrong :
       {CredentialOptions{}, CredentialOptions{.token_file = Write("wrong", "left")}}) {
    EXPECT_EQ(Echo(server.address(), wrong, "a", &answer).error_code(),
              grpc::StatusCode::UNAUTHENTICATED);
  }
}

}  // namespace
}  // namespace sextant::net
