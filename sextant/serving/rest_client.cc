#include "sextant/serving/rest_client.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/formats/json_request.h"
#include "sextant/formats/json_tensor.h"
#include "sextant/net/http_client.h"
#include "sextant/proto/example.pb.h"

namespace sextant::serving {
namespace {

using nlohmann::json;

std::string PercentEncoded(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~') {
      text += c;
    } else {
      text += fmt::format("%{:02X}", byte);
    }
  }
  return text;
}

std::string PathOf(const ModelQuery& query) {
  std::string path = "/v1/models/" + PercentEncoded(query.model);
  if (query.version) {
    path += fmt::format("/versions/{}", *query.version);
  } else if (!query.label.empty()) {
    path += "/labels/" + PercentEncoded(query.label);
  }
  return path;
}

json ParsedJson(const std::string& text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) throw DataLoss("the server's answer is no JSON");
  return value;
}

// What "reading" gives, for which the answer has to have a certain form.
template <typename Reading>
auto ReadAnswer(const Reading& reading) {
  try {
    return reading();
  } catch (const json::exception& error) {
    throw DataLoss("the server's answer has another form than expected: {}", error.what());
  }
}

[[noreturn]] void ThrowAnswer(const net::HttpResult& result) {
  const json value = json::parse(result.body, nullptr, false);
  const bool told = value.is_object() && value.contains("error") && value["error"].is_string();
  throw Error(CodeOfHttpStatus(result.status),
              told ? value["error"].get<std::string>()
                   : fmt::format("the server answers with HTTP status {}", result.status));
}

void AppendStart(const ModelQuery& query, std::string* body) {
  body->append("{");
  if (query.signature.empty()) return;
  body->append("\"signature_name\": ");
  AppendJsonString(query.signature, body);
  body->append(", ");
}

std::string PredictBody(const ModelQuery& query, const NamedTensors& inputs) {
  std::string body;
  AppendStart(query, &body);
  body += "\"inputs\": {";
  for (const auto& [name, tensor] : inputs) {
    if (body.back() != '{') body += ", ";
    AppendJsonString(name, &body);
    body += ": ";
    AppendJson(tensor, {.base64 = true}, &body);
  }
  return body + "}}";
}

void AppendFeature(const proto::Feature& feature, std::string* body) {
  body->push_back('[');
  const auto separate = [&] {
    if (body->back() != '[') body->append(", ");
  };
  for (const int64_t value : feature.int64_list().value()) {
    separate();
    body->append(std::to_string(value));
  }
  for (const float value : feature.float_list().value()) {
    separate();
    AppendJsonNumber(value, body);
  }
  for (const std::string& value : feature.bytes_list().value()) {
    separate();
    AppendJson(Tensor(value), {.base64 = true}, body);
  }
  body->push_back(']');
}

std::string ExamplesBody(const ModelQuery& query, const std::vector<std::string>& examples) {
  std::string body;
  AppendStart(query, &body);
  body += "\"examples\": [";
  for (const std::string& bytes : examples) {
    proto::Example example;
    if (!example.ParseFromString(bytes)) {
      throw InvalidArgument("an example of {} bytes is none", bytes.size());
    }
    body += body.back() == '[' ? "{" : ", {";
    for (const auto& [name, feature] : example.features().feature()) {
      if (body.back() != '{') body += ", ";
      AppendJsonString(name, &body);
      body += ": ";
      AppendFeature(feature, &body);
    }
    body += "}";
  }
  return body + "]}";
}

// The outputs of a signature, sorted, as its metadata has them.
std::vector<JsonInput> OutputsOf(const json& metadata, const std::string& signature) {
  const json& all = metadata.at("metadata").at("signature_def").at("signature_def");
  const std::string wanted = !signature.empty()                ? signature
                             : all.contains("serving_default") ? "serving_default"
                             : all.size() == 1                 ? all.begin().key()
                                                               : "";
  if (!all.contains(wanted)) {
    throw MakeError<Code::kFailedPrecondition>("the model has no signature '{}'", wanted);
  }
  std::vector<JsonInput> outputs;
  for (const auto& [name, info] : all.at(wanted).at("outputs").items()) {
    std::string type = info.at("dtype").get<std::string>();  // "DT_FLOAT"
    std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
    outputs.push_back({name, DTypeFromName(type.starts_with("dt_") ? type.substr(3) : type)});
  }
  return outputs;
}

}  // namespace

Code CodeOfHttpStatus(int status) {
  switch (status) {
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kPermissionDenied;
    case 404:
      return Code::kNotFound;
    case 409:
      return Code::kAborted;
    case 413:
    case 429:
      return Code::kResourceExhausted;
    case 499:
      return Code::kCancelled;
    case 501:
      return Code::kUnimplemented;
    case 503:
      return Code::kUnavailable;
    case 504:
      return Code::kDeadlineExceeded;
    default:
      return status < 500 ? Code::kInvalidArgument : Code::kInternal;
  }
}

