#include "sextant/ops/state/variable.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/device/resource_manager.h"
#include "sextant/device/variable.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class VariableTest : public testing::Test {
 protected:
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(VariableTest, CountsUpToALimit) {
  const Variable n("n", Tensor(int64_t{3}));
  const Output count = OpBuilder("ResourceCountUpTo")
                           .Input(n.handle())
                           .Attr("limit", 5)
                           .Attr("T", DType::kInt64)
                           .Build();
  Session session(graph_);
  session.Run(n.initializer());
  EXPECT_EQ(session.Run(count).AsInt64(), 3);
  EXPECT_EQ(session.Run(count).AsInt64(), 4);
  EXPECT_EQ(StatusOf([&] { session.Run(count); }).code(), Code::kOutOfRange);
  EXPECT_EQ(session.Run(n.value()).AsInt64(), 5);
}

// What reads the variable is planned for the declared shape: Shape and Reshape gave it.
TEST_F(VariableTest, ValuesOfOtherShapesThanTheDeclaredAreRefused) {
  const auto handle = [](PartialShape shape) {
    return OpBuilder("VarHandleOp")
        .Attr("dtype", DType::kFloat)
        .Attr("shape", std::move(shape))
        .Attr("shared_name", "v")
        .Build();
  };
  const Output six = handle({6}), any = handle({});
  const Output x = OpBuilder("Placeholder").Attr("dtype", DType::kFloat).Build();
  const auto assign = [&](Output to) {
    return OpBuilder("AssignVariableOp").Input(to).Input(x).BuildOperation();
  };
  const Operation to_six = assign(six), to_any = assign(any);
  const auto read = [](Output from) {
    return OpBuilder("ReadVariableOp").Input(from).Attr("dtype", DType::kFloat).Build();
  };
  const auto shape_of = [](Output y) { return OpBuilder("Shape").Input(y).Build(); };
  const Output value = read(six), shape = shape_of(value), of_any = shape_of(read(any));
  const Output sizes = Const(Tensor::Of<int32_t>({6}));
  const Output reshaped = OpBuilder("Reshape").Input(value).Input(sizes).Build();
  const Tensor four = Tensor::Of<float>({1, 2, 3, 4});
  Session session(graph_);
  const auto refused = [](const std::function<void()>& run) {
    const Status status = StatusOf(run);
    return status.code() == Code::kInvalidArgument &&
           status.message().find("'v' is declared with shape [6], its value has shape [4]") !=
               std::string::npos;
  };
  EXPECT_TRUE(refused([&] { session.Run({{x, four}}, to_six); }));
  session.Run({{x, four}}, to_any);
  EXPECT_TRUE(session.Run(of_any).Identical(Tensor::Of<int32_t>({4})));
  for (const Output& fetch : {value, shape, reshaped}) {
    EXPECT_TRUE(refused([&] { session.Run(fetch); })) << fetch.name();
  }
}

TEST_F(VariableTest, NamesItsNodesAsTensorFlowDoes) {
  const Variable w("w", Tensor::Of<float>({1, 2}));
  EXPECT_EQ(w.name(), "w");
  EXPECT_EQ(w.initializer().name(), "w/Assign");
  EXPECT_EQ(w.value().node()->name(), "w/Read/ReadVariableOp");
  EXPECT_EQ(w.is_initialized().node()->name(), "w/IsInitialized/VarIsInitializedOp");
  EXPECT_NE(graph_.FindNode("w/Initializer/initial_value"), nullptr);
  EXPECT_EQ(w.shape(), (PartialShape{2}));
  EXPECT_EQ(Variable("w", Tensor(1)).name(), "w_1");
  const NameScope in("tower");
  EXPECT_EQ(Variable("w", Tensor(1)).initializer().name(), "tower/w/Assign");
}

TEST_F(VariableTest, KeepsItsValueFromRunToRun) {
  const Variable counter("counter", Tensor(0));
  const Output next = counter.AssignAdd(Const(Tensor(5)));
  const Output init = counter.is_initialized(), shape = VariableShape(counter.handle());
  const Operation initializer = GlobalVariablesInitializer();
  Session session(graph_);
  EXPECT_FALSE(session.Run(init).scalar<bool>());
  EXPECT_EQ(StatusOf([&] { session.Run(counter.value()); }).code(), Code::kFailedPrecondition);
  EXPECT_EQ(StatusOf([&] { session.Run(shape); }).code(), Code::kNotFound);
  session.Run(initializer);
  EXPECT_EQ(session.Run(next).scalar<int32_t>(), 5);
  EXPECT_EQ(session.Run(next).scalar<int32_t>(), 10);
  EXPECT_EQ(session.Run(counter.value()).scalar<int32_t>(), 10);
  Session other(graph_);
  other.Run(initializer);
  EXPECT_EQ(other.Run(counter.value()).scalar<int32_t>(), 0);
}

