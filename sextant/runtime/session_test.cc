#include "sextant/runtime/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "sextant/sextant.h"

namespace sextant {
namespace {

class SessionTest : public testing::Test {
 protected:
  Output Input(const char* name = "x") { return Placeholder(DType::kFloat, {}, name); }

  // The error that running "fetch" gives.
  Status RunError(Output fetch, const FeedMap& feeds = {}, const SessionOptions& options = {}) {
    Session session(graph_, options);
    try {
      session.Run(feeds, fetch);
    } catch (const Error& e) {
      return e.status();
    }
    return Status();
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

// Their product would be computed by the planner, and be kept as long as the plan.
TEST_F(SessionTest, LargeConstantsAreNotFolded) {
  const auto runs = [&](int64_t elements) {
    const Output x = Const(Tensor::Zeros(DType::kFloat, Shape{elements}));
    StepTrace trace;
    Session session(graph_);
    session.Run(Maximum(x, x + 1.0), {.trace = &trace});
    return std::ranges::any_of(trace.events(),
                               [](const auto& event) { return event.output_bytes > 0; });
  };
  EXPECT_FALSE(runs(100));
  EXPECT_TRUE(runs(3 << 20));  // 12 MB
}

TEST_F(SessionTest, FeedsAndFetches) {
  const Output a = Input("a"), b = Input("b");
  const Output sum = a + b, product = a * b;
  Session session(graph_);
  const FeedMap feeds = {{a, Tensor::Of<float>({1, 2})}, {b, Tensor::Of<float>({10, 20})}};
  const auto results = session.Run(feeds, std::vector<Output>{sum, product, a, sum});
  EXPECT_TRUE(results[0].Identical(Tensor::Of<float>({11, 22})));
  EXPECT_TRUE(results[1].Identical(Tensor::Of<float>({10, 40})));
  EXPECT_TRUE(results[2].Identical(Tensor::Of<float>({1, 2})));
  EXPECT_TRUE(results[3].Identical(Tensor::Of<float>({11, 22})));
}

TEST_F(SessionTest, AnyTensorCanBeFed) {
  const Output x = Input();
  const Output middle = Square(x);
  const Output y = middle + 1.0;
  Session session(graph_);
  EXPECT_EQ(session.Run({{middle, Tensor(5.0f)}}, y).scalar<float>(), 6.0f);  // x is not needed
}

TEST_F(SessionTest, RunsByName) {
  const Output x = Placeholder(DType::kFloat, PartialShape{}, "in");
  const Output y = Identity(x * 3.0);
  Session session(graph_);
  const auto results = session.Run(NamedFeeds{{"in:0", Tensor(2.0f)}}, {y.name()});
  EXPECT_EQ(results[0].scalar<float>(), 6.0f);
  EXPECT_THROW(session.Run(NamedFeeds{}, {"nobody:0"}), Error);
}

TEST_F(SessionTest, FetchedTensorsStayAsTheyWere) {
  const Output x = Input();
  const Output y = Square(x) + 1.0;
  Session session(graph_);
  const Tensor first = session.Run({{x, Tensor::Of<float>({1, 2, 3})}}, y);
  session.Run({{x, Tensor::Of<float>({7, 8, 9})}}, y);
  EXPECT_TRUE(first.Identical(Tensor::Of<float>({2, 5, 10})));
}

TEST_F(SessionTest, FetchedTensorsAreTheCallersOwn) {
  const Output x = Input(), constant = Const(Tensor::Of<float>({1, 2}));
  const Variable v("v", Tensor::Of<float>({3, 4}));
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  const Tensor fed = Tensor::Of<float>({5, 6});
  const FeedMap feeds = {{x, fed}};
  const std::vector<Output> fetches = {x, constant, v, constant};
  for (Tensor& t : session.Run(feeds, fetches)) t.data<float>()[0] = -1;
  const auto again = session.Run(feeds, fetches);
  EXPECT_TRUE(again[0].Identical(Tensor::Of<float>({5, 6})));
  EXPECT_TRUE(again[1].Identical(Tensor::Of<float>({1, 2})));
  EXPECT_TRUE(again[2].Identical(Tensor::Of<float>({3, 4})));
}

TEST_F(SessionTest, PlansAreKeptByShapeAndSurviveEviction) {
  const Output x = Input();
  const Output y = Sum(x, {0});
  Session session(graph_, {.plan_cache_bytes = 1});
  for (int round = 0; round < 2; ++round) {
    for (int64_t n = 1; n <= 5; ++n) {
      Tensor ones(DType::kFloat, Shape{n});
      std::fill_n(ones.data<float>(), n, 1.0f);
      EXPECT_EQ(session.Run({{x, ones}}, y).scalar<float>(), static_cast<float>(n));
      EXPECT_EQ(session.num_plans(), 1);
    }
  }
}

TEST_F(SessionTest, SeesNodesAddedLater) {
  const Output x = Const(Tensor(2.0f));
  Session session(graph_);
  EXPECT_EQ(session.Run(x).scalar<float>(), 2.0f);
  EXPECT_EQ(session.Run(x + 1.0).scalar<float>(), 3.0f);
}

TEST_F(SessionTest, CallableTakesFeedsInOrder) {
  const Output a = Input("a"), b = Input("b");
  Session session(graph_);
  const Callable difference = session.MakeCallable({a, b}, {a - b});
  EXPECT_EQ(difference({Tensor(5.0f), Tensor(3.0f)})[0].scalar<float>(), 2.0f);
  EXPECT_TRUE(difference({Tensor::Of<float>({5, 6}), Tensor(3.0f)})[0].Identical(
      Tensor::Of<float>({2, 3})));
  EXPECT_THROW(difference({Tensor(5.0f)}), Error);
  EXPECT_THROW(difference({Tensor(5.0f), Tensor(3)}), Error);
}

TEST_F(SessionTest, SessionScopeEvaluates) {
  const Variable v("v", Tensor(1.0f));
  const Output next = v.AssignAdd(Const(Tensor(2.0f)));
  const Operation init = GlobalVariablesInitializer();
  EXPECT_THROW(next.Eval(), Error);
  Session session(graph_);
  SessionScope here(session);
  init.Run();
  EXPECT_EQ(next.Eval().scalar<float>(), 3.0f);
  EXPECT_EQ(v.value().Eval().scalar<float>(), 3.0f);
}

TEST_F(SessionTest, OptimizationsKeepResults) {
  const Output x = Placeholder(DType::kFloat, PartialShape{-1, 4});
  const Output h =
      Tanh(MatMul(x, Const(Tensor::Of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})) * 0.1));
  const Output y =
      Sum(Square(h) + Square(h) * 2.0, {1}) / (Const(Tensor(2.0f)) + Const(Tensor(1.0f)));
  const FeedMap feeds = {{x, Tensor::Of<float>({2, 4}, {1, -1, 0.5f, 2, 0, 3, -2, 0.25f})}};
  Session plain(graph_, {.optimizer = {false, false, false, false}});
  const Tensor expected = plain.Run(feeds, y);
  for (int i = 0; i < 16; ++i) {
    Session session(graph_,
                    {.optimizer = {(i & 1) != 0, (i & 2) != 0, (i & 4) != 0, (i & 8) != 0}});
    EXPECT_TRUE(session.Run(feeds, y).Identical(expected)) << i;
  }
}

// ---- errors

TEST_F(SessionTest, UnfedPlaceholderIsNamed) {
  const Output x = Placeholder(DType::kFloat, PartialShape{2}, "images");
  const Status status = RunError(Square(x));
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("images"), std::string::npos) << status.message();
}

TEST_F(SessionTest, WrongFeedIsNamed) {
  const Output x = Placeholder(DType::kFloat, PartialShape{-1, 2}, "images");
  for (const Tensor& bad : {Tensor(1), Tensor(1.0f), Tensor::Of<float>({1, 2}), Tensor()}) {
    const Status status = RunError(Square(x), {{x, bad}});
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find("images"), std::string::npos) << status.message();
  }
  EXPECT_EQ(
      RunError(x, {{x, Tensor::Of<float>({1, 2}, {1, 2})}, {x, Tensor::Of<float>({1, 2}, {1, 2})}})
          .code(),
      Code::kInvalidArgument);
}

