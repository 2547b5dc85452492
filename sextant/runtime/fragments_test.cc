#include "sextant/runtime/fragments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/update_mark.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/runtime/fragment_groups.h"
#include "sextant/sextant.h"

namespace sextant {
namespace {

constexpr char kHere[] = "/job:worker/replica:0/task:0";
constexpr char kPs0[] = "/job:ps/replica:0/task:0";
constexpr char kPs1[] = "/job:ps/replica:0/task:1";

// A graph whose nodes carry devices as after placement.
class FragmentsTest : public ::testing::Test {
 protected:
  FragmentsTest() : use_(graph_) {}

  static std::string Cpu(std::string_view task) { return std::string(task) + "/device:CPU:0"; }
  Variable VariableOn(std::string_view task, const std::string& name) {
    DeviceScope on(Cpu(task));
    return Variable(name, Tensor::Of<float>({1, 2}));
  }
  Output On(std::string_view task, const std::function<Output()>& build) {
    DeviceScope on(Cpu(task));
    return build();
  }
  static Output Named(const char* op, Output x, const char* name) {
    return OpBuilder(op).Input(x).Name(name).Build();
  }
  // Removes what does not lead to these, and cuts.
  std::vector<std::shared_ptr<const Fragment>> Cut(const std::vector<Output>& fetches,
                                                   const std::vector<Operation>& targets = {}) {
    std::vector<Node*> controls;
    for (const Operation& target : targets) controls.push_back(target.node());
    const bool reads = !fetches.empty();
    Node* sink = graph_.AddNode(
        {.name = "sink",
         .op = graph_.FindOp(reads ? "IdentityN" : "NoOp"),
         .inputs = fetches,
         .control_inputs = controls,
         .attrs = reads ? AttrMap{{"T", std::vector<DType>(fetches.size(), DType::kFloat)}}
                        : AttrMap{}});
    RemoveUnneeded(graph_, {sink});
    return CutFragments(graph_, kHere, {sink});
  }
  static std::vector<std::string> Nodes(const Fragment& fragment) {
    proto::GraphDef def;
    EXPECT_TRUE(def.ParseFromString(fragment.graph_def));
    std::vector<std::string> names;
    for (const auto& node : def.node()) names.push_back(node.name());
    std::ranges::sort(names);
    return names;
  }
  int Count(std::string_view type) const {
    int count = 0;
    for (int id = 0; id < graph_.num_nodes(); ++id) count += graph_.node(id)->type() == type;
    return count;
  }

