#include "sextant/serving/grpc_server.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/net/http_client.h"
#include "sextant/proto/serving.pb.h"
#include "sextant/serving/client.h"
#include "sextant/serving/grpc_credentials.h"
#include "sextant/serving/server.h"
#include "sextant/serving/small_model_test_helpers.h"
#include "sextant/testing/certificates.h"
#include "sextant/testing/http_client.h"
#include "sextant/testing/status_of.h"

namespace sextant::serving {
namespace {

namespace fs = std::filesystem;

class GrpcServerTest : public testing::Test {
 protected:
  GrpcServerTest() { ExportSmallModel(Path("m"), 3); }

  ServerOptions Options() const {
    return {.grpc_port = 0,
            .rest_port = 0,
            .rest_threads = 1,
            .models = {{.name = "m", .base_path = Path("m")}},
            .file_system_poll = std::chrono::milliseconds(20)};
  }
  void Start(const ServerOptions& options) {
    server_ = std::make_unique<Server>(options);
    ASSERT_TRUE(server_->WaitUntilReady(std::chrono::seconds(30)));
  }
  Client NewClient(const std::string& token = "") const {
    return Client({.address = fmt::format("127.0.0.1:{}", server_->grpc_port()), .token = token});
  }
  std::string Write(const std::string& name, const std::string& text) const {
    FileSystem::ForPath("/").WriteFileAtomically(Path(name), text);
    return Path(name);
  }
  std::string Path(const std::string& name) const { return JoinPath(directory_.path(), name); }
  template <typename F>
  static Code CodeOf(const F& f) {
    return StatusOf(f).code();
  }
  static PredictAnswer Ask(const Client& client, const ModelQuery& query = {.model = "m"}) {
    return client.Predict(query, {{"x", Tensor::Of<float>({1, 2, 5})}});
  }

  const TemporaryDirectory directory_;
  std::unique_ptr<Server> server_;
};

TEST_F(GrpcServerTest, Predicts) {
  Start(Options());
  const Client client = NewClient();
  const PredictAnswer answer = Ask(client);
  EXPECT_TRUE(answer.outputs.at("y").Identical(Tensor::Of<float>({2.5f, 3, 4.5f})));
  EXPECT_EQ(answer.version, 3);
  EXPECT_EQ(answer.signature, "serving_default");
  EXPECT_EQ(Ask(client, {.model = "m", .version = 3, .outputs = {"y"}}).outputs.size(), 1u);
}

TEST_F(GrpcServerTest, ErrorsHaveTheirCodes) {
  Start(Options());
  const Client client = NewClient();
  const auto predict = [&](const ModelQuery& query, const NamedTensors& inputs) {
    return CodeOf([&] { client.Predict(query, inputs); });
  };
  const Tensor x = Tensor::Of<float>({1});
  EXPECT_EQ(predict({.model = "no"}, {{"x", x}}), Code::kNotFound);
  EXPECT_EQ(predict({.model = "m", .version = 9}, {{"x", x}}), Code::kNotFound);
  EXPECT_EQ(predict({.model = ""}, {{"x", x}}), Code::kInvalidArgument);
  EXPECT_EQ(predict({.model = "m", .signature = "s"}, {{"x", x}}), Code::kFailedPrecondition);
  EXPECT_EQ(predict({.model = "m"}, {}), Code::kInvalidArgument);
  EXPECT_EQ(predict({.model = "m"}, {{"z", x}}), Code::kInvalidArgument);
  EXPECT_EQ(predict({.model = "m"}, {{"x", x}, {"z", x}}), Code::kInvalidArgument);
  EXPECT_EQ(predict({.model = "m"}, {{"x", Tensor::Of<int32_t>({1})}}), Code::kInvalidArgument);
  EXPECT_EQ(predict({.model = "m", .outputs = {"q"}}, {{"x", x}}), Code::kInvalidArgument);
  EXPECT_EQ(predict({.model = "m", .outputs = {"y", "y"}}, {{"x", x}}), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { client.Classify({.model = "m"}, {""}); }), Code::kInvalidArgument);
  const std::string service = "/tensorflow.serving.PredictionService/";
  EXPECT_EQ(CodeOf([&] { client.Call(service + "Predict", "\xff\xff\xff"); }),
            Code::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { client.Call(service + "Fly", ""); }), Code::kUnimplemented);
  EXPECT_EQ(CodeOf([&] { client.Call(service + "Predict", std::string(65 << 20, 'x')); }),
            Code::kResourceExhausted);
  Ask(client);
}