TEST_F(SessionTest, KernelErrorsNameTheNode) {
  const Output x = Placeholder(DType::kInt32, {}, "x");
  const Output y = OpBuilder("FloorDiv").Input(x).Input(Const(Tensor(0))).Name("quotient").Build();
  const Status status = RunError(y, {{x, Tensor(3)}});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("[FloorDiv quotient] ")) << status.message();
}

TEST_F(SessionTest, GatherOutOfRangeIsNamed) {
  const Output x = Placeholder(DType::kInt32, {}, "indices");
  const Output rows = Gather(Const(Tensor::Of<float>({1, 2, 3})), x);
  EXPECT_EQ(RunError(rows, {{x, Tensor::Of<int32_t>({0, 3})}}).code(), Code::kInvalidArgument);
  EXPECT_EQ(RunError(rows, {{x, Tensor::Of<int32_t>({-1})}}).code(), Code::kInvalidArgument);
}

TEST_F(SessionTest, UninitializedVariableIsNamed) {
  const Variable v("weights", Tensor(1.0f));
  const Status status = RunError(v + 1.0);
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_NE(status.message().find("weights"), std::string::npos) << status.message();
}

TEST_F(SessionTest, MissingKernelIsNamed) {
  const Status status = RunError(OpBuilder("AddN")
                                     .Input({OpBuilder("Bitcast")
                                                 .Input(Const(Tensor(1.0f)))
                                                 .Attr("type", DType::kQInt32)
                                                 .Build()})
                                     .Name("sum")
                                     .Build());
  EXPECT_EQ(status.code(), Code::kNotFound) << status.message();
  EXPECT_NE(status.message().find("[AddN sum]"), std::string::npos) << status.message();
}

