#include "sextant/serving/client.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <future>

#include "sextant/base/error.h"
#include "sextant/net/async_call.h"
#include "sextant/net/credentials.h"
#include "sextant/net/token.h"
#include "sextant/proto/serving.pb.h"
#include "sextant/serving/rest_client.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant::serving {
namespace {

constexpr const char* kPredict = "/tensorflow.serving.PredictionService/Predict";
constexpr const char* kClassify = "/tensorflow.serving.PredictionService/Classify";
constexpr const char* kRegress = "/tensorflow.serving.PredictionService/Regress";
constexpr const char* kStatus = "/tensorflow.serving.ModelService/GetModelStatus";

// Lives until gRPC has let go of it, which may be after the answer was taken. It does not hold the
// context: that holds the channel, which must not end on a thread of gRPC.
struct CallResult : net::AsyncCall {
  void Ended(const grpc::Status& status) override { ended.set_value(status); }
  std::promise<grpc::Status> ended;
};

std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(const ClientOptions& options) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({options.ca, options.client_key, options.client_certificate});
}

void FillQuery(const ModelQuery& query, proto::ModelSpec* spec) {
  spec->set_name(query.model);
  spec->set_signature_name(query.signature);
  if (query.version) {
    spec->mutable_version()->set_value(*query.version);
  } else if (!query.label.empty()) {
    spec->set_version_label(query.label);
  }
}

template <typename Message>
Message AnswerOf(const std::string& bytes) {
  Message message;
  if (!message.ParseFromString(bytes)) {
    throw DataLoss("the server's answer is no {}", message.GetDescriptor()->name());
  }
  return message;
}

template <typename Request>
std::string ExamplesRequest(const ModelQuery& query, const std::vector<std::string>& examples) {
  Request request;
  FillQuery(query, request.mutable_model_spec());
  for (const std::string& example : examples) {
    if (!request.mutable_input()->mutable_example_list()->add_examples()->ParseFromString(
            example)) {
      throw InvalidArgument("an example of {} bytes is none", example.size());
    }
  }
  return request.SerializeAsString();
}

}  // namespace

class Client::State {
 public:
  explicit State(const ClientOptions& options) : options_(options) {
    if (!options.token.empty()) net::CheckToken(options.token, "ClientOptions::token");
    if (options.address.starts_with("http://") || options.address.starts_with("https://")) {
      rest_ = std::make_unique<RestClient>(options);
      return;
    }
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetMaxSendMessageSize(-1);
    stub_ = std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel(options.address, CredentialsOf(options), arguments));
  }

  RestClient* rest() const { return rest_.get(); }  // null: gRPC

  std::string Call(const std::string& method, const std::string& request) {
    if (rest_) throw Unimplemented("{} by REST", method);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + options_.timeout);
    if (!options_.token.empty()) context.AddMetadata("authorization", "Bearer " + options_.token);
    const grpc::Slice slice(request);
    const grpc::ByteBuffer sent(&slice, 1);
    grpc::ByteBuffer received;
    const auto result = std::make_shared<CallResult>();
    stub_->UnaryCall(&context, method, grpc::StubOptions(), &sent, &received,
                     net::AsyncCall::Callback(result));
    const grpc::Status status = result->ended.get_future().get();
    if (!status.ok()) {
      throw Error(static_cast<Code>(status.error_code()), status.error_message());
    }
    std::string bytes;
    std::vector<grpc::Slice> slices;
    received.Dump(&slices);
    for (const grpc::Slice& part : slices) {
      bytes.append(reinterpret_cast<const char*>(part.begin()), part.size());
    }
    return bytes;
  }

 private:
  const ClientOptions options_;
  std::unique_ptr<grpc::GenericStub> stub_;
  std::unique_ptr<RestClient> rest_;
};

Client::Client(const ClientOptions& options) : state_(std::make_unique<State>(options)) {}
Client::~Client() = default;
std::string Client::Call(const std::string& method, const std::string& request) const {
  return state_->Call(method, request);
}

PredictAnswer Client::Predict(const ModelQuery& query, const NamedTensors& inputs) const {
  if (state_->rest()) return state_->rest()->Predict(query, inputs);
  proto::PredictRequest request;
  FillQuery(query, request.mutable_model_spec());
  for (const auto& [name, tensor] : inputs) {
    TensorToProto(tensor, &(*request.mutable_inputs())[name]);
  }
  for (const std::string& output : query.outputs) request.add_output_filter(output);
  const auto response =
      AnswerOf<proto::PredictResponse>(Call(kPredict, request.SerializeAsString()));
  PredictAnswer answer{.version = response.model_spec().version().value(),
                       .signature = response.model_spec().signature_name()};
  for (const auto& [name, tensor] : response.outputs()) {
    answer.outputs.emplace(name, TensorFromProto(tensor));
  }
  return answer;
}

std::vector<std::vector<std::pair<std::string, float>>> Client::Classify(
    const ModelQuery& query, const std::vector<std::string>& examples) const {
  if (state_->rest()) return state_->rest()->Classify(query, examples);
  const auto response = AnswerOf<proto::ClassificationResponse>(
      Call(kClassify, ExamplesRequest<proto::ClassificationRequest>(query, examples)));
  std::vector<std::vector<std::pair<std::string, float>>> rows;
  for (const auto& classifications : response.result().classifications()) {
    auto& row = rows.emplace_back();
    for (const auto& one : classifications.classes()) row.emplace_back(one.label(), one.score());
  }
  return rows;
}

std::vector<float> Client::Regress(const ModelQuery& query,
                                   const std::vector<std::string>& examples) const {
  if (state_->rest()) return state_->rest()->Regress(query, examples);
  const auto response = AnswerOf<proto::RegressionResponse>(
      Call(kRegress, ExamplesRequest<proto::RegressionRequest>(query, examples)));
  std::vector<float> values;
  for (const auto& regression : response.result().regressions()) {
    values.push_back(regression.value());
  }
  return values;
}

std::vector<Client::VersionInfo> Client::Status(const std::string& model) const {
  if (state_->rest()) return state_->rest()->Status(model);
  proto::GetModelStatusRequest request;
  request.mutable_model_spec()->set_name(model);
  const auto response =
      AnswerOf<proto::GetModelStatusResponse>(Call(kStatus, request.SerializeAsString()));
  std::vector<VersionInfo> versions;
  for (const auto& status : response.model_version_status()) {
    versions.push_back({status.version(), proto::ModelVersionStatus::State_Name(status.state()),
                        status.status().error_message()});
  }
  return versions;
}

}  // namespace sextant::serving