TEST_F(GrpcServerTest, HostileTensorsAreRefused) {
  Start(Options());
  const Client client = NewClient();
  const auto code = [&](const auto& spoil) {
    proto::PredictRequest request;
    request.mutable_model_spec()->set_name("m");
    auto& tensor = (*request.mutable_inputs())["x"];
    tensor.set_dtype(proto::DT_FLOAT);
    spoil(&tensor);
    return CodeOf([&] {
      client.Call("/tensorflow.serving.PredictionService/Predict", request.SerializeAsString());
    });
  };
  using T = proto::TensorProto;
  EXPECT_EQ(code([](T* t) { t->mutable_tensor_shape()->add_dim()->set_size(-2); }),
            Code::kInvalidArgument);
  EXPECT_EQ(code([](T* t) {
              for (int i = 0; i < 4; ++i) t->mutable_tensor_shape()->add_dim()->set_size(1 << 30);
              t->add_float_val(1);
            }),
            Code::kInvalidArgument);
  EXPECT_EQ(code([](T* t) {  // fits into 64 bits, but into no memory
              t->mutable_tensor_shape()->add_dim()->set_size(int64_t{1} << 36);
              t->add_float_val(1);
            }),
            Code::kInvalidArgument);
  EXPECT_EQ(code([](T* t) {
              t->mutable_tensor_shape()->add_dim()->set_size(4);
              t->set_tensor_content("abc");
            }),
            Code::kInvalidArgument);
  EXPECT_EQ(code([](T* t) {
              for (int i = 0; i < 1000; ++i) t->mutable_tensor_shape()->add_dim()->set_size(1);
              t->add_float_val(1);
            }),
            Code::kInvalidArgument);
  EXPECT_EQ(code([](T* t) {
              t->set_dtype(proto::DT_STRING);
              t->mutable_tensor_shape()->add_dim()->set_size(1);
              for (int i = 0; i < 100000; ++i) t->add_string_val("");
            }),
            Code::kInvalidArgument);
  EXPECT_EQ(code([](T* t) { t->mutable_tensor_shape()->set_unknown_rank(true); }),
            Code::kInvalidArgument);
  Ask(client);
}

TEST_F(GrpcServerTest, TellsStatusMetadataAndHealth) {
  Start(Options());
  const Client client = NewClient();
  const auto versions = client.Status("m");
  ASSERT_EQ(versions.size(), 1u);
  EXPECT_EQ(versions[0].state, "AVAILABLE");
  proto::GetModelMetadataRequest request;
  request.mutable_model_spec()->set_name("m");
  const std::string method = "/tensorflow.serving.PredictionService/GetModelMetadata";
  EXPECT_EQ(CodeOf([&] { client.Call(method, request.SerializeAsString()); }),
            Code::kInvalidArgument);
  request.add_metadata_field("signature_def");
  proto::GetModelMetadataResponse response;
  ASSERT_TRUE(response.ParseFromString(client.Call(method, request.SerializeAsString())));
  const auto& any = response.metadata().at("signature_def");
  EXPECT_EQ(any.type_url(), "type.googleapis.com/tensorflow.serving.SignatureDefMap");
  proto::SignatureDefMap map;
  ASSERT_TRUE(map.ParseFromString(any.value()));
  EXPECT_EQ(map.signature_def().at("serving_default").inputs().at("x").name(), "x:0");
  // SERVING is 1 in field 1.
  std::string health;
  while ((health = client.Call("/grpc.health.v1.Health/Check", "")) != "\x08\x01") {
  }
}

