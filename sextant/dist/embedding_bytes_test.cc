// What a step of training sends between processes when its table is on parameter servers.
#include <gtest/gtest.h>

#include "sextant/dist/task_status.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

// A table of 1,000,000 x 16 in two parts: rows there, their gradients back, ids both times.
TEST(EmbeddingBytesTest, OnlyIdsAndRowsTravel) {
  constexpr int64_t kRows = 1'000'000, kWidth = 16, kIds = 128 * 26;
  constexpr uint64_t kMostBytes = 600'000;
  for (const bool shared : {false, true}) {
    TestCluster cluster(3, {.shared_frames = shared});
    Graph graph;
    const GraphScope use(graph);
    std::vector<Variable> parts;
    for (int i = 0; i < 2; ++i) {
      const DeviceScope on(fmt::format("/job:ps/task:{}", i + 1));
      parts.emplace_back(fmt::format("table/part_{}", i), Variable::Initializer([] {
                           return RandomUniform({kRows / 2, kWidth}, {.seed = 7});
                         }));
    }
    const PartitionedVariable table("table", {kRows, kWidth}, 0, parts);
    const Output ids = Placeholder(DType::kInt64, {-1, 26}, "ids");
    const Output rows = EmbeddingLookup(table, ids);
    const Operation step = train::Adagrad({.learning_rate = 0.125f})
                               .Minimize(Sum(Square(rows), {0, 1, 2}), {.variables = parts});
    Session session(graph, {.target = cluster.server(0).target()}), alone(graph);
    for (Session* each : {&session, &alone}) each->Run(GlobalVariablesInitializer());
    Tensor batch(DType::kInt64, {128, 26});
    for (int64_t i = 0; i < kIds; ++i) batch.data<int64_t>()[i] = i * i * 7919 % kRows;
    const auto bytes = [&] {
      uint64_t sum = 0;
      const StatusReply status = AskStatus(AddressOfTarget(cluster.server(0).target()), {});
      for (const PeerStatus& peer : status.peers())
        sum += peer.sent_bytes() + peer.received_bytes() + peer.shared_bytes();
      return sum;
    };
    session.Run({{ids, batch}}, step);
    const uint64_t before = bytes();
    session.Run({{ids, batch}}, step);
    const uint64_t travelled = bytes() - before;
    RecordProperty(shared ? "shared_bytes" : "bytes", std::to_string(travelled));
    EXPECT_LE(travelled, kMostBytes);
    EXPECT_GE(travelled, kIds * (2 * kWidth * sizeof(float) + 2 * sizeof(int32_t)));
    for (int i = 0; i < 2; ++i) alone.Run({{ids, batch}}, step);
    for (const Variable& part : parts) {
      EXPECT_TRUE(session.Run(part.value()).Identical(alone.Run(part.value())));
    }
  }
}

}  // namespace
}  // namespace sextant::dist
