#include "sextant/serving/client.h"

#include <gtest/gtest.h>

#include <thread>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/formats/example_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/parsing/example_parsing.h"
#include "sextant/runtime/session.h"
#include "sextant/serving/rest_client.h"
#include "sextant/serving/server.h"
#include "sextant/serving/small_model_test_helpers.h"
#include "sextant/testing/status_of.h"
#include "sextant/train/saved_model_builder.h"

namespace sextant::serving {
namespace {

// "all": tensors of several types, given back; "regress", "classify": of Examples with a number x.
void ExportTypes(const std::string& base) {
  Graph graph;
  const GraphScope scope(graph);
  const Output f = Placeholder(DType::kFloat, PartialShape{-1, 2}, "f");
  const Output n = Placeholder(DType::kInt64, PartialShape{-1}, "n");
  const Output s = Placeholder(DType::kString, PartialShape{-1}, "s");
  const Output examples = Placeholder(DType::kString, PartialShape{-1}, "e");
  FeatureSpecs features;
  features.dense = {{"x", Shape(), Const(Tensor(DType::kFloat, Shape{0}))}};
  const Output x = ParseExample(examples, features).dense[0];
  Session session(graph);
  FileSystem::ForPath(base).CreateDirectories(base);
  SavedModelBuilder builder(JoinPath(base, "5"));
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{"all",
                       {.inputs = {{"f", f}, {"n", n}, {"s", s}},
                        .outputs = {{"f", Identity(f)}, {"n", Identity(n)}, {"s", Identity(s)}}}},
                      {"regress",
                       {.inputs = {{"inputs", examples}},
                        .outputs = {{"outputs", x + x}},
                        .method_name = kRegressMethod}},
                      {"classify",
                       {.inputs = {{"inputs", examples}},
                        .outputs = {{"scores", Pack({x, x + x}, 1)}},
                        .method_name = kClassifyMethod}}}});
  MakeOld(builder.Save());
}

class ClientTest : public testing::Test {
 protected:
  ClientTest() {
    ExportTypes(JoinPath(directory_.path(), "types"));
    ExportSmallModel(JoinPath(directory_.path(), "m"), 3);
    server_ = std::make_unique<Server>(ServerOptions{
        .grpc_port = 0,
        .rest_port = 0,
        .rest_threads = 1,
        .models = {{.name = "types", .base_path = JoinPath(directory_.path(), "types")},
                   {.name = "a b", .base_path = JoinPath(directory_.path(), "m")}},
        .file_system_poll = std::chrono::milliseconds(20)});
    EXPECT_TRUE(server_->WaitUntilReady(std::chrono::seconds(60)));
  }
  std::string RestAddress() const {
    return fmt::format("http://127.0.0.1:{}", server_->rest_port());
  }
  std::string GrpcAddress() const { return fmt::format("127.0.0.1:{}", server_->grpc_port()); }

  const TemporaryDirectory directory_;
  std::unique_ptr<Server> server_;
};

TEST_F(ClientTest, BothProtocolsGiveTheSame) {
  Tensor f(DType::kFloat, Shape{2, 2});
  for (int i = 0; i < 4; ++i) f.data<float>()[i] = 0.1f * static_cast<float>(i) - 1e-7f;
  const NamedTensors inputs = {
      {"f", f},
      {"n", Tensor::Of<int64_t>({int64_t{1} << 62, -3})},
      {"s", Tensor::FromVector<std::string>({"\"text\" \xc3\xa4", std::string("\0\xff", 2)})}};
  for (const std::string& address : {RestAddress(), GrpcAddress()}) {
    const Client client({.address = address});
    const ModelQuery query{.model = "types", .version = 5, .signature = "all"};
    const PredictAnswer answer = client.Predict(query, inputs);
    EXPECT_EQ(answer.version, 5);
    ASSERT_EQ(answer.outputs.size(), 3u);
    for (const auto& [name, tensor] : inputs) {
      EXPECT_TRUE(answer.outputs.at(name).Identical(tensor)) << address << ", " << name;
    }
    ModelQuery some = query;
    some.outputs = {"n"};
    EXPECT_EQ(client.Predict(some, inputs).outputs.size(), 1u);
    some.outputs = {"q"};
    EXPECT_EQ(StatusOf([&] { client.Predict(some, inputs); }).code(), Code::kInvalidArgument);

    const std::vector<std::string> examples = {ExampleBuilder().Float("x", 0.25f).Serialize(),
                                               ExampleBuilder().Float("x", 3).Serialize()};
    EXPECT_EQ(client.Regress({.model = "types", .signature = "regress"}, examples),
              (std::vector<float>{0.5f, 6}));
    const auto classes = client.Classify({.model = "types", .signature = "classify"}, examples);
    ASSERT_EQ(classes.size(), 2u);
    ASSERT_EQ(classes[1].size(), 2u);
    EXPECT_EQ(classes[1][1].second, 6);

    const auto versions = client.Status("types");
    ASSERT_EQ(versions.size(), 1u);
    EXPECT_EQ(versions[0].version, 5);
    EXPECT_EQ(versions[0].state, "AVAILABLE");
  }
}

TEST_F(ClientTest, BothProtocolsGiveTheSameErrors) {
  const Tensor x = Tensor::Of<float>({1});
  for (const std::string& address : {RestAddress(), GrpcAddress()}) {
    const Client client({.address = address});
    const auto code = [&](const ModelQuery& query, const NamedTensors& inputs) {
      return StatusOf([&] { client.Predict(query, inputs); }).code();
    };
    EXPECT_EQ(code({.model = "a b"}, {{"x", x}}), Code::kOk) << address;
    EXPECT_EQ(code({.model = "no"}, {{"x", x}}), Code::kNotFound) << address;
    EXPECT_EQ(code({.model = "a b", .version = 9}, {{"x", x}}), Code::kNotFound) << address;
    EXPECT_EQ(code({.model = "a b", .label = "l"}, {{"x", x}}), Code::kNotFound) << address;
    EXPECT_EQ(code({.model = "a b"}, {}), Code::kInvalidArgument) << address;
    EXPECT_EQ(code({.model = "a b"}, {{"x", Tensor(std::string("a"))}}), Code::kInvalidArgument)
        << address;
    EXPECT_EQ(StatusOf([&] { client.Status("no"); }).code(), Code::kNotFound) << address;
  }
  EXPECT_EQ(StatusOf([] { Client({.address = "http://a:b"}); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { Client({.address = GrpcAddress(), .token = "t\303\266ken"}); }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { Client({.address = RestAddress()}).Call("/a/b", ""); }).code(),
            Code::kUnimplemented);
}

TEST_F(ClientTest, IsUsedByManyThreads) {
  const Client client({.address = RestAddress()});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto number = static_cast<float>(i);
      for (int k = 0; k < 25; ++k) {
        const PredictAnswer answer =
            client.Predict({.model = "a b"}, {{"x", Tensor::Of<float>({number})}});
        EXPECT_EQ(answer.outputs.at("y").AsDouble(), 0.5 * i + 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sextant::serving
