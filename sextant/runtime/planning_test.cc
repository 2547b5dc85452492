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
