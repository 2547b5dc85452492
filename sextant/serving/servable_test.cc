#include "sextant/serving/servable.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/graph/function.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/check_numerics.h"
#include "sextant/ops/parsing/decode_csv.h"
#include "sextant/ops/parsing/example_parsing.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"
#include "sextant/serving/inference.h"
#include "sextant/serving/small_model_test_helpers.h"
#include "sextant/testing/status_of.h"
#include "sextant/train/saved_model_builder.h"

namespace sextant::serving {
namespace {

// "both": x → double x, and what fails when it is computed.
// "count": how often it was run.
class ServableTest : public testing::Test {
 protected:
  ServableTest() {
    const Output x = Placeholder(DType::kFloat, {PartialShape::kUnknown}, "x");
    const Variable counter("counter", Tensor(0.0f));
    const Output count = counter.AssignAdd(Const(Tensor(1.0f)));
    const Output fails = CheckNumerics(x * Const(Tensor(NAN)), "never to be computed");
    Session session(graph_);
    session.Run(GlobalVariablesInitializer());
    const std::string base = JoinPath(directory_.path(), "m");
    FileSystem::ForPath(base).CreateDirectories(base);
    SavedModelBuilder builder(JoinPath(base, "1"));
    builder.AddMetaGraphAndVariables(
        session, {"serve"},
        {.signatures = {{"both", {.inputs = {{"x", x}}, .outputs = {{"a", x + x}, {"b", fails}}}},
                        {"count", {.inputs = {{"x", x}}, .outputs = {{"n", count}}}}}});
    path_ = builder.Save();
  }

