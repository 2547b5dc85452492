// Errors show a request that fits. It is taken out of the error and sent: the server must answer.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/parsing/example_parsing.h"
#include "sextant/runtime/session.h"
#include "sextant/serving/server.h"
#include "sextant/serving/small_model_test_helpers.h"
#include "sextant/testing/http_client.h"
#include "sextant/train/saved_model_builder.h"

namespace sextant::serving {
namespace {

using nlohmann::json;

// Signatures of rows, of a fixed number of rows, of a single value, of several inputs, of Examples.
void ExportSignatures(const std::string& base) {
  Graph graph;
  const GraphScope scope(graph);
  const Output rows = Placeholder(DType::kFloat, PartialShape{-1, 2}, "rows");
  const Output fixed = Placeholder(DType::kFloat, PartialShape{2, 2}, "fixed");
  const Output value = Placeholder(DType::kInt64, PartialShape{}, "value");
  const Output text = Placeholder(DType::kString, PartialShape{-1}, "text");
  const Output flag = Placeholder(DType::kBool, PartialShape{-1}, "flag");
  const Output examples = Placeholder(DType::kString, PartialShape{-1}, "examples");
  FeatureSpecs features;
  features.dense = {{"x", Shape(), Const(Tensor(DType::kFloat, Shape{0}))},
                    {"pair", Shape{2}, Const(Tensor(DType::kInt64, Shape{0}))}};
  const Output x = ParseExample(examples, features).dense[0];
  Session session(graph);
  FileSystem::ForPath(base).CreateDirectories(base);
  SavedModelBuilder builder(JoinPath(base, "1"));
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{"rows", {.inputs = {{"x", rows}}, .outputs = {{"y", rows + rows}}}},
                      {"fixed", {.inputs = {{"x", fixed}}, .outputs = {{"y", fixed + fixed}}}},
                      {"value", {.inputs = {{"x", value}}, .outputs = {{"y", value + value}}}},
                      {"several",
                       {.inputs = {{"text", text}, {"flag", flag}},
                        .outputs = {{"text", Identity(text)}, {"flag", Identity(flag)}}}},
                      {"regress",
                       {.inputs = {{"inputs", examples}},
                        .outputs = {{"outputs", x + x}},
                        .method_name = kRegressMethod}}}});
  MakeOld(builder.Save());
}

class SampleRequestsTest : public testing::Test {
 protected:
  SampleRequestsTest() {
    ExportSignatures(JoinPath(directory_.path(), "m"));
    server_ = std::make_unique<Server>(
        ServerOptions{.rest_port = 0,
                      .rest_threads = 1,
                      .models = {{.name = "m", .base_path = JoinPath(directory_.path(), "m")}}});
  }
  // Sends the body, which must be refused, then the request of the error.
  void ExpectSampleWorks(const std::string& path, const std::string& body) {
    ASSERT_TRUE(server_->WaitUntilReady(std::chrono::seconds(30)));
    TestHttpClient client(server_->rest_port());
    const HttpAnswer refused = client.Post(path, body);
    ASSERT_EQ(refused.status, 400) << refused.body;
    const std::string error = json::parse(refused.body).at("error");
    constexpr std::string_view kBefore = "a request that fits: ";
    const size_t at = error.find(kBefore);
    ASSERT_NE(at, std::string::npos) << error;
    const std::string sample = error.substr(at + kBefore.size());
    const HttpAnswer answer = client.Post(path, sample);
    EXPECT_EQ(answer.status, 200) << sample << "\n" << answer.body;
  }

  const TemporaryDirectory directory_;
  std::unique_ptr<Server> server_;
};

TEST_F(SampleRequestsTest, OfEverySignatureWork) {
  for (const std::string signature : {"rows", "fixed", "value", "several"}) {
    ExpectSampleWorks("/v1/models/m:predict",
                      json{{"signature_name", signature}, {"instances", {nullptr}}}.dump());
  }
}

TEST_F(SampleRequestsTest, OfExamplesWork) {
  const std::string path = "/v1/models/m:regress";
  ExpectSampleWorks(path, R"({"signature_name": "regress", "examples": [{}]})");
  ExpectSampleWorks(path,
                    R"({"signature_name": "regress", "examples": [{"x": 1, "pair": [1, 2]}]})");
}

}  // namespace
}  // namespace sextant::serving