TEST_F(SessionTest, CycleIsAnError) {
  const Output x = Input();
  const Output y = Square(x), z = Square(y);
  graph_.SetInput(y.node(), 0, z);
  EXPECT_EQ(RunError(z, {{x, Tensor(1.0f)}}).code(), Code::kInvalidArgument);
}

TEST_F(SessionTest, TensorOfAnotherGraphIsRefused) {
  Graph other;
  Output foreign;
  {
    GraphScope use(other);
    foreign = Const(Tensor(1.0f));
  }
  EXPECT_EQ(RunError(foreign).code(), Code::kInvalidArgument);
}

TEST_F(SessionTest, ErrorsLeaveTheSessionUsable) {
  const Output x = Placeholder(DType::kInt32, {}, "x");
  const Output y =
      OpBuilder("FloorDiv").Input(Const(Tensor::Of<int32_t>({12, 8}))).Input(x).Build();
  Session session(graph_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(session.Run({{x, Tensor(0)}}, y), Error);
    EXPECT_TRUE(session.Run({{x, Tensor(4)}}, y).Identical(Tensor::Of<int32_t>({3, 2})));
  }
}

// ---- limits

TEST_F(SessionTest, EndlessLoopEndsAtTheDeadline) {
  const auto loop =
      While([](const std::vector<Output>& v) { return Less(v[0], Const(Tensor(1.0f))); },
            [](const std::vector<Output>& v) { return std::vector<Output>{v[0] * 0.5}; },
            {Const(Tensor(0.5f))});
  Session session(graph_);
  try {
    session.Run(loop[0], {.deadline = std::chrono::milliseconds(30)});
    FAIL() << "the loop ended";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kDeadlineExceeded) << e.what();
  }
}

TEST_F(SessionTest, DeadlinesBeyondTheClockAreNever) {
  using std::chrono::milliseconds;
  const Output x = Const(Tensor(2.0f)) * Const(Tensor(3.0f));
  for (const milliseconds time : {milliseconds::max(), milliseconds::max() / 2}) {
    Session session(graph_, {.deadline = time});
    EXPECT_EQ(session.Run(x).scalar<float>(), 6);
    EXPECT_EQ(session.Run(x, {.deadline = time}).scalar<float>(), 6);
  }
}

TEST_F(SessionTest, CancellationEndsARun) {
  const auto loop =
      While([](const std::vector<Output>& v) { return Less(v[0], Const(Tensor(1.0f))); },
            [](const std::vector<Output>& v) { return std::vector<Output>{v[0] * 0.5}; },
            {Const(Tensor(0.5f))});
  Session session(graph_);
  CancellationToken token;
  std::thread canceller([&] { token.Cancel(); });
  try {
    session.Run(loop[0], {.cancellation = &token});
    FAIL() << "the loop ended";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kCancelled) << e.what();
  }
  canceller.join();
}

TEST_F(SessionTest, MemoryLimitNamesTheNode) {
  const Output n = Placeholder(DType::kInt64, {}, "n");
  const Output huge = OpBuilder("Fill").Input(n).Input(Const(Tensor(1.0f))).Name("huge").Build();
  const Output sum = Sum(huge, {0});
  for (const int64_t limit : {int64_t{1} << 20, int64_t{0}}) {
    const Status status =
        RunError(sum, {{n, Tensor::Of<int64_t>({int64_t{1} << 40})}}, {.memory_limit = limit});
    EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.message();
    EXPECT_NE(status.message().find("huge"), std::string::npos) << status.message();
  }
}

// ---- threads