  Graph graph_;
  GraphScope use_;
};

using Names = std::vector<std::string>;

TEST_F(FragmentsTest, GraphOfOneTaskIsLeftAlone) {
  const Output x = On(kHere, [] { return Placeholder(DType::kFloat, {2}, "x"); });
  EXPECT_TRUE(Cut({Square(x)}).empty());
  EXPECT_EQ(Count("_CallStart"), 0);
}

TEST_F(FragmentsTest, WorkOfAnotherTaskBecomesOneCall) {
  const Output x = Placeholder(DType::kFloat, {2}, "x");
  const Output y = On(kPs0, [&] { return Named("Square", Named("Neg", x, "a"), "b"); });
  const auto fragments = Cut({Exp(y)});
  ASSERT_EQ(fragments.size(), 1u);
  EXPECT_EQ(fragments[0]->task, kPs0);
  EXPECT_EQ(fragments[0]->feeds, Names{"_input_0_0:0"});
  EXPECT_EQ(fragments[0]->fetches, Names{"b:0"});
  EXPECT_EQ(Nodes(*fragments[0]), (Names{"_input_0_0", "a", "b"}));
  EXPECT_EQ(Count("_CallStart"), 1);
  EXPECT_EQ(Count("_CallFinish"), 1);
  EXPECT_EQ(Count("Square"), 0);
}

// A step of an asynchronous worker with two parameter servers: two calls each, and a third on the
// first, which counts the step behind all updates.
TEST_F(FragmentsTest, AsynchronousStepTakesTwoCallsAServerAndOneToCount) {
  const Output ids = Placeholder(DType::kInt32, {-1}, "ids");
  const Variable w = VariableOn(kPs0, "w"), table = VariableOn(kPs1, "table");
  const Variable step = VariableOn(kPs0, "step");
  const Output rows = On(kPs1, [&] { return ResourceGather(table.handle(), ids); });
  const Output read = On(kPs1, [&] { return ReadVariable(table.handle()); });
  const Output weight = On(kPs0, [&] { return ReadVariable(w.handle()); });
  const Output gradient = Exp(weight + Sum(rows, {0}) + read);
  const Output rate = Const(Tensor(0.1f));
  Operation update_w, update_table, both, counted;
  {
    DeviceScope on(Cpu(kPs0));
    update_w = ResourceApplyGradientDescent(w.handle(), rate, gradient);
  }
  {
    DeviceScope on(Cpu(kPs1));
    update_table = ResourceApplyGradientDescent(table.handle(), rate, gradient);
  }
  {
    ControlDependencies after({update_w, update_table});
    both = NoOp("both");
  }
  {
    ControlDependencies after({both});
    DeviceScope on(Cpu(kPs0));
    counted = AssignVariable(step.handle(), Const(Tensor::Of<float>({1, 1})));
  }
  const auto fragments = Cut({}, {counted});
  std::map<std::string, int> calls;
  for (const auto& fragment : fragments) ++calls[fragment->task];
  EXPECT_EQ(calls, (std::map<std::string, int>{{kPs0, 3}, {kPs1, 2}}));
  // Only ids and rows travel, not the table: the gather is where the table is.
  for (const auto& fragment : fragments) {
    if (fragment->task != kPs1 || fragment->feeds.empty()) continue;
    EXPECT_LE(fragment->feeds.size(), 1u);
  }
}

// As a model with batch normalisation: the train op, gradients included, is built behind the moving
// averages, the step is counted behind all. The averages change in the call of the weights.
TEST_F(FragmentsTest, MovingAveragesChangeInTheCallOfTheWeights) {
  const char* servers[] = {kPs0, kPs1};
  std::vector<Variable> weights, averages;
  std::vector<Operation> moved, updated;
  Output activation = Placeholder(DType::kFloat, {2}, "x");
  const Variable step = [] {
    DeviceScope on(Cpu(kPs0));
    return Variable("step", Tensor(int64_t{0}));
  }();
  for (const char* server : servers) {
    weights.push_back(VariableOn(server, std::string("w") + server[23]));
    averages.push_back(VariableOn(server, std::string("m") + server[23]));
    const DeviceScope on(Cpu(server));
    const Output weight = ReadVariable(weights.back().handle());
    const Output average = ReadVariable(averages.back().handle());
    const DeviceScope here(Cpu(kHere));
    activation = Exp(activation * weight);
    const Output change = (average - activation) * 0.1f;
    const DeviceScope beside(Cpu(server));
    moved.push_back(averages.back().AssignSub(change));
  }
  Operation counted;
  {
    const ControlDependencies after(moved);
    const Output rate = On(kPs0, [&] { return ReadVariable(step.handle()); });
    const Output gradient = Square(activation) / Cast(rate + int64_t{1}, DType::kFloat);
    for (size_t i = 0; i < 2; ++i) {
      const DeviceScope on(Cpu(servers[i]));
      updated.push_back(
          ResourceApplyGradientDescent(weights[i].handle(), Const(Tensor(0.1f)), gradient));
    }
    const ControlDependencies behind(updated);
    const Operation both = NoOp("both");
    const ControlDependencies last({both});
    const DeviceScope on(Cpu(kPs0));
    counted = OpBuilder("AssignAddVariableOp")
                  .Input(step.handle())
                  .Input(Const(Tensor(int64_t{1})))
                  .BuildOperation();
  }
  SetUpdateMark(graph_, counted.node(), UpdateMark::kCount);
  MarkUpdatesSince(graph_, 0);
  const auto fragments = Cut({}, {counted});
  std::map<std::string, int> calls;
  for (const auto& fragment : fragments) ++calls[fragment->task];
  EXPECT_EQ(calls, (std::map<std::string, int>{{kPs0, 3}, {kPs1, 2}}));
  // The step is counted when all else has changed.
  const Fragment& last = *fragments.back();
  EXPECT_EQ(last.variables, Names{"step"});
  EXPECT_EQ(last.targets.size(), 1u);
  const Node* start = nullptr;
  for (int id = 0; id < graph_.num_nodes(); ++id) {
    const Node* node = graph_.node(id);
    if (node->type() == "_CallStart" &&
        node->attr<int64_t>("fragment") == static_cast<int64_t>(fragments.size()) - 1)
      start = node;
  }
  ASSERT_NE(start, nullptr);
  std::set<int64_t> waits;
  for (const Node* control : start->control_inputs()) {
    if (control->type() == "_CallFinish") waits.insert(control->attr<int64_t>("fragment"));
  }
  std::set<std::string> updating;  // tasks, each in one call
  for (size_t i = 0; i + 1 < fragments.size(); ++i) {
    const std::string& graph = fragments[i]->graph_def;
    const bool updates = graph.find("ResourceApplyGradientDescent") != std::string::npos;
    EXPECT_EQ(graph.find("AssignSubVariableOp") != std::string::npos, updates);
    if (!updates) continue;
    updating.insert(fragments[i]->task);
    EXPECT_TRUE(waits.contains(static_cast<int64_t>(i))) << i;
  }
  EXPECT_EQ(updating, (std::set<std::string>{kPs0, kPs1}));
}

// Nobody sees a flag before the data: edges that no optimizer has made are kept, all of them.
TEST_F(FragmentsTest, ChangesOfAUserWaitForOtherServers) {
  const Output x = Placeholder(DType::kFloat, {2}, "x");
  const char* servers[] = {kPs1, kPs0, kPs1};
  Operation told;
  for (int i = 0; i < 3; ++i) {
    const Variable variable = VariableOn(servers[i], "v" + std::to_string(i));
    const ControlDependencies after(told ? std::vector<Operation>{told} : std::vector<Operation>{});
    const DeviceScope on(Cpu(servers[i]));
    told = AssignVariable(variable.handle(), x);
  }
  const auto fragments = Cut({}, {told});
  ASSERT_EQ(fragments.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(fragments[i]->variables, Names{"v" + std::to_string(i)});
    if (i == 0) continue;
    const Node* start = graph_.FindNode("_call_start_" + std::to_string(i));
    ASSERT_NE(start, nullptr);
    const auto controls = start->control_inputs();
    const Node* before = graph_.FindNode("_call_finish_" + std::to_string(i - 1));
    EXPECT_EQ(std::ranges::count(controls, before), 1) << i;
  }
}

TEST_F(FragmentsTest, TensorsBetweenOtherTasksGoPastTheCaller) {
  const Output x = Placeholder(DType::kFloat, {2}, "x");
  const Output a = On(kPs0, [&] { return Named("Neg", x, "a"); });
  const Output b = On(kPs1, [&] { return Named("Square", a, "b"); });
  const auto fragments = Cut({b});
  ASSERT_EQ(fragments.size(), 2u);
  EXPECT_EQ(fragments[0]->kept, Names{"a:0"});
  EXPECT_TRUE(fragments[0]->fetches.empty());
  ASSERT_EQ(fragments[1]->kept_inputs.size(), 1u);
  EXPECT_EQ(fragments[1]->kept_inputs[0].task, kPs0);
  EXPECT_EQ(fragments[1]->kept_inputs[0].maker, fragments[0]->fingerprint);
  EXPECT_TRUE(fragments[1]->feeds.empty());
}

TEST_F(FragmentsTest, ConstantsAreCopiedNotSent) {
  const Output two = Const(Tensor(2.0f), "two");
  const Output far = On(kPs0, [] { return Const(Tensor(3.0f), "three"); });
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output y = On(kPs0, [&] { return x * two; });
  const auto fragments = Cut({y + far});
  ASSERT_EQ(fragments.size(), 1u);
  EXPECT_EQ(fragments[0]->feeds.size(), 1u);
  EXPECT_EQ(graph_.FindNode("three")->device(), "");
}

// Of the count of a step, made behind the updates: it is made in the call that counts.
TEST_F(FragmentsTest, ConstantsThatWaitAreNotKept) {
  const Variable w = VariableOn(kPs0, "w"), step = VariableOn(kPs0, "step");
  const Output weight = On(kPs0, [&] { return ReadVariable(w.handle()); });
  Operation counted;
  {
    DeviceScope on(Cpu(kPs0));
    const ControlDependencies behind({Operation(weight.node())});
    const Output one = Const(Tensor::Of<float>({1, 1}));
    ASSERT_FALSE(one.node()->control_inputs().empty());
    const ControlDependencies after({ResourceApplyGradientDescent(
        w.handle(), Const(Tensor(0.1f)), On(kHere, [&] { return Exp(weight); }))});
    counted = AssignVariable(step.handle(), one);
  }
  const auto fragments = Cut({}, {counted});
  ASSERT_EQ(fragments.size(), 2u);
  for (const auto& fragment : fragments) {
    EXPECT_TRUE(fragment->kept.empty());
    EXPECT_TRUE(fragment->kept_inputs.empty());
  }
}

TEST_F(FragmentsTest, CopiesKeepNoDeviceOfAnotherTask) {
  const Output two = On(kPs1, [] { return Const(Tensor(2.0f), "two"); });
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const auto fragments = Cut({On(kPs0, [&] { return x * two; })});
  ASSERT_EQ(fragments.size(), 1u);
  const std::string& def = fragments[0]->graph_def;
  EXPECT_NE(def.find("two"), std::string::npos);
  EXPECT_NE(def.find(kPs0), std::string::npos);
  EXPECT_EQ(def.find(kPs1), std::string::npos);
}

TEST_F(FragmentsTest, FingerprintsDoNotDependOnTheShapesOfARun) {
  const auto fingerprint = [](int64_t batch) {
    Graph graph;
    GraphScope use(graph);
    const Output x = Placeholder(DType::kFloat, {batch, 3}, "x");
    DeviceScope on(Cpu(kPs0));
    const Output y = Named("Square", x, "y");
    Node* sink = graph.AddNode({.name = "sink",
                                .op = graph.FindOp("Identity"),
                                .inputs = {y},
                                .attrs = {{"T", DType::kFloat}}});
    return CutFragments(graph, kHere, {sink}).at(0)->fingerprint;
  };
  EXPECT_EQ(fingerprint(128), fingerprint(7));
}

TEST_F(FragmentsTest, VariablesKeepProgramOrderAcrossFragments) {
  const Variable v = VariableOn(kPs0, "v");
  const Output before = On(kPs0, [&] { return ReadVariable(v.handle()); });
  const Output twice = before * 2.0f;  // here
  Operation assign;
  {
    DeviceScope on(Cpu(kPs0));
    assign = AssignVariable(v.handle(), twice);
  }
  const Output after = On(kPs0, [&] { return ReadVariable(v.handle()); });
  const auto fragments = Cut({after, before}, {assign});
  // The second read stands behind the assignment, which waits for the worker.
  ASSERT_EQ(fragments.size(), 2u);
  EXPECT_EQ(fragments[1]->fetches.size(), 1u);
}

TEST_F(FragmentsTest, ResourcesCannotLeaveTheirTask) {
  const Variable v = VariableOn(kPs0, "v");
  const Output read = On(kPs1, [&] { return ReadVariable(v.handle()); });
  try {
    Cut({read});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_NE(error.message().find(kPs0), std::string::npos) << error.message();
    EXPECT_NE(error.message().find(kPs1), std::string::npos) << error.message();
  }
}

TEST_F(FragmentsTest, CallsStartEarlyAndAreWaitedForLate) {
  const Output x = Placeholder(DType::kFloat, {2}, "x");
  Output here = x;
  for (int i = 0; i < 5; ++i) here = Exp(here);
  const Output far = On(kPs0, [&] { return Square(x); });
  Cut({here + far});
  int start = -1, finish = -1, last_exp = -1;
  for (int id = 0; id < graph_.num_nodes(); ++id) {
    const std::string& type = graph_.node(id)->type();
    if (type == "_CallStart") start = id;
    if (type == "_CallFinish") finish = id;
    if (type == "Exp") last_exp = id;
  }
  EXPECT_EQ(start, 1);  // behind x
  EXPECT_GT(finish, last_exp);
}

}  // namespace
}  // namespace sextant
