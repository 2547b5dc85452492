// Loops, branches, lists and arrays on other tasks than the session's: they train and compute what
// they do in one process, bit for bit, and what a task keeps of a Run is forgotten.
#include <gtest/gtest.h>

#include <map>

#include "sextant/sextant.h"
#include "sextant/testing/local_cluster_fixture.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class ClusterLoopsTest : public LocalClusterFixture {
 protected:
  static constexpr char kWorker1[] = "/job:worker/replica:0/task:1";

  ClusterLoopsTest() : LocalClusterFixture({kWorker1}) {}

  // Runs "step" three times in one process and on the cluster, then fetches.
  void ExpectTheBitsOfOneProcess(const FeedMap& feeds, const std::vector<Operation>& step,
                                 const std::vector<Output>& fetches) {
    Session alone(graph_), clustered(graph_, {}, cluster_.environment(0));
    for (Session* session : {&alone, &clustered}) session->Run(GlobalVariablesInitializer());
    for (int run = 0; run < 3; ++run) {
      const auto expected = alone.Run(feeds, fetches, step);
      const auto results = clustered.Run(feeds, fetches, step);
      for (size_t i = 0; i < results.size(); ++i)
        ASSERT_TRUE(results[i].Identical(expected[i]))
            << i << ": " << results[i].ToString() << " for " << expected[i].ToString();
    }
    ExpectNothingKept();
  }
  void ExpectNothingKept() {
    EXPECT_EQ(cluster_.running(), 0);
    for (size_t task = 0; task < 4; ++task) EXPECT_EQ(cluster_.kept_runs(task), 0u) << task;
  }
};

// v = x; three times: v = tanh(v * w)
Output TanhLoop(Output x, const Variable& w) {
  return While([](const std::vector<Output>& v) { return Less(v[0], Const(Tensor(3))); },
               [&](const std::vector<Output>& v) {
                 return std::vector<Output>{v[0] + Const(Tensor(1)), Tanh(v[1] * w.value())};
               },
               {Const(Tensor(0)), x})[1];
}

TEST_F(ClusterLoopsTest, LoopsTrainOnAnyTask) {
  const Variable w = VariableOn(kPs0, "w", Tensor(0.5f));
  const Output x = Placeholder(DType::kFloat, {}, "x");
  for (const char* task : {kWorker1, kPs0, kPs1, kHere, ""}) {
    SCOPED_TRACE(task);
    const Output y = On(task, [&] { return TanhLoop(x, w); });
    const Operation inside = [&] {
      const DeviceScope on(kPs1);  // the gradient stays with the loop
      return train::GradientDescent({.learning_rate = 0.1f}).Minimize(y);
    }();
    const Operation outside = train::GradientDescent({.learning_rate = 0.1f}).Minimize(y * 2.0f);
    for (const Operation& step : {inside, outside}) {
      ASSERT_NO_FATAL_FAILURE(
          ExpectTheBitsOfOneProcess({{x, Tensor(1.5f)}}, {step}, {y, w.value()}));
    }
    ASSERT_NO_FATAL_FAILURE(
        ExpectTheBitsOfOneProcess({{x, Tensor(1.5f)}}, {}, {Gradients({y}, {x})[0].dense()}));
  }
}

// The loss is computed elsewhere than the loop and its gradient, from several of them.
TEST_F(ClusterLoopsTest, LoopsOfSeveralTasksTrainTogether) {
  const Variable w = VariableOn(kPs0, "w", Tensor(0.5f)), v = VariableOn(kPs1, "v", Tensor(2.0f));
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output a = On(kWorker1, [&] { return TanhLoop(x, w) * v.value(); });
  const Output b = On(kPs1, [&] { return TanhLoop(Square(a), v); });
  const Output c = On(kWorker1, [&] { return TanhLoop(a + b, w); });
  const Operation step = train::GradientDescent({.learning_rate = 0.1f}).Minimize(Square(c) + b);
  ExpectTheBitsOfOneProcess({{x, Tensor(1.5f)}}, {step}, {a, b, c, w.value(), v.value()});
}

TEST_F(ClusterLoopsTest, NestedLoopsTrain) {
  const Variable w = VariableOn(kPs0, "w", Tensor(0.5f)), v = VariableOn(kPs1, "v", Tensor(2.0f));
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output y = On(kWorker1, [&] {
    return While(
        [](const std::vector<Output>& l) { return Less(l[0], Const(Tensor(2))); },
        [&](const std::vector<Output>& l) {
          return std::vector<Output>{l[0] + Const(Tensor(1)), TanhLoop(l[1], w) * v.value()};
        },
        {Const(Tensor(0)), x})[1];
  });
  const Operation step = train::GradientDescent({.learning_rate = 0.1f}).Minimize(Square(y));
  ExpectTheBitsOfOneProcess({{x, Tensor(1.5f)}}, {step}, {y, w.value(), v.value()});
}

