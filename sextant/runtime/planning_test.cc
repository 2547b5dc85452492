// Deadlines and cancellation cover planning.
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <sstream>

#include "sextant/sextant.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

// Called by the shape function of TestInferred, so while a Plan is made.
std::function<void()> while_planning;

class PlanningTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    OpRegistry::Global().Add(OpDef("TestInferred")
                                 .Inputs("x:float")
                                 .Outputs("y:float")
                                 .Doc("Nothing; for tests.")
                                 .Shape([](ShapeContext& ctx) {
                                   if (while_planning) while_planning();
                                   ctx.set_output(0, ctx.input(0));
                                 }));
  }
  ~PlanningTest() override { while_planning = nullptr; }

  Output Inferred(Output x) { return OpBuilder("TestInferred").Input(x).Build(); }
  Status RunError(Session& session, Output x, Output y, const RunOptions& options) {
    try {
      session.Run({{x, Tensor(1.0f)}}, y, options);
    } catch (const Error& e) {
      return e.status();
    }
    return Status();
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

// The value of a node that waits is known without running it; what reads it waits as before.
TEST_F(PlanningTest, KnownValuesKeepTheirOrder) {
  for (const bool constant : {false, true}) {
    const Variable v(constant ? "a" : "b", Tensor(1));
    const Output x = Placeholder(DType::kFloat, Shape{3, 4});
    Output known;
    {
      const ControlDependencies after({v.Assign(Const(Tensor(2)))});
      known = constant ? Const(Tensor::Of<int32_t>({3, 4})) : ShapeOf(x);
    }
    const Output count = Prod(known + 1, {0});  // of a known value: known
    Output read;
    {
      const ControlDependencies after({count});
      read = ReadVariable(v.handle());
    }
    for (const bool parallel : {false, true}) {
      Session session(graph_, {.threads = parallel ? 4 : 1});
      session.Run(GlobalVariablesInitializer());
      const auto got =
          session.Run({{x, Tensor(DType::kFloat, Shape{3, 4})}}, std::vector{count, read});
      EXPECT_EQ(got[0].scalar<int32_t>(), 20);
      EXPECT_EQ(got[1].scalar<int32_t>(), 2);
    }
  }
}

// The op has no kernel: a planning that went on would end with NOT_FOUND.
TEST_F(PlanningTest, CancellationEndsIt) {
  const Output x = Placeholder(DType::kFloat, Shape());
  const Output y = Neg(Inferred(x));
  Session session(graph_);
  EXPECT_EQ(RunError(session, x, y, {}).code(), Code::kNotFound);
  CancellationToken token;
  while_planning = [&] { token.Cancel(); };
  EXPECT_EQ(RunError(session, x, y, {.cancellation = &token}).code(), Code::kCancelled);
  while_planning = [&] { session.Close(); };
  EXPECT_EQ(RunError(session, x, y, {}).code(), Code::kCancelled);
  EXPECT_EQ(session.num_plans(), 0);
}

// Each of the calls would bring a node of its body along.
TEST_F(PlanningTest, CancellationEndsAPass) {
  std::string text =
      "node { name: 'y0' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n";
  for (int i = 1; i <= 50; ++i) {
    text += fmt::format("node {{ name: 'y{}' op: 'f' input: 'y{}' }}\n", i, i - 1);
  }
  ImportGraphDefText(
      text +
          "library { function { signature { name: 'f' input_arg { name: 'x' type: DT_FLOAT } "
          "output_arg { name: 'y' type: DT_FLOAT } } node_def { name: 'n' op: 'TestInferred' "
          "input: 'x' } ret { key: 'y' value: 'n:y:0' } } }",
      graph_);
  const Output x = graph_.FindOutput("y0:0"), y = graph_.FindOutput("y50:0");
  Session session(graph_);
  CancellationToken token;
  int inferred = 0;
  while_planning = [&] {
    if (++inferred == 5) token.Cancel();
  };
  EXPECT_EQ(RunError(session, x, y, {.cancellation = &token}).code(), Code::kCancelled);
  EXPECT_LT(inferred, 10);
}

TEST_F(PlanningTest, DeadlinesEndIt) {
  const Output x = Placeholder(DType::kFloat, Shape());
  Output y = x;
  for (int i = 0; i < 100; ++i) y = Neg(Inferred(y));
  while_planning = [] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  Session session(graph_);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(RunError(session, x, y, {.deadline = std::chrono::milliseconds(20)}).code(),
            Code::kDeadlineExceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(900));
}

TEST_F(PlanningTest, LargeGraphsTakeNoLongerThanAllowed) {
  const Output x = Placeholder(DType::kFloat, Shape());
  Output y = x;
  for (int i = 0; i < 200'000; ++i) y = Neg(y);
  Session session(graph_);
  EXPECT_EQ(RunError(session, x, y, {.deadline = std::chrono::milliseconds(1)}).code(),
            Code::kDeadlineExceeded);
  EXPECT_EQ(session.num_plans(), 0);
}

// A node named 'op<i>' for every line "op input input …", where '#' stands for i.
std::string Nodes(const std::vector<std::string>& lines, const std::string& attrs, int i) {
  std::string text;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::string op, input;
    words >> op;
    text += fmt::format("node {{ name: '{}{}' op: '{}' ", op, i, op);
    while (words >> input) {
      if (const size_t at = input.find('#'); at != input.npos) {
        input.replace(at, 1, std::to_string(i));
      }
      text += fmt::format("input: '{}' ", input);
    }
    text += attrs + "}\n";
  }
  return text;
}

// 200,000 nodes, half of them of reference variables, half of v1 loops.
TEST_F(PlanningTest, LargeGraphsOfTensorFlow1TakeNoLongerThanAllowed) {
  const std::string type = "attr { key: 'T' value { type: DT_FLOAT } } ";
  const std::string shape =
      "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape { } } } ";
  std::string text = "node { name: 'x' op: 'Placeholder' " + shape + "}\n", results[2];
  for (int i = 0; i < 25'000; ++i) {
    text += Nodes({"VariableV2"}, shape, i) +
            Nodes({"Identity VariableV2#", "AssignAdd VariableV2# x", "Neg Identity# ^AssignAdd#"},
                  type, i);
    results[0] += fmt::format("input: '^Neg{}' ", i);
  }
  for (int i = 0; i < 12'500; ++i) {
    const std::string frame = fmt::format("attr {{ key: 'frame_name' value {{ s: 'f{}' }} }} ", i);
    text += Nodes({"Enter x"}, type + frame, i) +
            Nodes({"Merge Enter# NextIteration#"}, type + "attr { key: 'N' value { i: 2 } } ", i) +
            Nodes({"LoopCond Less#"}, "", i) +
            Nodes({"Less Merge# Merge#", "Switch Merge# LoopCond#", "Abs Switch#:1",
                   "NextIteration Abs#", "Exit Switch#"},
                  type, i);
    results[1] += fmt::format("input: '^Exit{}' ", i);
  }
  for (int i = 0; i < 2; ++i) {
    text += fmt::format("node {{ name: 'all{}' op: 'NoOp' {}}}\n", i, results[i]);
  }
  ImportGraphDefText(text, graph_);
  Session session(graph_);
  for (const char* name : {"all0", "all1"}) {
    const std::clock_t begin = std::clock();  // processor time: others may be at work
    const Status status = StatusOf([&] {
      session.Run({{graph_.FindOutput("x:0"), Tensor(1.0f)}}, graph_.FindOperation(name),
                  {.deadline = std::chrono::milliseconds(50)});
    });
    EXPECT_EQ(status.code(), Code::kDeadlineExceeded) << name << ": " << status.ToString();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, 2.0) << name;  // about 0.2
  }
}

}  // namespace
}  // namespace sextant