TEST_F(GrpcServerTest, OnlyTheAdminMayChangeTheConfiguration) {
  ServerOptions options = Options();
  options.admin_token_file = Write("admin", "secret\n");
  Start(options);
  ExportSmallModel(Path("n"), 1);
  proto::ReloadConfigRequest request;
  auto* config = request.mutable_config()->mutable_model_config_list()->add_config();
  config->set_name("n");
  config->set_base_path(Path("n"));
  const std::string method = "/tensorflow.serving.ModelService/HandleReloadConfigRequest";
  const auto reload = [&](const std::string& token) {
    proto::ReloadConfigResponse response;
    response.ParseFromString(NewClient(token).Call(method, request.SerializeAsString()));
    return response.status().error_code();
  };
  EXPECT_EQ(CodeOf([&] { reload(""); }), Code::kPermissionDenied);
  EXPECT_EQ(CodeOf([&] { reload("secrex"); }), Code::kPermissionDenied);
  config->set_base_path("/etc");
  EXPECT_EQ(CodeOf([&] { reload("secret"); }), Code::kPermissionDenied);
  config->set_base_path(Path("m/../../.."));
  EXPECT_EQ(CodeOf([&] { reload("secret"); }), Code::kPermissionDenied);
  config->set_base_path(Path("none"));
  EXPECT_EQ(reload("secret"), static_cast<int>(Code::kNotFound));
  Ask(NewClient());
  config->set_base_path(Path("n"));
  EXPECT_EQ(reload("secret"), 0);
  EXPECT_EQ(Ask(NewClient(), {.model = "n"}).version, 1);
  EXPECT_EQ(CodeOf([&] { Ask(NewClient()); }), Code::kNotFound);
  // A model that does not load is told.
  fs::create_directories(Path("broken/1/variables"));
  Write("broken/1/saved_model.pb", "damaged");
  MakeOld(Path("broken"));
  config->set_name("broken");
  config->set_base_path(Path("broken"));
  EXPECT_EQ(reload("secret"), static_cast<int>(Code::kFailedPrecondition));
}

TEST_F(GrpcServerTest, ANewConfigurationHasItsOwnLog) {
  ServerOptions options = Options();
  options.admin_token_file = Write("admin", "secret\n");
  Start(options);
  proto::ReloadConfigRequest request;
  auto* config = request.mutable_config()->mutable_model_config_list()->add_config();
  config->set_name("m");
  config->set_base_path(Path("m"));
  config->mutable_logging_config()->mutable_log_collector_config()->set_filename_prefix(
      Path("log"));
  config->mutable_logging_config()->mutable_sampling_config()->set_sampling_rate(1);
  NewClient("secret").Call("/tensorflow.serving.ModelService/HandleReloadConfigRequest",
                           request.SerializeAsString());
  Ask(NewClient());
  server_.reset();
  const auto logged = [](const auto& file) { return file.path().extension() == ".tfrecord"; };
  EXPECT_TRUE(std::ranges::any_of(fs::directory_iterator(directory_.path()), logged));
}

TEST_F(GrpcServerTest, TokensGuardModels) {
  ServerOptions options = Options();
  ExportSmallModel(Path("n"), 1);
  options.models.push_back({.name = "n", .base_path = Path("n")});
  options.token_file = Write("tokens", "\357\273\277all\n# who\nfor_n n\n");
  Start(options);
  EXPECT_EQ(CodeOf([&] { Ask(NewClient()); }), Code::kUnauthenticated);
  EXPECT_EQ(CodeOf([&] { Ask(NewClient("wrong")); }), Code::kUnauthenticated);
  EXPECT_EQ(CodeOf([&] { Ask(NewClient("for_n")); }), Code::kPermissionDenied);
  Ask(NewClient("for_n"), {.model = "n"});
  Ask(NewClient("all"));
  TestHttpClient rest(server_->rest_port());
  const std::string body = R"({"instances": [1.0]})";
  EXPECT_EQ(rest.Post("/v1/models/m:predict", body).status, 401);
  EXPECT_EQ(rest.Post("/v1/models/m:predict", body, "Authorization: Bearer for_n\r\n").status, 403);
  EXPECT_EQ(rest.Post("/v1/models/m:predict", body, "Authorization: Bearer all\r\n").status, 200);
  EXPECT_EQ(rest.Get("/healthz").status, 200);
}

