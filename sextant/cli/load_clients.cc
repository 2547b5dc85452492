#include "sextant/cli/load_clients.h"

#include <fmt/ranges.h>

#include <map>
#include <memory>

#include "sextant/base/error.h"
#include "sextant/formats/json_request.h"
#include "sextant/formats/message_text.h"
#include "sextant/net/http_client.h"
#include "sextant/proto/serving.pb.h"
#include "sextant/serving/client.h"
#include "sextant/serving/rest_client.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant::cli {
namespace {

using Clients = std::function<std::function<void()>()>;
using Signatures = std::map<std::string, std::vector<JsonInput>, std::less<>>;

Clients RestClients(const LoadTarget& target) {
  net::HttpUrl url = net::ParseHttpUrl(target.url);
  url.server.ca = target.ca;
  net::HttpClient::Headers headers = {{"Content-Type", "application/json"}};
  if (!target.token.empty()) headers.emplace_back("Authorization", "Bearer " + target.token);
  return [url, headers, body = target.body] {
    const auto client = std::make_shared<net::HttpClient>(url.server);
    return [url, headers, body, client] {
      const net::HttpResult result =
          body.empty() ? client->Get(url.target, headers) : client->Post(url.target, body, headers);
      if (result.status != 200) throw Error(serving::CodeOfHttpStatus(result.status), result.body);
    };
  };
}

// What the signatures of a model take, as its server says.
Signatures AskSignatures(const serving::Client& client, const std::string& model) {
  proto::GetModelMetadataRequest request;
  request.mutable_model_spec()->set_name(model);
  request.add_metadata_field("signature_def");
  proto::GetModelMetadataResponse response;
  ParseMessage(client.Call("/tensorflow.serving.PredictionService/GetModelMetadata",
                           request.SerializeAsString()),
               "the metadata of model " + model, &response);
  proto::SignatureDefMap map;
  ParseMessage((*response.mutable_metadata())["signature_def"].value(),
               "the signatures of model " + model, &map);
  Signatures signatures;
  for (const auto& [key, signature] : map.signature_def()) {
    std::vector<JsonInput>& inputs = signatures[key];
    for (const auto& [name, info] : signature.inputs()) {
      inputs.push_back(
          {name, static_cast<DType>(info.dtype()), ShapeFromProto(info.tensor_shape())});
    }
  }
  return signatures;
}

std::string KeyOf(const Signatures& signatures, std::string_view name) {
  std::string wanted = name.empty() ? "serving_default" : std::string(name);
  if (signatures.contains(wanted)) return wanted;
  if (name.empty() && signatures.size() == 1) return signatures.begin()->first;
  std::vector<std::string> keys;
  for (const auto& [key, inputs] : signatures) keys.push_back(key);
  throw InvalidArgument("the model has no signature '{}'; there are: {}", wanted,
                        fmt::join(keys, ", "));
}

// grpc://HOST:PORT/MODEL
Clients GrpcClients(const LoadTarget& target) {
  const bool tls = target.url.starts_with("grpcs://");
  const std::string rest = target.url.substr(tls ? 8 : 7);
  const size_t slash = rest.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == rest.size()) {
    throw InvalidArgument("{} names no model: give grpc://HOST:PORT/MODEL", target.url);
  }
  const serving::ClientOptions options{
      .address = rest.substr(0, slash), .token = target.token, .tls = tls, .ca = target.ca};
  serving::ModelQuery query{.model = rest.substr(slash + 1)};
  const Signatures signatures = AskSignatures(serving::Client(options), query.model);
  const JsonRequest request = ReadJsonRequest(target.body, [&](std::string_view name) {
    query.signature = KeyOf(signatures, name);
    return std::span<const JsonInput>(signatures.at(query.signature));
  });
  NamedTensors inputs;
  const std::vector<JsonInput>& names = signatures.at(query.signature);
  for (size_t i = 0; i < names.size(); ++i) {
    if (request.inputs[i].valid()) inputs[names[i].name] = request.inputs[i];
  }
  return [options, query, inputs] {
    const auto client = std::make_shared<serving::Client>(options);
    return [client, query, inputs] { client->Predict(query, inputs); };
  };
}

}  // namespace

std::function<std::function<void()>()> LoadClients(const LoadTarget& target) {
  const bool grpc = target.url.starts_with("grpc://") || target.url.starts_with("grpcs://");
  return grpc ? GrpcClients(target) : RestClients(target);
}

}  // namespace sextant::cli
