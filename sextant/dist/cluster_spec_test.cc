#include "sextant/dist/cluster_spec.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sextant/testing/status_of.h"

namespace sextant::dist {
namespace {

const ClusterSpec kSpec = {{"ps", {"c:1"}}, {"worker", {"a:2500", "b:2500"}}};

std::string ErrorIn(std::string_view text) {
  const Status status = StatusOf([&] { ParseClusterSpec(text); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
  return status.message();
}

TEST(ClusterSpecTest, ReadsBothForms) {
  EXPECT_EQ(ParseClusterSpec("worker|a:2500;b:2500,ps|c:1"), kSpec);
  EXPECT_EQ(ParseClusterSpec(R"( {"worker": ["a:2500", "b:2500"], "ps": ["c:1"]})"), kSpec);
  EXPECT_EQ(ParseClusterSpec("local|localhost:2222"), (ClusterSpec{{"local", {"localhost:2222"}}}));
  EXPECT_EQ(ParseClusterSpec("a|127.0.0.1:0;127.0.0.1:0").at("a").size(), 2u);
}

TEST(ClusterSpecTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorIn(""), "the cluster spec is empty");
  EXPECT_EQ(ErrorIn("{}"), "the cluster spec has no job");
  EXPECT_EQ(ErrorIn("{nonsense"), "a cluster spec that begins with { is no JSON");
  EXPECT_EQ(ErrorIn("a:2500"), "\"a:2500\" in a cluster spec has no bar between job and addresses");
  EXPECT_EQ(ErrorIn("worker|a"),
            "job worker of a cluster spec: \"a\" is no address host:port: it has no port");
  EXPECT_EQ(ErrorIn("worker|"),
            "job worker of a cluster spec: \"\" is no address host:port: it has no port");
  EXPECT_EQ(ErrorIn("w|a:1,w|b:1"), "a cluster spec names job w twice");
  EXPECT_EQ(ErrorIn(R"({"w": ["a:1"], "v": ["c:1"], "w": ["b:1"]})"),
            "a cluster spec names job w twice");
  EXPECT_EQ(ErrorIn("w|a:1;a:1"), "two tasks of a cluster spec have the address a:1");
  EXPECT_EQ(ErrorIn("w|host:1;HOST:01"), "two tasks of a cluster spec have the address HOST:01");
  EXPECT_EQ(ErrorIn("w|127.0.0.1:1,v|127.1:1"),
            "two tasks of a cluster spec have the address 127.0.0.1:1");
  EXPECT_EQ(ErrorIn("w|[::1]:1;[0:0::1]:1"),
            "two tasks of a cluster spec have the address [0:0::1]:1");
  EXPECT_EQ(ErrorIn(R"({"w": []})"), "job w of a cluster spec has no tasks");
  EXPECT_EQ(ErrorIn(R"({"w": "a:1"})"),
            "job \"w\" of a cluster spec must be a list [\"host:port\", ...]");
  EXPECT_NE(ErrorIn("Worker|a:1").find("no name of a job"), std::string::npos);
  EXPECT_NE(ErrorIn("w|a:65536").find("0 to 65535"), std::string::npos);
  EXPECT_NE(ErrorIn("w|a:-1").find("0 to 65535"), std::string::npos);
  EXPECT_NE(ErrorIn("w|::1:22").find("in brackets"), std::string::npos);
  EXPECT_NE(ErrorIn("w|:22").find("the host is missing"), std::string::npos);
  EXPECT_NE(ErrorIn("w|a:1;").find("no port"), std::string::npos);
}

TEST(ClusterSpecTest, AddressesKeepIpv6InBrackets) {
  EXPECT_EQ(ParseAddress("[::1]:2222").host, "::1");
  EXPECT_EQ(ToString(ParseAddress("[::1]:2222")), "[::1]:2222");
  EXPECT_EQ(ToString(ParseAddress("host.example:80")), "host.example:80");
}

TEST(ClusterSpecTest, FindsATaskOrSaysWhichThereAre) {
  EXPECT_EQ(AddressOf(kSpec, "worker", 1), "b:2500");
  EXPECT_EQ(StatusOf([] { AddressOf(kSpec, "chief", 0); }).message(),
            "the cluster spec has no job chief; it has ps, worker");
  EXPECT_EQ(StatusOf([] { AddressOf(kSpec, "worker", 2); }).message(),
            "job worker has tasks 0 to 1, not 2");
  EXPECT_EQ(TaskName("worker", 1), "/job:worker/replica:0/task:1");
}

TEST(ClusterSpecTest, ListensOnLoopbackForLoopbackAddresses) {
  unsetenv("SEXTANT_BIND");
  EXPECT_EQ(BindAddress({"localhost", 1}).host, "localhost");
  EXPECT_EQ(BindAddress({"127.0.0.2", 1}).host, "127.0.0.2");
  EXPECT_EQ(BindAddress({"::1", 1}).host, "::1");
  for (const char* const host : {"LOCALHOST", "127.1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"})
    EXPECT_EQ(BindAddress({host, 1}).host, host);
  for (const char* const host : {"127.example.org", "128.0.0.1", "::2", "::ffff:10.0.0.1"})
    EXPECT_EQ(BindAddress({host, 1}).host, "0.0.0.0");
  EXPECT_EQ(BindAddress({"worker-0.jobs", 7}).host, "0.0.0.0");
  setenv("SEXTANT_BIND", "10.0.0.1", 1);
  EXPECT_EQ(ToString(BindAddress({"worker-0.jobs", 7})), "10.0.0.1:7");
  unsetenv("SEXTANT_BIND");
}

}  // namespace
}  // namespace sextant::dist