class RestClient::State {
 public:
  explicit State(const ClientOptions& options)
      : server_(net::ParseHttpUrl(options.address).server) {
    server_.ca = options.ca;
    server_.client_certificate = options.client_certificate;
    server_.client_key = options.client_key;
    server_.timeout = options.timeout;
    if (!options.token.empty()) {
      headers_.emplace_back("Authorization", "Bearer " + options.token);
    }
  }

  // The body of an answer without error; "body" null: GET.
  std::string Ask(const std::string& target, const std::string* body) {
    std::unique_ptr<net::HttpClient> client = Take();
    const net::HttpResult result =
        body == nullptr ? client->Get(target, headers_) : client->Post(target, *body, headers_);
    {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(client));
    }
    if (result.status != 200) ThrowAnswer(result);
    return result.body;
  }

  std::vector<JsonInput> Outputs(const ModelQuery& query, bool again) {
    const auto key = std::make_pair(PathOf(query), query.signature);
    {
      const std::lock_guard lock(mutex_);
      const auto found = outputs_.find(key);
      if (found != outputs_.end() && !again) return found->second;
    }
    const json metadata = ParsedJson(Ask(key.first + "/metadata", nullptr));
    std::vector<JsonInput> outputs =
        ReadAnswer([&] { return OutputsOf(metadata, query.signature); });
    const std::lock_guard lock(mutex_);
    return outputs_[key] = std::move(outputs);
  }

 private:
  std::unique_ptr<net::HttpClient> Take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<net::HttpClient>(server_);
    auto client = std::move(idle_.back());
    idle_.pop_back();
    return client;
  }

  net::HttpClientOptions server_;
  net::HttpClient::Headers headers_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<net::HttpClient>> idle_;
  std::map<std::pair<std::string, std::string>, std::vector<JsonInput>> outputs_;
};

RestClient::RestClient(const ClientOptions& options) : state_(std::make_unique<State>(options)) {}
RestClient::~RestClient() = default;

PredictAnswer RestClient::Predict(const ModelQuery& query, const NamedTensors& inputs) {
  const std::string body = PredictBody(query, inputs);
  std::string text = state_->Ask(PathOf(query) + ":predict", &body);
  // An answer in columns is written as a request is, but for the name of its only member.
  const std::string_view member = "\"outputs\"";
  const size_t at = text.find(member);
  if (at == std::string::npos) throw DataLoss("the server's answer has no \"outputs\"");
  text.replace(at, member.size(), "\"inputs\"");
  const auto read = [&](bool again) {
    const std::vector<JsonInput> outputs = state_->Outputs(query, again);
    std::vector<Tensor> values = ReadJsonRequest(text, [&](std::string_view) {
                                   return std::span<const JsonInput>(outputs);
                                 }).inputs;
    PredictAnswer answer{.version = query.version.value_or(0), .signature = query.signature};
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto& wanted = query.outputs;
      if (wanted.empty() || std::ranges::find(wanted, outputs[i].name) != wanted.end()) {
        answer.outputs.emplace(outputs[i].name, std::move(values[i]));
      }
    }
    for (const std::string& name : query.outputs) {
      if (!answer.outputs.contains(name)) throw InvalidArgument("there is no output '{}'", name);
    }
    return answer;
  };
  try {
    return read(false);
  } catch (const Error&) {  // another version may have other outputs
    return read(true);
  }
}

std::vector<std::vector<std::pair<std::string, float>>> RestClient::Classify(
    const ModelQuery& query, const std::vector<std::string>& examples) {
  const std::string body = ExamplesBody(query, examples);
  const json answer = ParsedJson(state_->Ask(PathOf(query) + ":classify", &body));
  return ReadAnswer([&] {
    std::vector<std::vector<std::pair<std::string, float>>> rows;
    for (const json& classes : answer.at("results")) {
      auto& row = rows.emplace_back();
      for (const json& one : classes) {
        row.emplace_back(one.at(0).get<std::string>(), one.at(1).get<float>());
      }
    }
    return rows;
  });
}

std::vector<float> RestClient::Regress(const ModelQuery& query,
                                       const std::vector<std::string>& examples) {
  const std::string body = ExamplesBody(query, examples);
  const json answer = ParsedJson(state_->Ask(PathOf(query) + ":regress", &body));
  return ReadAnswer([&] { return answer.at("results").get<std::vector<float>>(); });
}

std::vector<Client::VersionInfo> RestClient::Status(const std::string& model) {
  const json answer = ParsedJson(state_->Ask(PathOf({.model = model}), nullptr));
  return ReadAnswer([&] {
    std::vector<Client::VersionInfo> versions;
    for (const json& status : answer.at("model_version_status")) {
      versions.push_back({std::stoll(status.at("version").get<std::string>()),
                          status.at("state").get<std::string>(),
                          status.at("status").at("error_message").get<std::string>()});
    }
    return versions;
  });
}

}  // namespace sextant::serving
