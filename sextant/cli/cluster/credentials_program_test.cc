// Credentials that are of no use, given to `sextant server` and `sextant status` as programs.
#include <gtest/gtest.h>

#include <fstream>

#include "sextant/base/child_process.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/testing/certificates.h"

namespace sextant::cli {
namespace {

constexpr char kSextantProgram[] = SEXTANT_BINARY_DIR "/bin/sextant";

class CredentialsProgramTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  // Both commands end as they do for a wrong flag, at once.
  static void ExpectExitWithTwo(const std::vector<std::string>& options,
                                const std::vector<std::string>& why) {
    for (std::vector<std::string> words : std::vector<std::vector<std::string>>{
             {kSextantProgram, "server", "--cluster_spec", "w|127.0.0.1:0", "--job_name", "w"},
             {kSextantProgram, "status", "grpc://127.0.0.1:1"}}) {
      const std::string command = words[1];
      words.insert(words.end(), options.begin(), options.end());
      const ProcessResult result = RunProcess({.arguments = words}, "", std::chrono::seconds(60));
      EXPECT_EQ(result.status.code, 2) << command << ": " << result.error;
      for (const std::string& part : why)
        EXPECT_NE(result.error.find(part), std::string::npos) << command << ": " << result.error;
    }
  }
  TemporaryDirectory directory_;
};

TEST_F(CredentialsProgramTest, FilesOfTls) {
  const CertificateAuthority authority("test");
  const CertificateAuthority::Pair pair = authority.Issue("task"), other = authority.Issue("other");
  const std::string ca = Write("ca.pem", authority.certificate()),
                    cert = Write("cert.pem", pair.certificate), key = Write("key", pair.key),
                    stranger = Write("stranger.key", other.key),
                    encrypted = Write("encrypted.key", EncryptKey(pair.key, "secret"));
  const auto options = [](const std::string& root, const std::string& certificate,
                          const std::string& own_key) {
    return std::vector<std::string>{"--tls_ca",  root,        "--tls_cert",
                                    certificate, "--tls_key", own_key};
  };
  ExpectExitWithTwo(options(ca, cert, stranger), {cert, stranger, "is not that of"});
  ExpectExitWithTwo(options(ca, key, cert), {cert, key, "swap them"});
  ExpectExitWithTwo(options(key, cert, key), {key, "no certificate"});
  ExpectExitWithTwo(options(ca, cert, encrypted), {encrypted, "is encrypted"});
}

TEST_F(CredentialsProgramTest, Tokens) {
  for (const std::string& token : {std::string("s\xc3\xa9"), std::string(200'000, 'x')}) {
    const std::string path = Write("token", token);
    ExpectExitWithTwo({"--token_file", path}, {path, "a token is one line of"});
  }
}

}  // namespace
}  // namespace sextant::cli
