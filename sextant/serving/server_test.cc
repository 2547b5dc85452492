#include "sextant/serving/server.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/serving/model_manager.h"
#include "sextant/serving/small_model_test_helpers.h"
#include "sextant/testing/http_client.h"
#include "sextant/testing/status_of.h"

namespace sextant::serving {
namespace {

using nlohmann::json;

// TensorFlow Serving's half_plus_two, behind a server.
class ServerTest : public testing::Test {
 protected:
  ServerTest() { ExportSmallModel(Path("m"), 123); }

  ServerOptions Options() const {
    return {.rest_port = 0,
            .rest_threads = 2,
            .models = {{.name = "half_plus_two", .base_path = Path("m")}},
            .file_system_poll = std::chrono::milliseconds(20)};
  }
  void Start(const ServerOptions& options) {
    server_ = std::make_unique<Server>(options);
    ASSERT_TRUE(server_->WaitUntilReady(std::chrono::seconds(30)));
    client_ = std::make_unique<TestHttpClient>(server_->rest_port());
  }
  void Start() { Start(Options()); }
  HttpAnswer Predict(const std::string& body, const std::string& headers = "") {
    return client_->Post("/v1/models/half_plus_two:predict", body, headers);
  }
  std::string Path(const std::string& name) const { return JoinPath(directory_.path(), name); }

