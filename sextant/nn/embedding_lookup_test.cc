#include "sextant/nn/embedding_lookup.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sextant/sextant.h"
#include "sextant/testing/local_task.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

// Row r is {10 r, 10 r + 1}.
Initializer TenTimes() {
  return [](const Shape& shape, DType) {
    Tensor value(DType::kFloat, shape);
    for (int64_t r = 0; r < shape.dim(0); ++r) {
      value.data<float>()[2 * r] = 10.0f * static_cast<float>(r);
      value.data<float>()[2 * r + 1] = 10.0f * static_cast<float>(r) + 1;
    }
    return Const(value);
  };
}

class EmbeddingLookupTest : public ::testing::Test {
 protected:
  // Parts are on two devices by turns.
  EmbeddingLookupTest() : use_(graph_), spread_(train::LocalDeviceSetter({.num_devices = 2})) {}
  static PartitionedVariable Table(const char* name, int64_t rows, int64_t parts) {
    return GetPartitionedVariable(name, {.shape = {rows, 2}, .initializer = TenTimes()},
                                  FixedSizePartitioner(parts));
  }

  Graph graph_;
  GraphScope use_;
  DeviceScope spread_;
};

TEST_F(EmbeddingLookupTest, PartsGiveTheRowsOfTheWhole) {
  const Output ids = Placeholder(DType::kInt64, PartialShape(), "ids");
  for (const int64_t rows : {5, 6, 7}) {
    for (int64_t parts = 1; parts <= 5; ++parts) {
      const PartitionedVariable table =
          Table(fmt::format("t{}_{}", rows, parts).c_str(), rows, parts);
      const Output found = EmbeddingLookup(table, ids);
      Session session(graph_);
      session.Run(GlobalVariablesInitializer());
      Tensor all(DType::kInt64, {rows, 1});
      std::iota(all.data<int64_t>(), all.data<int64_t>() + rows, 0);
      const Tensor result = session.Run({{ids, all}}, found);
      ASSERT_EQ(result.shape(), Shape({rows, 1, 2}));
      for (int64_t i = 0; i < rows * 2; ++i)
        EXPECT_EQ(result.data<float>()[i],
                  10.0f * static_cast<float>(i / 2) + static_cast<float>(i % 2));
      // Nothing to look up.
      EXPECT_EQ(session.Run({{ids, Tensor(DType::kInt64, {0})}}, found).shape(), Shape({0, 2}));
      EXPECT_EQ(StatusOf([&] {
                  session.Run({{ids, Tensor::Of<int64_t>({rows})}}, found);
                }).code(),
                Code::kInvalidArgument);
    }
  }
}

// As in TensorFlow: embedding_lookup([[0,1],[10,11],[20,21]], [[30,31],[40,41]], mod) of id 3 is
// row 1 of the second part.
TEST_F(EmbeddingLookupTest, ModDealsIdsOut) {
  const PartitionedVariable table = Table("t", 5, 2);
  const Output found = EmbeddingLookup(table, Const(Tensor::Of<int32_t>({3, 0, 4, 2, 1, 3})),
                                       PartitionStrategy::kMod);
  EXPECT_EQ(found.shape(), PartialShape({6, 2}));
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  const Tensor result = session.Run(found);
  const float expected[] = {40, 0, 20, 10, 30, 40};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(result.data<float>()[2 * i], expected[i]) << i;
}

TEST_F(EmbeddingLookupTest, GradientsOfPartsAreSparseAndEqualThoseOfTheWhole) {
  const Output ids = Const(Tensor::Of<int64_t>({4, 1, 4, 0}));
  const PartitionedVariable parts = Table("parts", 5, 2), whole = Table("whole", 5, 1);
  const auto step = [&](const PartitionedVariable& table) {
    const Output loss = Sum(Square(EmbeddingLookup(table, ids)), {0, 1});
    return train::GradientDescentOptimizer(0.125f).Minimize(loss, {.variables = table.parts()});
  };
  const std::vector<Operation> steps = {step(parts), step(whole)};
  for (int id = 0; id < graph_.num_nodes(); ++id)
    EXPECT_NE(graph_.node(id)->type(), "ResourceApplyGradientDescent");
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  for (int i = 0; i < 3; ++i) session.Run({}, {}, steps);
  EXPECT_TRUE(session.Run(parts.value()).Identical(session.Run(whole.value())));
}

TEST_F(EmbeddingLookupTest, SmallTablesInOnePlaceAreJoined) {
  const DeviceScope here("");
  const PartitionedVariable small = Table("small", 5, 2), large = Table("large", 10'000, 2);
  const Output ids = Const(Tensor::Of<int64_t>({4, 1, 4, 0}));
  const Output rows = EmbeddingLookup(small, ids);
  EXPECT_EQ(rows.node()->type(), "GatherV2");
  EXPECT_NE(EmbeddingLookup(large, ids).node()->type(), "GatherV2");
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  EXPECT_EQ(session.Run(rows).data<float>()[0], 40.0f);
}

TEST_F(EmbeddingLookupTest, TablesCutOtherwiseAreRefused) {
  const PartitionedVariable table = GetPartitionedVariable(
      "t", {.shape = {4, 2}, .initializer = TenTimes()}, FixedSizePartitioner(2, 1));
  const Status status = StatusOf([&] { EmbeddingLookup(table, Const(Tensor::Of<int32_t>({1}))); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("'t'"), std::string::npos) << status.message();
}

// A table of 1,000,000 x 16 in two parts on two servers: ids and rows travel, the table does not.
TEST_F(EmbeddingLookupTest, OnlyIdsAndRowsTravel) {
  constexpr int64_t kRows = 1'000'000, kWidth = 16, kIds = 128 * 26;
  LocalCluster cluster(
      {"/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0", "/job:ps/replica:0/task:1"});
  std::vector<Variable> parts;
  for (int i = 0; i < 2; ++i) {
    const DeviceScope on(fmt::format("/job:ps/task:{}", i));
    parts.emplace_back(fmt::format("table/part_{}", i), Variable::Initializer([] {
                         return Fill({kRows / 2, kWidth}, Tensor(0.5f));
                       }));
  }
  const PartitionedVariable table("table", {kRows, kWidth}, 0, parts);
  const Output ids = Placeholder(DType::kInt64, {-1, 26}, "ids");
  const Output rows = EmbeddingLookup(table, ids);
  const Output loss = Sum(Square(rows), {0, 1, 2});
  const Operation step =
      train::GradientDescentOptimizer(0.125f).Minimize(loss, {.variables = parts});
  Session session(graph_, {}, cluster.environment(0)), alone(graph_);
  for (Session* each : {&session, &alone}) each->Run(GlobalVariablesInitializer());
  Tensor batch(DType::kInt64, {128, 26});
  for (int64_t i = 0; i < kIds; ++i) batch.data<int64_t>()[i] = i * 7919 % kRows;
  session.Run({{ids, batch}}, step);
  const int64_t before = cluster.bytes();
  const int calls = cluster.calls();
  session.Run({{ids, batch}}, step);
  // Rows there, their gradients back, ids both times.
  EXPECT_LE(cluster.bytes() - before, 600'000);
  EXPECT_EQ(cluster.calls() - calls, 4);
  for (int i = 0; i < 2; ++i) alone.Run({{ids, batch}}, step);
  const Tensor expected = alone.Run({{ids, batch}}, rows);
  EXPECT_TRUE(session.Run({{ids, batch}}, rows).Identical(expected));
  EXPECT_NE(expected.data<float>()[0], 0.5f);
}

}  // namespace
}  // namespace sextant