TEST_F(ClusterLoopsTest, BranchesTrain) {
  const Variable w = VariableOn(kPs0, "w", Tensor(0.5f));
  const Output x = Placeholder(DType::kFloat, {}, "x");
  for (const char* task : {kWorker1, kPs0}) {
    SCOPED_TRACE(task);
    const Output y = On(task, [&] {
      return Cond(
          Greater(x, Const(Tensor(0.0f))),
          [&] { return std::vector<Output>{TanhLoop(Tanh(w.value() * x), w)}; },
          [&] { return std::vector<Output>{Square(w.value())}; })[0];
    });
    const Operation step = train::GradientDescent({.learning_rate = 0.1f}).Minimize(y * 2.0f);
    for (const float value : {1.0f, -1.0f}) {
      ASSERT_NO_FATAL_FAILURE(
          ExpectTheBitsOfOneProcess({{x, Tensor(value)}}, {step}, {y, w.value()}));
    }
  }
}

// while (v < 10) v = v * w, from v = x on, in the ops of TensorFlow 1
std::string MultiplyingLoop(const std::string& device) {
  std::string text;
  const auto node = [&](const std::string& name, const std::string& op,
                        const std::vector<std::string>& inputs, const std::string& attrs = "") {
    text += fmt::format("node {{ name: '{}' op: '{}' device: '{}' ", name, op, device);
    for (const std::string& input : inputs) text += fmt::format("input: '{}' ", input);
    const bool typed = op != "LoopCond";
    text += (typed ? "attr { key: 'T' value { type: DT_FLOAT } } " : "") + attrs + "}\n";
  };
  const std::string frame = "attr { key: 'frame_name' value { s: 'f' } } ";
  const std::string constant = frame + "attr { key: 'is_constant' value { b: true } } ";
  node("enter", "Enter", {"x"}, frame);
  node("w_in", "Enter", {"w"}, constant);
  node("most_in", "Enter", {"most"}, constant);
  node("merge", "Merge", {"enter", "next"}, "attr { key: 'N' value { i: 2 } } ");
  node("less", "Less", {"merge", "most_in"});
  node("cond", "LoopCond", {"less"});
  node("switch", "Switch", {"merge", "cond"});
  node("product", "Mul", {"switch:1", "w_in"});
  node("next", "NextIteration", {"product"});
  node("exit", "Exit", {"switch"});
  return text;
}

TEST_F(ClusterLoopsTest, LoopsOfTensorFlow1HaveGradients) {
  std::string placeholders;
  for (const char* name : {"x", "w", "most"}) {
    placeholders += fmt::format(
        "node {{ name: '{}' op: 'Placeholder' attr {{ key: 'dtype' value {{ type: DT_FLOAT }} }} "
        "attr {{ key: 'shape' value {{ shape {{ }} }} }} }}\n",
        name);
  }
  ImportGraphDefText(placeholders + MultiplyingLoop(kPs1), graph_);
  const Output x = graph_.FindOutput("x:0"), w = graph_.FindOutput("w:0");
  const auto gradients = Gradients({graph_.FindOutput("exit:0")}, {x, w});
  const FeedMap feeds = {
      {x, Tensor(1.5f)}, {w, Tensor(2.0f)}, {graph_.FindOutput("most:0"), Tensor(10.0f)}};
  ExpectTheBitsOfOneProcess(feeds, {}, {gradients[0].dense(), gradients[1].dense()});
  Session session(graph_, {}, cluster_.environment(0));
  const int before = cluster_.calls();
  // 12 = x w^3
  EXPECT_EQ(session.Run(feeds, gradients[0].dense()).scalar<float>(), 8.0f);
  EXPECT_EQ(session.Run(feeds, gradients[1].dense()).scalar<float>(), 18.0f);
  EXPECT_GT(cluster_.calls(), before);
}

// Two towers, in one graph, that share the variables of the servers.
TEST_F(ClusterLoopsTest, RecurrentNetworksTrain) {
  graph_.set_seed(7);
  const Output x = Placeholder(DType::kFloat, PartialShape({2, 3, 4}), "x");
  const std::map<std::string, std::vector<std::string>> spec = {{"ps", {"a:1", "b:1"}},
                                                                {"worker", {"c:1", "d:1"}}};
  std::vector<Output> losses;
  for (const char* worker : {"/job:worker/task:0", "/job:worker/task:1"}) {
    const DeviceScope on(train::ReplicaDeviceSetter(spec, {.worker_device = worker}));
    const VariableScope scope("rnn", Reuse::kAuto);
    const auto cell = rnn::BasicLstmCell({.units = 5});
    losses.push_back(ReduceMean(Square(rnn::DynamicRnn(cell, x).outputs)));
  }
  const Output loss = AddN(losses);
  std::vector<Output> fetches = {loss};
  for (const Variable& variable : CollectedVariables()) fetches.push_back(variable.value());
  const Operation step = train::GradientDescent({.learning_rate = 0.1f}).Minimize(loss);
  Tensor feed(DType::kFloat, {2, 3, 4});
  for (int i = 0; i < 24; ++i) feed.data<float>()[i] = 0.1f * static_cast<float>(i % 5);
  ExpectTheBitsOfOneProcess({{x, feed}}, {step}, fetches);
}