TEST_F(SessionTest, ConcurrentRunsShareOneSession) {
  const Output x = Input();
  const Variable total("total", Tensor(0.0f));
  const Output add = total.AssignAdd(Sum(x, {0}));
  const Output square = Sum(Square(x), {0});
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  constexpr int kThreads = 4, kRuns = 100;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto value = static_cast<float>(t);
      const FeedMap feeds = {{x, Tensor::Of<float>({value, 2})}};
      for (int i = 0; i < kRuns; ++i) {
        if (session.Run(feeds, square).scalar<float>() != value * value + 4) ++wrong;
        session.Run(feeds, Operation(add));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(session.Run(total.value()).scalar<float>(), kRuns * (0 + 1 + 2 + 3 + 4 * 2));
}

TEST_F(SessionTest, ResultsDoNotDependOnTheNumberOfThreads) {
  const Output x = RandomUniform({300, 400}, {.seed = 3});
  const Output y = MatMul(x, x, {.transpose_b = true});
  const Output z = Sum(Tanh(y * 0.001) + 1.0, {0, 1});
  Session one(graph_, {.threads = 1}), all(graph_);
  const auto a = one.Run({y, z}), b = all.Run({y, z});
  EXPECT_TRUE(a[0].Identical(b[0]));
  EXPECT_TRUE(a[1].Identical(b[1]));
}

TEST_F(SessionTest, ShapesOfReadsNeedInitializedVariables) {
  const Variable v("v", RandomUniform({2, 3}));
  const Variable w("w", Tensor(0.0f));
  const Output rank = Rank(v.Read()), size = Size(Exp(v.Read() * 2.0)), shape = ShapeOf(v.Read());
  for (const Output& fetch : {rank, size, shape, Stack({rank, size})}) {
    EXPECT_EQ(RunError(fetch).code(), Code::kFailedPrecondition) << fetch.name();
  }
  Session session(graph_);
  session.Run(VariablesInitializer({w}));
  Operation after_rank;
  {
    const ControlDependencies after({Operation(rank.node())});
    after_rank = Operation(w.AssignAdd(Const(Tensor(1.0f))).node());
  }
  EXPECT_THROW(session.Run(after_rank), Error);
  EXPECT_EQ(session.Run(w.Read()).scalar<float>(), 0.0f);
  session.Run(VariablesInitializer({v}));
  EXPECT_EQ(session.Run(size).scalar<int32_t>(), 6);
  session.Run(after_rank);
  EXPECT_EQ(session.Run(w.Read()).scalar<float>(), 1.0f);
}

TEST_F(SessionTest, TheShapeOfADequeuedElementTakesItFromTheQueue) {
  const Output queue = FIFOQueue({DType::kFloat}, {.capacity = 3, .shapes = {PartialShape{2}}});
  const Output shape = ShapeOf(QueueDequeue(queue)[0]);
  Session session(graph_);
  session.Run(QueueEnqueueMany(queue, {Const(Tensor(DType::kFloat, Shape{2, 2}))}));
  EXPECT_TRUE(session.Run(shape).Identical(Tensor::Of<int32_t>({2})));
  EXPECT_EQ(session.Run(QueueSize(queue)).scalar<int32_t>(), 1);
}

// As tf.function names lambdas; what is folded in a branch is named after it.
TEST_F(SessionTest, FunctionsMayBeCalledWhatNodesMayNot) {
  const std::string constant =
      "node_def { name: '$' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: "
      "'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: $ } } } }";
  const auto named = [&](const std::string& name, const std::string& value) {
    std::string text = constant;
    text.replace(text.find('$'), 1, name);
    return text.replace(text.find('$'), 1, value);
  };
  const std::string type = "attr { key: 'T' value { type: DT_FLOAT } }";
  ImportGraphDefText(
      "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } }"
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }"
      "node { name: 'if' op: 'If' input: 'p' input: 'x'"
      "  attr { key: 'Tcond' value { type: DT_BOOL } }"
      "  attr { key: 'Tin' value { list { type: DT_FLOAT } } }"
      "  attr { key: 'Tout' value { list { type: DT_FLOAT } } }"
      "  attr { key: 'then_branch' value { func { name: 'f_<lambda>_1' } } }"
      "  attr { key: 'else_branch' value { func { name: 'f_<lambda>_1' } } } }"
      "library { function { signature { name: 'f_<lambda>_1'"
      "    input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } }" +
          named("two", "2") + named("three", "3") +
          "  node_def { name: 'six' op: 'Mul' input: 'two:output:0' input: 'three:output:0'" +
          type + "} node_def { name: 'y' op: 'Mul' input: 'x' input: 'six:z:0'" + type +
          "} ret { key: 'y' value: 'y:z:0' } } }",
      graph_);
  Session session(graph_);
  const auto y = session.Run(NamedFeeds{{"p:0", Tensor(true)}, {"x:0", Tensor(2.0f)}}, {"if:0"});
  EXPECT_EQ(y[0].scalar<float>(), 12.0f);
}

}  // namespace
}  // namespace sextant
