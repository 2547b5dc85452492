// Predict of 12 KB over gRPC, in turn with a gRPC server that only echoes such bytes.
#include <fmt/format.h>

#include "benchmarks/serving_load.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/proto/serving.pb.h"
#include "sextant/serving/client.h"
#include "sextant/tensor/tensor_proto.h"
#include "sextant/testing/echo_server.h"

namespace sextant::bench {
namespace {

constexpr char kPredict[] = "/tensorflow.serving.PredictionService/Predict";

std::string PredictBytes(int64_t floats) {
  proto::PredictRequest request;
  request.mutable_model_spec()->set_name("identity");
  Tensor x(DType::kFloat, Shape({1, floats}));
  for (int64_t i = 0; i < floats; ++i) x.data<float>()[i] = static_cast<float>(i) * 0.0123f;
  TensorToProto(x, &(*request.mutable_inputs())["x"]);
  return request.SerializeAsString();
}

MakeClient GrpcLoad(const std::string& address, const std::string& bytes) {
  return [address, bytes]() -> LoadClient {
    const auto client =
        std::make_shared<serving::Client>(serving::ClientOptions{.address = address});
    return [client, bytes] { client->Call(kPredict, bytes); };
  };
}

}  // namespace

void MeasureServingGrpc(const ServingOptions& options) {
  const TemporaryDirectory directory;
  serving::ServerOptions server_options;
  server_options.grpc_port = 0;
  server_options.models = {{.name = "identity", .base_path = ExportIdentity(directory.path())}};
  const auto server = StartServer(server_options);
  const EchoServer echo;
  const std::string bytes = PredictBytes(3072);
  for (const int clients : {1, 16}) {
    const std::vector<Measured> measured = MeasureInTurn(
        {{"server", GrpcLoad(fmt::format("127.0.0.1:{}", server->grpc_port()), bytes)},
         {"echo", GrpcLoad(echo.address(), bytes)}},
        clients, options);
    Emit("serving_grpc", "requests_per_second", {measured[0].rate}, false,
         {{"mode", Quote("12 KB")},
          {"clients", std::to_string(clients)},
          {"p50_us", fmt::format("{:.1f}", measured[0].p50_us)},
          {"echo", fmt::format("{:.1f}", measured[1].rate)},
          {"echo_p50_us", fmt::format("{:.1f}", measured[1].p50_us)},
          {"of_echo", fmt::format("{:.3f}", measured[0].rate / measured[1].rate)}});
  }
}

}  // namespace sextant::bench