TEST_F(GrpcServerTest, MetricsCountBothInterfaces) {
  ServerOptions options = Options();
  options.monitoring.enabled = true;
  options.models[0].labels = {{"stable", 3}};
  Start(options);
  Ask(NewClient());
  EXPECT_EQ(CodeOf([&] { Ask(NewClient(), {.model = "m", .signature = "no"}); }),
            Code::kFailedPrecondition);
  Ask(NewClient(), {.model = "m", .label = "stable"});
  TestHttpClient rest(server_->rest_port());
  rest.Post("/v1/models/m:predict", R"({"instances": [1.0, 2.0]})");
  rest.Post("/v1/models/m:predict", "{");
  rest.Post("/v1/models/nobody:predict", "{");
  const std::string tf = ":tensorflow:serving:";
  const std::string batches = tf + "batching_session:processed_batch_size_sum{model_name=\"m\"} 8";
  std::string text;  // a batch is counted when its requests have been answered
  for (int i = 0; i < 1000 && text.find(batches) == std::string::npos; ++i)
    text = rest.Get("/monitoring/prometheus/metrics").body;
  const auto has = [&](const std::string& line) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  };
  has(":tensorflow:serving:request_count{model_name=\"m\",status=\"OK\"} 3");
  has(":tensorflow:serving:request_count{model_name=\"m\",status=\"FAILED_PRECONDITION\"} 1");
  has("sextant_requests{api=\"GRPC\",code=\"OK\",label=\"stable\",method=\"Predict\",model=\"m\","
      "signature=\"serving_default\",version=\"3\"} 1");
  has(tf + "model_warmup_latency_count{model_path=\"" + Path("m/3") + "\",status=\"OK\"} 1");
  has(":tensorflow:serving:request_count{model_name=\"m\",status=\"INVALID_ARGUMENT\"} 1");
  has(tf + "request_latency_count{API=\"Predict\",entrypoint=\"GRPC\",model_name=\"m\"} 2");
  has(batches);
  has("sextant_loaded_bytes{model=\"m\",version=\"3\"} 4");
  EXPECT_EQ(text.find("nobody"), std::string::npos);
}

TEST_F(GrpcServerTest, LoggedRequestsServeAsWarmUp) {
  ServerOptions options = Options();
  options.models[0].log_prefix = Path("log");
  options.models[0].log_sampling = 0.5;
  Start(options);
  TestHttpClient rest(server_->rest_port());
  for (int i = 0; i < 4; ++i) rest.Post("/v1/models/m:predict", R"({"instances": [1.0, 2.0]})");
  for (int i = 0; i < 4; ++i) Ask(NewClient());
  server_.reset();
  std::string file;
  for (const auto& entry : fs::directory_iterator(directory_.path())) {
    if (entry.path().extension() == ".tfrecord") file = entry.path();
  }
  ASSERT_NE(file, "");
  TFRecordReader reader(file);
  std::string record;
  int count = 0;
  while (reader.Next(&record)) {
    proto::PredictionLog log;
    ASSERT_TRUE(log.ParseFromString(record));
    EXPECT_EQ(log.predict_log().request().model_spec().name(), "m");
    EXPECT_EQ(log.predict_log().response().outputs().at("y").float_val(0), 2.5f);
    ++count;
  }
  EXPECT_EQ(count, 4);
  fs::create_directory(Path("m/3/assets.extra"));
  fs::copy(file, Path("m/3/assets.extra/tf_serving_warmup_requests"));
  const auto warm = Servable::Load("m", 3, Path("m/3"), {});
  EXPECT_NE(warm->warm_up().find("4 recorded requests replayed"), std::string::npos)
      << warm->warm_up();
  FileSystem::ForPath("/").WriteFileAtomically(Path("m/3/assets.extra/tf_serving_warmup_requests"),
                                               "nonsense that is no record");
  EXPECT_THROW(Servable::Load("m", 3, Path("m/3"), {}), Error);
}