Output Scalars() { return Const(Tensor::FromVector(std::vector<int32_t>{})); }

// A list of a server, of which this task computes an index from its length.
TEST_F(ClusterLoopsTest, ListsStayOnTheirTask) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const DeviceScope on(kPs0);
  Output list = EmptyTensorList(Scalars(), DType::kFloat);
  for (int i = 0; i < 3; ++i) list = TensorListPushBack(list, x * static_cast<float>(i + 1));
  const Output length = TensorListLength(list);
  const Output last = On(kHere, [&] { return length - Const(Tensor(1)); });
  const Output item = TensorListGetItem(list, last, Scalars(), DType::kFloat);
  Session session(graph_, {}, cluster_.environment(0));
  EXPECT_EQ(session.Run({{x, Tensor(5.0f)}}, item).scalar<float>(), 15.0f);
  ExpectTheBitsOfOneProcess({{x, Tensor(5.0f)}}, {}, {item, last});
  // What is changed later is not what was kept.
  const Output changed = TensorListSetItem(list, last, Exp(item));
  const Output stacked = TensorListStack(changed, Scalars(), DType::kFloat);
  const Output again = TensorListGetItem(list, last, Scalars(), DType::kFloat);
  ExpectTheBitsOfOneProcess({{x, Tensor(0.5f)}}, {}, {stacked, again});
}

TEST_F(ClusterLoopsTest, ArraysStayOnTheirTask) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const DeviceScope on(kPs0);
  const TensorArrayOutputs array = TensorArrayV3(Const(Tensor(2)), DType::kFloat);
  Output flow = TensorArrayWriteV3(array.handle, Const(Tensor(0)), Const(Tensor(3.0f)), array.flow);
  const Output first = TensorArraySizeV3(array.handle, flow);
  const Output here = On(kHere, [&] {
    return x * OpBuilder("Cast").Input(first).Attr("DstT", DType::kFloat).Build();
  });
  flow = TensorArrayWriteV3(array.handle, Const(Tensor(1)), here, flow);
  const Output all =
      TensorArrayGatherV3(array.handle, Const(Tensor::Of<int32_t>({0, 1})), flow, DType::kFloat);
  Session session(graph_, {}, cluster_.environment(0));
  const Tensor result = session.Run({{x, Tensor(5.0f)}}, all);
  EXPECT_TRUE(result.Identical(Tensor::Of<float>({3.0f, 10.0f}))) << result.ToString();
  ExpectNothingKept();
  const Output loss = On(kHere, [&] { return ReduceSum(Square(all)); });  // 9 + (2 x)^2
  const Output gradient = Gradients({loss}, {x})[0].dense();
  ExpectTheBitsOfOneProcess({{x, Tensor(5.0f)}}, {}, {gradient});
  EXPECT_EQ(session.Run({{x, Tensor(5.0f)}}, gradient).scalar<float>(), 40.0f);
}

TEST_F(ClusterLoopsTest, WhatIsKeptIsForgottenWhenARunFails) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const DeviceScope on(kPs0);
  const Output list = TensorListPushBack(EmptyTensorList(Scalars(), DType::kFloat), x);
  const Output length = TensorListLength(list);
  const Output index = On(kHere, [&] { return length + Const(Tensor(5)); });
  const Output item = TensorListGetItem(list, index, Scalars(), DType::kFloat);
  Session session(graph_, {}, cluster_.environment(0));
  const Status status = StatusOf([&] { session.Run({{x, Tensor(5.0f)}}, item); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.message();
  EXPECT_NE(status.message().find("on /job:ps/task:0"), std::string::npos) << status.message();
  EXPECT_EQ(cluster_.calls(), 2);
  ExpectNothingKept();
}

TEST_F(ClusterLoopsTest, ListsDoNotLeaveTheirTask) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output list =
      On(kPs0, [&] { return TensorListPushBack(EmptyTensorList(Scalars(), DType::kFloat), x); });
  for (const char* task : {kPs1, kHere}) {
    const Output length = On(task, [&] {
      return OpBuilder("TensorListLength").Input(list).Name(std::string("length")).Build();
    });
    Session session(graph_, {}, cluster_.environment(0));
    const Status status = StatusOf([&] { session.Run({{x, Tensor(5.0f)}}, length); });
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.message();
    EXPECT_NE(status.message().find("[TensorListLength length"), std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find(kPs0), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace sextant