  const TemporaryDirectory directory_;
  Graph graph_;
  const GraphScope scope_{graph_};
  std::string path_;
};

TEST_F(ServableTest, ComputesOnlyTheOutputsAskedFor) {
  const auto servable = Servable::Load("m", 1, path_, {});
  const ServableSignature& both = servable->FindSignature("both");
  const std::vector<Tensor> inputs = {Tensor::Of<float>({1, 2})};
  std::vector<Tensor> outputs(1);
  const std::vector<std::string> names = {"a"};
  both.signature().Call(inputs, OutputPlaces(both, names), outputs);
  EXPECT_TRUE(outputs[0].Identical(Tensor::Of<float>({2, 4})));
  outputs.resize(2);
  EXPECT_EQ(StatusOf([&] { both.signature().Call(inputs, {}, outputs); }).code(),
            Code::kInvalidArgument);
}

TEST_F(ServableTest, PreparingDoesNotChangeTheModel) {
  const auto servable = Servable::Load("m", 1, path_, {});
  const ServableSignature& count = servable->FindSignature("count");
  EXPECT_FALSE(count.signature().Prepare(1));
  EXPECT_EQ(count.RunTime(1).count(), 0);
  EXPECT_FALSE(count.batchable());  // its output has no rows
  const std::vector<Tensor> inputs = {Tensor::Of<float>({1})};
  std::vector<Tensor> outputs(1);
  count.signature().Call(inputs, {}, outputs);
  EXPECT_EQ(outputs[0].AsDouble(), 1);
  EXPECT_EQ(servable->bytes(), 4);
}

TEST_F(ServableTest, SaysWhichSignaturesThereAre) {
  const auto servable = Servable::Load("m", 1, path_, {});
  const Status status = StatusOf([&] { servable->FindSignature(""); });
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_NE(status.message().find("there are: both, count"), std::string::npos);
  EXPECT_EQ(servable->FindSignature("both").SampleRequest(),
            R"({"signature_name": "both", "instances": [0.0]})");
}

TEST_F(ServableTest, BatchesHavePreparedSizes) {
  const auto servable = Servable::Load("m", 1, ExportSmallModel(JoinPath(path_, "small"), 1),
                                       {.batch_sizes = {2, 4, 8}});
  const ServableSignature& small = servable->FindSignature("");
  for (int i = 0; i < 2000; ++i) {
    small.RecordRun(2, std::chrono::seconds(20));
    small.RecordRun(4, std::chrono::seconds(40));
    small.RecordRun(8, std::chrono::seconds(79));
  }
  EXPECT_EQ(small.NextBatch(1), 1);  // padded to 2
  EXPECT_EQ(small.NextBatch(4), 4);
  EXPECT_EQ(small.NextBatch(5), 4);
  EXPECT_EQ(small.NextBatch(7), 7);  // 4 and then 3, padded to 4, would take longer
  EXPECT_EQ(small.NextBatch(8), 8);
  EXPECT_EQ(small.NextBatch(9), 8);
  EXPECT_EQ(small.NextBatch(35), 32);
  const auto other = Servable::Load("m", 1, path_, {.batch_sizes = {2, 4, 8}});
  EXPECT_EQ(other->FindSignature("count").NextBatch(35), 35);  // is not prepared
}

// A run that lost its processor for a while does not make short runs look long.
TEST_F(ServableTest, RunTimesForgetOutliers) {
  const auto servable = Servable::Load("m", 1, path_, {});
  const ServableSignature& both = servable->FindSignature("both");
  for (int i = 0; i < 40; ++i) {
    both.RecordRun(1, i % 10 == 5 ? std::chrono::milliseconds(5) : std::chrono::microseconds(20));
    EXPECT_LT(both.RunTime(1), std::chrono::microseconds(150));
  }
  for (int i = 0; i < 400; ++i) both.RecordRun(1, std::chrono::milliseconds(5));
  EXPECT_GT(both.RunTime(1), std::chrono::milliseconds(4));
}

// Where another program holds the processors, the team of threads may take a hundred times as long
// as one thread. That must be found out, also when the first times were misleading.
TEST_F(ServableTest, RunsAloneWhereSharingIsSlower) {
  using std::chrono::microseconds;
  const auto servable = Servable::Load("m", 1, path_, {});
  const ServableSignature& count = servable->FindSignature("count");
  EXPECT_FALSE(count.Shares(1));  // nothing is known: the first run is alone
  const auto run = [&](microseconds alone, microseconds shared) {
    const bool shares = count.Shares(1);
    count.RecordRun(1, shares ? shared : alone, shares);
    return shares;
  };
  count.RecordRun(1, microseconds(20000));  // with the making of the Plan
  int shared = 0;
  for (int i = 0; i < 40; ++i) shared += run(microseconds(20), microseconds(11000)) ? 1 : 0;
  EXPECT_LT(shared, 10);
  EXPECT_LT(count.RunTime(1), microseconds(300));
  EXPECT_FALSE(count.Shares(1));

  count.RecordRun(64, microseconds(9000));
  shared = 0;
  for (int i = 0; i < 100; ++i) {
    const bool shares = count.Shares(64);
    count.RecordRun(64, microseconds(shares ? 5000 : 9000), shares);
    shared += shares ? 1 : 0;
  }
  EXPECT_GT(shared, 85);
}

// Texts that a signature parses are made up so that it takes them: what serves CSV lines and
// Examples is as fast for the first request as for others.
TEST(ServableOfTexts, IsPreparedAtLoad) {
  const TemporaryDirectory directory;
  Graph graph;
  const GraphScope scope(graph);
  const Output examples = Placeholder(DType::kString, {PartialShape::kUnknown}, "examples");
  const Output lines = Placeholder(DType::kString, {PartialShape::kUnknown}, "lines");
  FeatureSpecs features;
  features.dense = {{"x", PartialShape{2}, Const(Tensor(DType::kFloat, Shape{0}))},
                    {"n", Shape(), Const(Tensor(DType::kInt64, Shape{0}))},
                    {"s", Shape(), Const(Tensor(DType::kString, Shape{0}))}};
  const ParsedFeatures parsed = ParseExample(Identity(examples), features);
  const std::vector<Output> fields =
      DecodeCSV(lines, {Const(Tensor(DType::kFloat, Shape{0})), Const(Tensor::Of<float>({7})),
                        Const(Tensor(DType::kString, Shape{0}))});
  Session session(graph);
  SavedModelBuilder builder(JoinPath(directory.path(), "1"));
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {
           {"csv", {.inputs = {{"l", lines}}, .outputs = {{"a", fields[0] + fields[1]}}}},
           {"example",
            {.inputs = {{"e", examples}},
             .outputs = {{"x", parsed.dense[0]}, {"n", parsed.dense[1]}}}}}});
  const auto servable = Servable::Load("m", 1, builder.Save(), {.batch_sizes = {1, 4}});
  EXPECT_EQ(servable->warm_up(), "4 of 4 signatures and sizes prepared");
  for (const auto& [key, signature] : servable->signatures()) {
    EXPECT_GT(signature.RunTime(1).count(), 0) << key;
    EXPECT_GT(signature.RunTime(4).count(), 0) << key;
    const JsonRequest sample = ReadJsonRequest(
        signature.SampleRequest(),
        [&s = signature](std::string_view) { return std::span<const JsonInput>(s.inputs()); });
    std::vector<Tensor> outputs(signature.outputs().size());
    signature.signature().Call(sample.inputs, {}, outputs);
  }
  EXPECT_EQ(servable->FindSignature("csv").SampleRequest(),
            R"({"signature_name": "csv", "instances": ["0,,0"]})");
}

