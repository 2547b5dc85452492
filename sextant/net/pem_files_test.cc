#include "sextant/net/pem_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "sextant/base/temporary_directory.h"
#include "sextant/net/credentials.h"
#include "sextant/testing/certificates.h"
#include "sextant/testing/status_of.h"

namespace sextant::net {
namespace {

class PemFilesTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  // INVALID_ARGUMENT with all of that in its message, and never with what is in the files.
  static void ExpectRefused(const std::function<void()>& work,
                            const std::vector<std::string>& parts) {
    const Status status = StatusOf(work);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.message();
    for (const std::string& part : parts)
      EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    EXPECT_EQ(status.message().find("BEGIN"), std::string::npos) << status.message();
  }
  // By a server and by a client.
  void ExpectPairRefused(const std::string& cert, const std::string& key,
                         const std::vector<std::string>& parts) {
    const CredentialOptions options{.ca_file = ca_, .cert_file = cert, .key_file = key};
    ExpectRefused([&] { MakeServerCredentials(options); }, parts);
    ExpectRefused([&] { MakeChannelCredentials(options); }, parts);
  }

  TemporaryDirectory directory_;
  const CertificateAuthority authority_{"our CA"};
  const CertificateAuthority::Pair pair_ = authority_.Issue("a"), other_ = authority_.Issue("b");
  const std::string ca_ = Write("ca.pem", authority_.certificate());
  const std::string cert_ = Write("cert.pem", pair_.certificate), key_ = Write("key", pair_.key);
};

TEST_F(PemFilesTest, WhatGoesTogetherIsGivenAsItIs) {
  EXPECT_EQ(ReadCertificates(ca_), authority_.certificate());
  const std::string chain = pair_.certificate + "and a comment\n" + authority_.certificate();
  const KeyPair pair = ReadKeyPair(Write("chain", chain), key_);
  EXPECT_EQ(pair.certificate, chain);
  EXPECT_EQ(pair.key, pair_.key);
  const std::string both = Write("both", pair_.key + pair_.certificate);
  EXPECT_EQ(ReadKeyPair(both, both).key, pair_.key + pair_.certificate);
}

TEST_F(PemFilesTest, KeyOfAnotherCertificate) {
  const std::string other = Write("other.key", other_.key);
  ExpectPairRefused(cert_, other, {cert_, other, "is not that of the certificate"});
  const std::string wrong_order = Write("order", authority_.certificate() + pair_.certificate);
  ExpectPairRefused(wrong_order, key_, {wrong_order, key_, "certificate 2 of", "first"});
}

TEST_F(PemFilesTest, FilesThatAreSwapped) {
  ExpectPairRefused(key_, cert_, {key_, cert_, "swap them"});
  ExpectPairRefused(key_, key_, {key_, "a private key and no certificate"});
  ExpectPairRefused(cert_, cert_, {cert_, "a certificate and no key"});
  const CredentialOptions key_as_ca{.ca_file = key_, .cert_file = cert_, .key_file = key_};
  for (const bool clients : {false, true}) {
    CredentialOptions server = key_as_ca;
    server.client_certificates = clients;
    ExpectRefused([&] { MakeServerCredentials(server); }, {key_, "no certificate"});
  }
  ExpectRefused([&] { MakeChannelCredentials({.ca_file = key_}); }, {key_, "no certificate"});
}

TEST_F(PemFilesTest, EncryptedKeys) {
  const std::string encrypted = Write("encrypted", EncryptKey(pair_.key, "secret"));
  ExpectPairRefused(cert_, encrypted, {encrypted, "encrypted", "openssl pkey"});
}

TEST_F(PemFilesTest, DamagedFiles) {
  const auto half = [](const std::string& text) { return text.substr(0, text.size() / 2); };
  const std::string cert = Write("half.pem", half(pair_.certificate)),
                    second = Write("second", pair_.certificate + half(other_.certificate)),
                    key = Write("half.key", half(pair_.key)), text = Write("text", "nothing");
  ExpectPairRefused(cert, key_, {"certificate 1 of " + cert, "cannot be read"});
  ExpectPairRefused(second, key_, {"certificate 2 of " + second, "cannot be read"});
  ExpectPairRefused(cert_, key, {key, "cannot be read"});
  ExpectPairRefused(text, key_, {text, "no certificate"});
  ExpectPairRefused(cert_, text, {text, "no key"});
}

}  // namespace
}  // namespace sextant::net