  const TemporaryDirectory directory_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<TestHttpClient> client_;
};

TEST_F(ServerTest, AnswersAsTheDocumentationOfTensorFlowServing) {
  Start();
  EXPECT_EQ(Predict(R"({"instances": [1.0, 2.0, 5.0]})").body,
            R"({"predictions": [2.5, 3.0, 4.5]})");
  EXPECT_EQ(Predict(R"({"inputs": [1.0, 2.0]})").body, R"({"outputs": [2.5, 3.0]})");
  EXPECT_EQ(Predict(R"({"inputs": {"x": [1.0]}, "signature_name": "serving_default"})").body,
            R"({"outputs": [2.5]})");
  EXPECT_EQ(
      client_->Post("/v1/models/half_plus_two/versions/123:predict", R"({"inputs": [4]})").body,
      R"({"outputs": [4.0]})");
  EXPECT_EQ(Predict(R"({"instances": [NaN, Infinity]})").body,
            R"({"predictions": [NaN, Infinity]})");
}

TEST_F(ServerTest, TellsStatusAndMetadata) {
  Start();
  const json status = json::parse(client_->Get("/v1/models/half_plus_two").body);
  const json& version = status.at("model_version_status").at(0);
  EXPECT_EQ(version.at("version"), "123");
  EXPECT_EQ(version.at("state"), "AVAILABLE");
  EXPECT_EQ(version.at("status"), (json{{"error_code", "OK"}, {"error_message", ""}}));
  EXPECT_EQ(client_->Get("/v1/models/half_plus_two/versions/123").status, 200);
  EXPECT_EQ(client_->Get("/v1/models/half_plus_two/versions/5").status, 404);
  const json metadata = json::parse(client_->Get("/v1/models/half_plus_two/metadata").body);
  EXPECT_EQ(metadata.at("model_spec"),
            (json{{"name", "half_plus_two"}, {"signature_name", ""}, {"version", "123"}}));
  const json& signature =
      metadata.at("metadata").at("signature_def").at("signature_def").at("serving_default");
  EXPECT_EQ(signature.at("method_name"), "tensorflow/serving/predict");
  const json& x = signature.at("inputs").at("x");
  EXPECT_EQ(x.at("dtype"), "DT_FLOAT");
  EXPECT_EQ(x.at("name"), "x:0");
  EXPECT_EQ(x.at("tensor_shape"),
            (json{{"dim", {{{"size", "-1"}, {"name", ""}}}}, {"unknown_rank", false}}));
}

TEST_F(ServerTest, ExplainsWhatIsWrong) {
  Start();
  const auto expect = [&](const HttpAnswer& answer, int status, const std::string& part) {
    EXPECT_EQ(answer.status, status) << answer.body;
    const std::string error = json::parse(answer.body).at("error");
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  expect(Predict("{"), 400, "no JSON");
  expect(Predict(R"({"instances": ["a"]})"), 400,
         "instances[0], input 'x': the text \"a\" is no float");
  expect(Predict(R"({"instances": ["a"]})"), 400, R"(a request that fits: {"instances": [0.0]})");
  expect(Predict(R"({"instances": [[1, 2]]})"), 400,
         "input 'x' of signature 'serving_default' is "
         "float[?], but float[1,2] was given");
  expect(Predict(R"({"signature_name": "no", "instances": [1]})"), 400, "no signature 'no'");
  expect(client_->Post("/v1/models/none:predict", "{}"), 404, "there is no model 'none'");
  expect(client_->Post("/v1/models/half_plus_to:predict", "{}"), 404,
         "did you mean half_plus_two?");
  expect(client_->Post("/v1/models/half_plus_two/versions/7:predict", "{}"), 404, "no version 7");
  expect(client_->Post("/v1/models/half_plus_two/labels/l:predict", "{}"), 404, "no label 'l'");
  expect(client_->Post("/v1/models/half_plus_two:classify", R"({"examples": [{}]})"), 400,
         "has the method");
  expect(client_->Get("/v1/models/half_plus_two:predict"), 400, "malformed request");
  expect(client_->Get("/nothing"), 404, "there is no /nothing");
}

TEST_F(ServerTest, NamesOnlyLookUpTheTable) {
  Start();
  for (const char* name :
       {"..", "%2e%2e%2f", "a%00b", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "\xc3\xa9"}) {
    EXPECT_EQ(client_->Get(std::string("/v1/models/") + name).status, 404) << name;
  }
  EXPECT_EQ(
      TestHttpClient(server_->rest_port()).Get("/v1/models/" + std::string(65536, 'a')).status,
      431);
}

TEST_F(ServerTest, TakesRawBodies) {
  Start();
  const float values[] = {1, 5};
  const std::string body(reinterpret_cast<const char*>(values), sizeof values);
  const std::string type = "Content-Type: application/octet-stream\r\n";
  EXPECT_EQ(Predict(body, type).body, R"({"predictions": [2.5, 4.5]})");
  EXPECT_EQ(Predict("abc", type).status, 400);
}

TEST_F(ServerTest, ReadinessFollowsTheModels) {
  ServerOptions options = Options();
  std::filesystem::create_directory(Path("later"));
  options.models.push_back({.name = "later", .base_path = Path("later")});
  server_ = std::make_unique<Server>(options);
  TestHttpClient client(server_->rest_port());
  EXPECT_EQ(client.Get("/healthz").status, 200);
  const HttpAnswer answer = client.Get("/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find("model 'later' has no version"), std::string::npos) << answer.body;
  ExportSmallModel(Path("later"), 1);
  ASSERT_TRUE(server_->WaitUntilReady(std::chrono::seconds(30)));
  EXPECT_EQ(client.Get("/readyz").status, 200);
}

TEST_F(ServerTest, AnswersHeadByTheHeadAlone) {
  server_ = std::make_unique<Server>(Options());
  TestHttpClient client(server_->rest_port());
  client.Send("HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  const HttpAnswer head = client.Receive();
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.body.starts_with("HTTP/1.1 200")) << head.body;  // the next answer
}

TEST_F(ServerTest, SwitchesToNewVersions) {
  Start();
  ExportSmallModel(Path("m"), 124, 2);
  while (Predict(R"({"instances": [1.0]})").body != R"({"predictions": [4.0]})") {
    std::this_thread::yield();
  }
}

TEST_F(ServerTest, FollowsItsConfigurationFile) {
  FileSystem& files = FileSystem::ForPath("/");
  const auto text = [&](const std::string& name) {
    return "model_config_list { config { name: '" + name + "' base_path: '" + Path("m") + "' } }";
  };
  files.WriteFileAtomically(Path("config"), text("first"));
  ServerOptions options = Options();
  options.models.clear();
  options.model_config_file = Path("config");
  options.model_config_poll = std::chrono::milliseconds(10);
  Start(options);
  EXPECT_EQ(client_->Get("/v1/models/first").status, 200);
  files.WriteFileAtomically(Path("config"), "model_config_list { config {");  // is not followed
  files.WriteFileAtomically(Path("config"), text("second_name"));
  while (client_->Get("/v1/models/second_name").status != 200) std::this_thread::yield();
  EXPECT_EQ(client_->Get("/v1/models/first").status, 404);
}

TEST_F(ServerTest, DrainsWithoutLosingRequests) {
  Start();
  std::atomic<int> answered{0}, broken{0};
  std::atomic<bool> ends{false};
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&] {
      try {
        TestHttpClient client(server_->rest_port());
        for (;;) {
          const HttpAnswer answer =
              client.Post("/v1/models/half_plus_two:predict", R"({"instances": [1.0]})");
          if (answer.status == 200) {
            ++answered;
          } else if (!ends || answer.status != 0) {
            ++broken;
          }
          if (answer.status != 200 || answer.head.find("close") != std::string::npos) return;
        }
      } catch (const Error&) {
        ++broken;
      }
    });
  }
  while (answered < 100) std::this_thread::yield();
  ends = true;
  server_->Drain(std::chrono::seconds(10));
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(broken, 0);
}

// Two rows make a batch, and none is run for less. Whether a client that has left is seen in time
// is a matter of luck, so it is tried again.
TEST_F(ServerTest, DropsRequestsOfClientsThatLeft) {
  ServerOptions options = Options();
  options.monitoring.enabled = true;
  options.batching = {.enabled = true, .max_batch_size = 2, .timeout_micros = 600'000'000};
  Start(options);
  const std::string body = R"({"instances": [1.0]})";
  bool dropped = false;
  for (int i = 0; i < 1000 && !dropped; ++i) {
    TestHttpClient(server_->rest_port())
        .Send(fmt::format("POST /v1/models/half_plus_two:predict HTTP/1.1\r\nHost: a\r\n"
                          "Content-Length: {}\r\n\r\n{}",
                          body.size(), body));
    EXPECT_EQ(Predict(body).body, R"({"predictions": [2.5]})");
    dropped = client_->Get(options.monitoring.path).body.find("status=\"CANCELLED\"") !=
              std::string::npos;
  }
  EXPECT_TRUE(dropped);
}

TEST_F(ServerTest, AnswersBrowsersOfOtherSites) {
  ServerOptions options = Options();
  options.cors = true;
  Start(options);
  EXPECT_NE(Predict(R"({"instances": [1]})").head.find("Access-Control-Allow-Origin: *"),
            std::string::npos);
}

TEST_F(ServerTest, OptionsThatCannotBeFollowedAreErrors) {
  ServerOptions options = Options();
  options.models[0].base_path = Path("none");
  EXPECT_EQ(StatusOf([&] { Server server(options); }).code(), Code::kNotFound);
  options = Options();
  options.address = "nowhere";
  EXPECT_EQ(StatusOf([&] { Server server(options); }).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant::serving
