// Deadlines and cancellation cover planning.
#include <gtest/gtest.h>

#include <chrono>

#include "sextant/sextant.h"

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

}  // namespace
}  // namespace sextant
