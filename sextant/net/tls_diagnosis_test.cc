#include "sextant/net/tls_diagnosis.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "sextant/base/temporary_directory.h"
#include "sextant/net/channel.h"
#include "sextant/testing/certificates.h"
#include "sextant/testing/echo_server.h"

namespace sextant::net {
namespace {

using Validity = CertificateAuthority::Validity;

class TlsTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  // Whose certificate "signer" has signed and who trusts our CA.
  CredentialOptions Identity(const CertificateAuthority& signer, const std::string& name,
                             Validity validity = Validity::kNow) {
    const auto pair = signer.Issue(name, validity);
    return {.ca_file = Write(name + "_ca.pem", ours_.certificate()),
            .cert_file = Write(name + ".pem", pair.certificate),
            .key_file = Write(name + ".key", pair.key)};
  }
  CredentialOptions Trusting(const CertificateAuthority& authority) {
    return {.ca_file = Write("trusted.pem", authority.certificate())};
  }

  void ExpectWorks(const EchoServer& server, const CredentialOptions& credentials) {
    std::string answer;
    const grpc::Status status = Echo(server.address(), credentials, "hello", &answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(answer, "hello");
    EXPECT_EQ(DiagnoseTls(server.address(), credentials), std::nullopt);
  }
  void ExpectRefused(const EchoServer& server, const CredentialOptions& credentials,
                     const std::string& reason) {
    const auto start = std::chrono::steady_clock::now();
    std::string answer;
    const grpc::Status status = Echo(server.address(), credentials, "hello", &answer);
    EXPECT_EQ(HindranceOf(status), Hindrance::kHandshake) << status.error_message();
    const std::string diagnosis = DiagnoseTls(server.address(), credentials).value_or("nothing");
    EXPECT_NE(diagnosis.find(reason), std::string::npos) << diagnosis;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  }

  TemporaryDirectory directory_;
  const CertificateAuthority ours_{"our CA"}, other_{"another CA"};
};

TEST_F(TlsTest, ServerCertificate) {
  const EchoServer server(Identity(ours_, "server"));
  ExpectWorks(server, Trusting(ours_));
  ExpectRefused(server, Trusting(other_), "its certificate is not accepted: unable to get");
  ExpectRefused(server, {}, "it speaks TLS");
}

TEST_F(TlsTest, ExpiredServerCertificate) {
  const EchoServer server(Identity(ours_, "server", Validity::kExpired));
  ExpectRefused(server, Trusting(ours_),
                "its certificate is not accepted: certificate has expired");
}

TEST_F(TlsTest, PlainServer) {
  const EchoServer server;
  ExpectWorks(server, {});
  ExpectRefused(server, Trusting(ours_), "it does not speak TLS");
}

TEST_F(TlsTest, ClientCertificate) {
  CredentialOptions strict = Identity(ours_, "server");
  strict.client_certificates = true;
  const EchoServer server(strict);
  ExpectWorks(server, Identity(ours_, "client"));
  ExpectRefused(server, Trusting(ours_), "it asks for a certificate of ours");
  ExpectRefused(server, Identity(other_, "stranger"), "is it signed by the CA");
  ExpectRefused(server, Identity(ours_, "late", Validity::kExpired), "which has expired");
  ExpectRefused(server, {}, "it speaks TLS");
}

TEST_F(TlsTest, NobodyListens) {
  int port = 0;
  { port = EchoServer().port(); }
  const std::string address = "127.0.0.1:" + std::to_string(port);
  EXPECT_EQ(DiagnoseTls(address, {}), std::nullopt);
  EXPECT_EQ(DiagnoseTls(address, Trusting(ours_)), std::nullopt);
}

}  // namespace
}  // namespace sextant::net
