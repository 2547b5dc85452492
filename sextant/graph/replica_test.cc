#include "sextant/graph/replica.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"
#include "sextant/graph/variable_scope_names.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/state/variable.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

using Values = std::vector<int>;

class ReplicaTest : public testing::Test {
 protected:
  Graph graph_;
  const GraphScope use_{graph_};
};

TEST_F(ReplicaTest, RunOneAtATimeFromMergePointToMergePoint) {
  std::vector<std::string> log;
  BuildReplicas(3, [&](int i) {
    Replica& replica = *Replica::Current();
    EXPECT_EQ(replica.index(), i);
    EXPECT_EQ(replica.count(), 3);
    log.push_back("a" + std::to_string(i));
    const int sum = replica.Merge<int, int>("sum", i + 1, [&](const Values& all) {
      EXPECT_EQ(Replica::Current(), nullptr);
      EXPECT_EQ(all, (Values{1, 2, 3}));
      log.push_back("merge");
      return all[0] + all[1] + all[2];
    });
    log.push_back("b" + std::to_string(i));
    EXPECT_EQ(sum, 6);
    EXPECT_EQ(Replica::Current(), &replica);
  });
  EXPECT_EQ(log, (std::vector<std::string>{"a0", "a1", "a2", "merge", "b0", "b1", "b2"}));
  EXPECT_EQ(Replica::Current(), nullptr);
}

TEST_F(ReplicaTest, ReplicaZeroIsNamedAsASingleModel) {
  std::vector<std::string> names(2), layers(2);
  const VariableScope outer("model");
  { const VariableScope before("dense"); }
  BuildReplicas(2,
                [&](int i) {
                  layers[i] = FreeVariableScopeName("dense");
                  const VariableScope layer(layers[i]);
                  const Output x = Const(Tensor(1.0f), "x");
                  names[i] = x.node()->name();
                  EXPECT_EQ(x.node()->device(), i == 0 ? "/device:CPU:0" : "/device:CPU:1");
                },
                {.devices = {"/cpu:0", "/cpu:1"}});
  EXPECT_EQ(layers, (std::vector<std::string>{"dense_1", "dense_1"}));
  EXPECT_EQ(names, (std::vector<std::string>{"model/dense_1/x", "model/replica_1/dense_1/x"}));
}

TEST_F(ReplicaTest, ShareVariables) {
  std::vector<std::vector<std::string>> names(2);
  BuildReplicas(2, [&](int i) {
    {
      const VariableScope layer("layer", Reuse::kFalse);
      names[i].push_back(GetVariable("w", [] { return Const(Tensor(1.0f)); }).name());
    }
    for (const char* scope : {"a", "b"}) {
      const NameScope metric(scope);
      names[i].push_back(Variable("total", Tensor(0.0f)).name());
    }
  });
  EXPECT_EQ(names[0], (std::vector<std::string>{"layer/w", "a/total", "b/total"}));
  EXPECT_EQ(names[1], names[0]);
  EXPECT_EQ(CollectedVariables().size(), 3u);
}

TEST_F(ReplicaTest, KeepCollectionsApart) {
  graph_.AddToCollection("losses", Const(Tensor(0.0f), "before"));
  std::vector<size_t> seen(2);
  BuildReplicas(2, [&](int i) {
    graph_.AddToCollection("losses", Const(Tensor(1.0f), "loss"));
    graph_.AddToCollection("table_initializer", Const(Tensor(1.0f), "init"));
    if (i == 0) Variable("w", Tensor(1.0f));
    seen[i] = graph_.Collection("losses").size();
    EXPECT_EQ(graph_.Collection("table_initializer").size(), i == 0 ? 1u : 2u);
    EXPECT_EQ(CollectedVariables(kTrainableVariables).size(), 1u);
  });
  EXPECT_EQ(seen, (std::vector<size_t>{2, 2}));
  EXPECT_EQ(graph_.Collection("losses").size(), 2u);  // none of replica 1
  EXPECT_EQ(graph_.Collection("table_initializer").size(), 2u);
}

TEST_F(ReplicaTest, MergeAfterTheControlInputsOfAll) {
  Output merged;
  BuildReplicas(2, [&](int) {
    const Output first = Const(Tensor(1.0f), "first");
    const ControlDependencies after({first});
    merged = Replica::Current()->Merge<Output, Output>(
        "product", first, [](const std::vector<Output>& all) { return all[0] * all[1]; });
  });
  ASSERT_EQ(merged.node()->control_inputs().size(), 2u);
  EXPECT_EQ(merged.node()->control_inputs()[0]->name(), "first");
  EXPECT_EQ(merged.node()->control_inputs()[1]->name(), "replica_1/first");
}

TEST_F(ReplicaTest, AFailureEndsAll) {
  for (const int failing : {0, 1, 2}) {
    const std::string message = StatusOf([&] {
                                  BuildReplicas(3, [&](int i) {
                                    const auto first = [](const Values& all) { return all[0]; };
                                    Replica::Current()->Merge<int, int>("point", i, first);
                                    if (i == failing) throw InvalidArgument("replica {} is ill", i);
                                    Replica::Current()->Merge<int, int>("point", i, first);
                                  });
                                }).message();
    EXPECT_EQ(message, "replica " + std::to_string(failing) + " is ill");
    EXPECT_EQ(Replica::Current(), nullptr);
  }
  EXPECT_EQ(StatusOf([&] {
              BuildReplicas(2, [&](int i) {
                Replica::Current()->Merge<int, int>(
                    "point", i, [](const Values&) -> int { throw InvalidArgument("no merge"); });
              });
            }).message(),
            "no merge");
}

TEST_F(ReplicaTest, SayWhereTheyDiffer) {
  const auto first = [](const Values& all) { return all[0]; };
  EXPECT_EQ(StatusOf([&] {
              BuildReplicas(2, [&](int i) {
                if (i == 0) Replica::Current()->Merge<int, int>("the update", i, first);
              });
            }).message(),
            "replica 0 came to the update where replica 1 came to the end: the model function must "
            "build the same for every replica");
  EXPECT_EQ(StatusOf([&] {
              BuildReplicas(2, [&](int i) {
                if (i == 1) Replica::Current()->Merge<int, int>("the update", i, first);
              });
            }).message(),
            "replica 0 came to the end where replica 1 came to the update: the model function must "
            "build the same for every replica");
  EXPECT_EQ(StatusOf([&] {
              BuildReplicas(2, [&](int i) {
                if (i == 1) Variable("mine", Tensor(1.0f));
              });
            }).message(),
            "replica 1 makes a variable 'mine' that replica 0 did not make: the model function "
            "must build the same for every replica");
  EXPECT_EQ(StatusOf([&] { BuildReplicas(2, [](int) {}, {.reduction = "star"}); }).message(),
            "there is no reduction 'star'; there are one_device, tree, ring");
}

}  // namespace
}  // namespace sextant