// As TensorFlow 2 exports models: a function that calls a function that parses one of its inputs.
TEST(ServableOfTexts, IsPreparedWhereFunctionsParse) {
  const TemporaryDirectory directory;
  Graph graph;
  const auto add = [&](const std::string& name, const auto& result_of) {
    auto body = std::make_shared<FunctionBody>();
    body->graph = std::make_unique<Graph>();
    const GraphScope scope(*body->graph);
    for (int i = 0; i < 2; ++i) {
      const DType type = i == 0 ? DType::kFloat : DType::kString;
      body->args.push_back(OpBuilder("_Arg").Attr("T", type).Attr("index", i).Build());
    }
    body->results = {result_of(body->args)};
    graph.functions().Add(std::make_shared<Function>(name, std::move(body)));
  };
  const auto call = [](const std::string& name, const std::vector<Output>& inputs) {
    return OpBuilder("StatefulPartitionedCall")
        .Input(inputs)
        .Attr("Tout", std::vector<DType>{DType::kFloat})
        .Attr("f", FuncAttr{name, nullptr})
        .BuildAll()[0];
  };
  add("inner", [](const std::vector<Output>& args) {
    FeatureSpecs features;
    features.dense = {{"x", PartialShape{2}, Const(Tensor(DType::kFloat, Shape{0}))}};
    return ParseExample(args[1], features).dense[0] * args[0];
  });
  const GraphScope scope(graph);
  add("outer", [&](const std::vector<Output>& args) {
    // The body's own graph needs the function that it calls.
    args[0].graph().functions().AddAll(graph.functions());
    return call("inner", {args[0], Identity(args[1])});
  });
  const Output examples = Placeholder(DType::kString, {PartialShape::kUnknown}, "examples");
  const Output y = call("outer", {Const(Tensor(2.0f)), examples});
  Session session(graph);
  SavedModelBuilder builder(JoinPath(directory.path(), "1"));
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{kDefaultSignature, {.inputs = {{"e", examples}}, .outputs = {{"y", y}}}}}});
  const auto servable = Servable::Load("m", 1, builder.Save(), {});
  EXPECT_EQ(servable->warm_up(), "1 of 1 signatures and sizes prepared");
  EXPECT_GT(servable->FindSignature("").RunTime(1).count(), 0);
}

TEST_F(ServableTest, LoadsCanBeCancelled) {
  CancellationToken token;
  token.Cancel();
  EXPECT_EQ(StatusOf([&] { Servable::Load("m", 1, path_, {}, &token); }).code(), Code::kCancelled);
}

}  // namespace
}  // namespace sextant::serving
