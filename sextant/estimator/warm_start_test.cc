#include "sextant/estimator/warm_start.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/nn/get_variable.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"
#include "sextant/train/saver.h"

namespace sextant {
namespace {

std::vector<float> Values(Session& session, Output fetch) {
  const Tensor value = session.Run(fetch);
  return {value.flat<float>().begin(), value.flat<float>().end()};
}

// The values of a model: "a" [2], "parts" [4] in two parts, "steps" not trainable.
struct Model {
  explicit Model(float value, int64_t parts = 2, int64_t size = 2) {
    const GraphScope use(graph);
    const Initializer constant = initializers::Constant(value);
    a = GetVariable("net/a", {.shape = {size}, .initializer = constant});
    b = GetPartitionedVariable("net/b", {.shape = {4}, .initializer = constant},
                               FixedSizePartitioner(parts));
    b_value = b.value();
    steps = GetVariable("steps", {.shape = {}, .initializer = constant, .trainable = false});
    init = GlobalVariablesInitializer();
  }
  Graph graph;
  Variable a, steps;
  PartitionedVariable b;
  Output b_value;
  Operation init;
};

class WarmStartTest : public ::testing::Test {
 protected:
  WarmStartTest() {
    Model source(0);
    std::vector<Output> assign;
    {
      const GraphScope use(source.graph);
      assign.push_back(source.a.Assign(Const(Tensor::Of<float>({1.0f, 2.0f}))));
      assign.push_back(source.b.parts()[0].Assign(Const(Tensor::Of<float>({3.0f, 4.0f}))));
      assign.push_back(source.b.parts()[1].Assign(Const(Tensor::Of<float>({5.0f, 6.0f}))));
    }
    Saver saver(source.graph);
    Session session(source.graph);
    session.Run(source.init);
    session.Run(assign);
    saver.Save(session, directory_ + "/model.ckpt", 7);
  }
  ~WarmStartTest() override { FileSystem::ForPath(directory_).DeleteRecursively(directory_); }

  void ExpectError(Model& model, const WarmStart& warm_start, Code code, const std::string& part) {
    Session session(model.graph);
    session.Run(model.init);
    try {
      ApplyWarmStart(warm_start, session);
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    }
  }

  const std::string directory_ = fmt::format("{}warm_start_{}", testing::TempDir(), getpid());
};

TEST_F(WarmStartTest, SetsTrainableVariablesHoweverTheyAreCut) {
  Model model(9, /*parts=*/1);
  Session session(model.graph);
  session.Run(model.init);
  ApplyWarmStart({.checkpoint = directory_}, session);
  EXPECT_EQ(Values(session, model.a), (std::vector<float>{1, 2}));
  EXPECT_EQ(Values(session, model.b_value), (std::vector<float>{3, 4, 5, 6}));
  EXPECT_EQ(session.Run(model.steps).scalar<float>(), 9);
}

TEST_F(WarmStartTest, SetsThoseThatMatch) {
  Model model(9);
  Session session(model.graph);
  session.Run(model.init);
  ApplyWarmStart({.checkpoint = directory_ + "/model.ckpt-7", .variables = "net/b"}, session);
  EXPECT_EQ(Values(session, model.a), (std::vector<float>{9, 9}));
  EXPECT_EQ(Values(session, model.b_value), (std::vector<float>{3, 4, 5, 6}));
}

TEST_F(WarmStartTest, KnowsOtherNames) {
  Graph graph;
  const GraphScope use(graph);
  const Variable w = GetVariable("w", {.shape = {2}});
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  ApplyWarmStart({.checkpoint = directory_, .names = {{"w", "net/a"}}}, session);
  EXPECT_EQ(Values(session, w), (std::vector<float>{1, 2}));
}

TEST_F(WarmStartTest, SaysWhatDoesNotFit) {
  Model model(9);
  ExpectError(model, {.checkpoint = directory_, .variables = "nothing"}, Code::kInvalidArgument,
              "no trainable variable's name matches 'nothing'");
  ExpectError(model, {.checkpoint = directory_, .variables = "("}, Code::kInvalidArgument,
              "no regular expression");
  ExpectError(model, {.checkpoint = directory_ + "/absent"}, Code::kNotFound,
              "neither a checkpoint nor a directory with one");
  ExpectError(model, {.checkpoint = directory_, .names = {{"net/a", "gone"}}}, Code::kNotFound,
              "has no tensor 'gone' for variable 'net/a'");
  Model wider(9, 2, /*size=*/3);
  ExpectError(wider, {.checkpoint = directory_}, Code::kInvalidArgument,
              "variable 'net/a' is float [3], but 'net/a' in checkpoint");
}

}  // namespace
}  // namespace sextant