// TensorFlow Serving's ssl_config_file.
std::string TlsText(const CertificateAuthority::Pair& pair, const std::string& ca) {
  const auto quoted = [](const std::string& text) {
    std::string result;
    for (const char c : text) result += c == '\n' ? "\\n" : std::string(1, c);
    return "\"" + result + "\"";
  };
  std::string text =
      "server_key: " + quoted(pair.key) + " server_cert: " + quoted(pair.certificate);
  if (!ca.empty()) text += " custom_ca: " + quoted(ca) + " client_verify: true";
  return text;
}

TEST_F(GrpcServerTest, SpeaksTlsOnBothPorts) {
  const CertificateAuthority authority("test authority"), stranger("another");
  ServerOptions options = Options();
  options.tls_file = Write("tls", TlsText(authority.Issue("localhost"), authority.certificate()));
  Start(options);
  const auto ask = [&](const CertificateAuthority& trusted, const CertificateAuthority::Pair& own) {
    const Client client({.address = fmt::format("localhost:{}", server_->grpc_port()),
                         .tls = true,
                         .ca = trusted.certificate(),
                         .client_certificate = own.certificate,
                         .client_key = own.key,
                         .timeout = std::chrono::seconds(5)});
    return CodeOf([&] { Ask(client); });
  };
  EXPECT_EQ(ask(authority, authority.Issue("client")), Code::kOk);
  EXPECT_NE(ask(stranger, authority.Issue("client")), Code::kOk);
  EXPECT_NE(ask(authority, stranger.Issue("client")), Code::kOk);
  EXPECT_EQ(TestHttpClient(server_->rest_port()).Get("/healthz").status, 0);
}

TEST_F(GrpcServerTest, ReadsCertificatesAgain) {
  const CertificateAuthority first("first"), second("second");
  ServerOptions options = Options();
  options.tls_file = Write("tls", TlsText(first.Issue("localhost"), ""));
  Start(options);
  const auto grpc = [&](const CertificateAuthority& trusted) {
    const Client client({.address = fmt::format("localhost:{}", server_->grpc_port()),
                         .tls = true,
                         .ca = trusted.certificate()});
    return CodeOf([&] { Ask(client); });
  };
  const auto rest = [&](const CertificateAuthority& trusted) {
    net::HttpClient client({.host = "localhost",
                            .port = server_->rest_port(),
                            .tls = true,
                            .ca = trusted.certificate()});
    return CodeOf([&] { client.Get("/healthz"); });
  };
  EXPECT_EQ(grpc(first), Code::kOk);
  EXPECT_EQ(rest(first), Code::kOk);
  EXPECT_NE(grpc(second), Code::kOk);
  const Client connected({.address = fmt::format("localhost:{}", server_->grpc_port()),
                          .tls = true,
                          .ca = first.certificate()});
  Ask(connected);
  Write("tls", TlsText(second.Issue("localhost"), ""));
  for (int i = 0; i < 3000 && (grpc(second) != Code::kOk || rest(second) != Code::kOk); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(grpc(second), Code::kOk);
  EXPECT_EQ(rest(second), Code::kOk);
  EXPECT_NE(grpc(first), Code::kOk);
  EXPECT_NE(rest(first), Code::kOk);
  Ask(connected);
}

TEST_F(GrpcServerTest, KeepsCertificatesWhenNewOnesDoNotFit) {
  const CertificateAuthority authority("authority");
  const auto one = authority.Issue("localhost"), other = authority.Issue("localhost");
  ReloadableCredentials credentials({.private_key = one.key, .certificate = one.certificate});
  EXPECT_EQ(
      CodeOf([&] { credentials.Set({.private_key = other.key, .certificate = one.certificate}); }),
      Code::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] {
              credentials.Set({.private_key = other.key,
                               .certificate = other.certificate,
                               .client_ca = authority.certificate(),
                               .verify_client = true});
            }),
            Code::kInvalidArgument);
  credentials.Set({.private_key = other.key, .certificate = other.certificate});
}

}  // namespace
}  // namespace sextant::serving