TEST_F(VariableTest, WhatWasFetchedOrFedDoesNotChangeWithIt) {
  const Variable w("w", Tensor::Of<float>({1, 2}));
  const Output fed = OpBuilder("Placeholder").Attr("dtype", DType::kFloat).Build();
  const Output assigned = w.Assign(fed), next = w.AssignSub(Const(Tensor::Of<float>({1, 1})));
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  const Tensor value = Tensor::Of<float>({5, 6});
  const Tensor read = session.Run({{fed, value}}, assigned);
  session.Run(Operation(next.node()));
  EXPECT_TRUE(read.Identical(Tensor::Of<float>({5, 6})));
  EXPECT_TRUE(value.Identical(Tensor::Of<float>({5, 6})));
  EXPECT_TRUE(session.Run(w.value()).Identical(Tensor::Of<float>({4, 5})));
}

TEST_F(VariableTest, UpdatesInPlaceOnceNobodyElseHoldsTheValue) {
  const Variable w("w", Tensor::Of<float>({1, 2}));
  const Operation next = OpBuilder("AssignAddVariableOp")
                             .Input(w.handle())
                             .Input(Const(Tensor::Of<float>({1, 1})))
                             .BuildOperation();
  Session session(graph_);
  session.Run(w.initializer());
  session.Run(next);
  const auto variable = session.resources().Lookup<VariableResource>("localhost", "w");
  ASSERT_NE(variable, nullptr);
  const void* home = variable->Read().raw_data();
  session.Run(next);
  EXPECT_EQ(variable->Read().raw_data(), home);
}

TEST_F(VariableTest, RejectsOtherShapesAndTypes) {
  const Variable w("w", Tensor::Of<float>({1, 2}));
  EXPECT_EQ(StatusOf([&] {
              w.Assign(Const(Tensor::Of<float>({1, 2, 3})));
            }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] {
              w.Assign(Const(Tensor::Of<int32_t>({1, 2})));
            }).code(),
            Code::kInvalidArgument);
  const Output fed = OpBuilder("Placeholder").Attr("dtype", DType::kFloat).Build();
  const Output sum = w.AssignAdd(fed);
  Session session(graph_);
  session.Run(w.initializer());
  EXPECT_EQ(StatusOf([&] {
              session.Run({{fed, Tensor(1.0f)}}, sum);
            }).code(),
            Code::kInvalidArgument);
}

TEST_F(VariableTest, DestroyTakesTheValueAway) {
  const Variable w("w", Tensor(1.0f));
  const Operation destroy = OpBuilder("DestroyResourceOp")
                                .Input(w.handle())
                                .Attr("ignore_lookup_error", false)
                                .BuildOperation();
  Session session(graph_);
  EXPECT_EQ(StatusOf([&] { session.Run(destroy); }).code(), Code::kNotFound);
  session.Run(w.initializer());
  session.Run(destroy);
  EXPECT_FALSE(session.Run(w.is_initialized()).scalar<bool>());
}

TEST_F(VariableTest, GetVariableHeedsVariableScopesOnly) {
  const auto zero = [] { return Const(Tensor::Of<float>({0, 0})); };
  const NameScope ignored("tower");
  {
    const VariableScope layer("layer");
    EXPECT_EQ(GetVariable("w", zero).name(), "layer/w");
    EXPECT_EQ(StatusOf([&] { GetVariable("w", zero); }).code(), Code::kInvalidArgument);
  }
  const VariableScope again("layer", Reuse::kTrue);
  const int nodes = graph_.num_nodes();
  const Variable shared = GetVariable("w", zero);
  EXPECT_EQ(shared.initializer().name(), "layer/w/Assign");
  EXPECT_EQ(graph_.num_nodes(), nodes);
  EXPECT_EQ(StatusOf([&] { GetVariable("b", zero); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { GetVariable("w", zero, {.shape = PartialShape{3}}); }).code(),
            Code::kInvalidArgument);
}

TEST_F(VariableTest, GoesToCollections) {
  const Variable w("w", Tensor(1.0f));
  const Variable step("step", Tensor(0), {.trainable = false});
  const CollectionScope extra("extra");
  const Variable local("local", Tensor(0), {.trainable = false, .collections = {kLocalVariables}});
  EXPECT_EQ(CollectedVariables().size(), 2u);
  EXPECT_EQ(CollectedVariables(kTrainableVariables).size(), 1u);
  EXPECT_EQ(CollectedVariables(kLocalVariables)[0].name(), "local");
  EXPECT_EQ(CollectedVariables("extra").size(), 1u);
}

}  // namespace
}  // namespace sextant
