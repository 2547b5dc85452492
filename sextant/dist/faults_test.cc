// What the network does to calls, and what it must not do to variables.
#include <dirent.h>
#include <gtest/gtest.h>

#include <fstream>

#include "sextant/base/resident_memory.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/testing/certificates.h"
#include "sextant/testing/fault_proxy.h"
#include "sextant/testing/sanitizers.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

int OpenFiles() {
  DIR* directory = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

TEST(FaultsTest, EveryCallCountsOnceHoweverOftenTheConnectionIsCut) {
  constexpr int kCuts = 1000;
  TestCluster cluster(1);
  FaultProxy proxy(cluster.port(0));
  const auto peer = cluster.NewPeer(0, proxy.address());
  const CounterFragments counter(0);
  Call(*peer, counter.init);
  uint64_t random = 7;
  int64_t returned = 0, wrong = 0;
  int files = 0;
  int64_t resident = 0;
  while (proxy.cuts() < kCuts) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto way =
        (random >> 40) % 2 == 0 ? FaultProxy::Way::kToServer : FaultProxy::Way::kToClient;
    // Behind what opens the connection, somewhere in the frames of the call or of its answer.
    const auto part = static_cast<int64_t>(random >> 33);
    proxy.CutAfter(way, way == FaultProxy::Way::kToServer ? 90 + part % 350 : 60 + part % 150);
    const int64_t value = Call(*peer, counter.add).scalar<int64_t>();
    ++returned;
    wrong += value != returned;
    if (proxy.cuts() > kCuts / 10 && files == 0) {
      files = OpenFiles();
      resident = ResidentBytes();
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Call(*peer, counter.read).scalar<int64_t>(), returned);
  EXPECT_LE(OpenFiles(), files + 8);
  if (!kSanitizerKeepsMemory) {
    EXPECT_LT(ResidentBytes(), resident + (int64_t{16} << 20));
  }
}

TEST(FaultsTest, SlowNetworksOnlyTakeTime) {
  TestCluster cluster(1);
  FaultProxy proxy(cluster.port(0));
  const auto peer = cluster.NewPeer(0, proxy.address());
  const CounterFragments counter(0);
  proxy.Set({.delay = std::chrono::milliseconds(20), .bytes_per_second = 100'000});
  Call(*peer, counter.init);
  for (int64_t i = 1; i <= 3; ++i) EXPECT_EQ(Call(*peer, counter.add).scalar<int64_t>(), i);
}

// Credentials of a cluster whose tasks hold certificates.
class SecureClusterTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  net::CredentialOptions Identity(const CertificateAuthority& signer,
                                  CertificateAuthority::Validity validity) {
    const std::string name = "task" + std::to_string(++names_);
    const auto pair = signer.Issue(name, validity);
    return {.ca_file = Write(name + "_ca.pem", ours_.certificate()),
            .cert_file = Write(name + ".pem", pair.certificate),
            .key_file = Write(name + ".key", pair.key)};
  }
  // Of a call with these credentials.
  static Status CallWith(const TestCluster& cluster, const net::CredentialOptions& credentials) {
    const auto start = std::chrono::steady_clock::now();
    const auto peer = std::make_shared<Peer>(PeerOptions{.task = TaskName("ps", 0),
                                                         .address = cluster.spec().at("ps")[0],
                                                         .own_task = "",
                                                         .credentials = credentials});
    const CounterFragments counter(0);
    Status status = StatusOf([&] { Call(*peer, counter.init); });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
    return status;
  }
  static void ExpectRefused(const Status& status, const std::string& why) {
    EXPECT_EQ(status.code(), Code::kUnauthenticated) << status.message();
    EXPECT_NE(status.message().find("/job:ps/task:0"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(why), std::string::npos) << status.message();
  }

  using Validity = CertificateAuthority::Validity;
  TemporaryDirectory directory_;
  int names_ = 0;
  const CertificateAuthority ours_{"our CA"}, other_{"another CA"};
};

TEST_F(SecureClusterTest, MutualTls) {
  net::CredentialOptions credentials = Identity(ours_, Validity::kNow);
  credentials.client_certificates = true;
  const TestCluster cluster(1, {.credentials = credentials});
  EXPECT_TRUE(CallWith(cluster, Identity(ours_, Validity::kNow)).ok());
  ExpectRefused(CallWith(cluster, {.ca_file = credentials.ca_file}), "asks for a certificate");
  ExpectRefused(CallWith(cluster, Identity(other_, Validity::kNow)), "is it signed by the CA");
  ExpectRefused(CallWith(cluster, Identity(ours_, Validity::kExpired)), "expired");
  ExpectRefused(CallWith(cluster, {.ca_file = Write("other.pem", other_.certificate())}),
                "its certificate is not accepted");
  ExpectRefused(CallWith(cluster, {}), "it speaks TLS");
}

TEST_F(SecureClusterTest, ExpiredServer) {
  const TestCluster cluster(1, {.credentials = Identity(ours_, Validity::kExpired)});
  ExpectRefused(CallWith(cluster, {.ca_file = Write("ca.pem", ours_.certificate())}),
                "certificate has expired");
}

TEST_F(SecureClusterTest, Token) {
  const TestCluster cluster(1, {.credentials = {.token_file = Write("token", "right")}});
  EXPECT_TRUE(CallWith(cluster, {.token_file = Write("same", "right")}).ok());
  ExpectRefused(CallWith(cluster, {.token_file = Write("wrong", "left")}), "token");
  ExpectRefused(CallWith(cluster, {}), "token");
}

}  // namespace
}  // namespace sextant::dist
