#include "sextant/net/credentials.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "sextant/base/temporary_directory.h"
#include "sextant/testing/status_of.h"

namespace sextant::net {
namespace {

class CredentialsTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  TemporaryDirectory directory_;
};

TEST_F(CredentialsTest, FilesThatAreMissingOrWrongAreNamed) {
  const std::string text = Write("text", "no certificate");
  const auto expect = [](const Status& status, Code code, const std::string& part) {
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  };
  expect(StatusOf([&] { MakeChannelCredentials({.ca_file = text}); }), Code::kInvalidArgument,
         text);
  expect(StatusOf([&] { MakeChannelCredentials({.cert_file = text, .key_file = text}); }),
         Code::kInvalidArgument, "CA file");
  expect(StatusOf([&] { MakeServerCredentials({.cert_file = text}); }), Code::kInvalidArgument,
         "needs its key");
  expect(StatusOf([&] { MakeServerCredentials({.client_certificates = true}); }),
         Code::kInvalidArgument, "one of its own");
  // Without this a server that is meant to be secure would speak plain text.
  expect(StatusOf([&] { MakeServerCredentials({.ca_file = text}); }), Code::kInvalidArgument,
         "a CA file but no certificate");
}

TEST_F(CredentialsTest, EnvironmentNamesTheFiles) {
  setenv("SEXTANT_TLS_CA", "a", 1);
  setenv("SEXTANT_TLS_CLIENTS", "1", 1);
  setenv("SEXTANT_TOKEN_FILE", "t", 1);
  const CredentialOptions options = CredentialsFromEnvironment();
  unsetenv("SEXTANT_TLS_CA");
  unsetenv("SEXTANT_TLS_CLIENTS");
  unsetenv("SEXTANT_TOKEN_FILE");
  EXPECT_EQ(options.ca_file, "a");
  EXPECT_EQ(options.cert_file, "");
  EXPECT_EQ(options.token_file, "t");
  EXPECT_TRUE(options.client_tls() && options.guarded());
  EXPECT_FALSE(options.server_tls());
  EXPECT_FALSE(CredentialsFromEnvironment().guarded());
}

}  // namespace
}  // namespace sextant::net
