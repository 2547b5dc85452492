#include "sextant/serving/grpc_server.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <atomic>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/base/parse_number.h"
#include "sextant/serving/grpc_calls.h"

namespace sextant::serving {
namespace {

// The bytes of a message in one piece: as they are, or copied together.
std::string_view Joined(grpc::ByteBuffer& buffer, grpc::Slice* slice) {
  if (!buffer.TrySingleSlice(slice).ok() && !buffer.DumpToSingleSlice(slice).ok()) {
    throw Internal("the buffer of a request cannot be read");
  }
  return {reinterpret_cast<const char*>(slice->begin()), slice->size()};
}

// gRPC frees the string when it is sent.
grpc::ByteBuffer BufferOf(std::string bytes) {
  auto* kept = new std::string(std::move(bytes));
  const grpc::Slice slice(
      kept->data(), kept->size(), [](void* text) { delete static_cast<std::string*>(text); }, kept);
  return grpc::ByteBuffer(&slice, 1);
}

Clock::time_point DeadlineOf(const grpc::GenericCallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return Clock::time_point::max();
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(deadline - std::chrono::system_clock::now());
}

std::string_view MetadataOf(const grpc::GenericCallbackServerContext& context, const char* key) {
  const auto found = context.client_metadata().find(key);
  if (found == context.client_metadata().end()) return {};
  return {found->second.data(), found->second.size()};
}

// One call: a message is read, answered, and that is all.
class UnaryCall final : public grpc::ServerGenericBidiReactor {
 public:
  UnaryCall(const GrpcCalls& calls, grpc::GenericCallbackServerContext* context)
      : calls_(calls), context_(*context) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      return Finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "the call has no message"));
    }
    GrpcCallInfo info{.method = context_.method(),
                      .authorization = MetadataOf(context_, "authorization"),
                      .traffic_key = MetadataOf(context_, "x-traffic-key"),
                      .deadline = DeadlineOf(context_),
                      .cancelled = [state = state_] { return state->cancelled.load(); }};
    grpc::Slice slice;
    const auto done = [this](const Status& status, std::string answer) {
      Answer(status, std::move(answer));
    };
    try {
      calls_.Handle(info, Joined(request_, &slice), done);
    } catch (...) {
      done(CurrentStatus(), "");
    }
  }
  void OnCancel() override { state_->cancelled = true; }
  void OnDone() override { delete this; }

 private:
  // Outlives the call in functions that ask for it.
  struct CallState {
    std::atomic<bool> cancelled{false};
  };

  void Answer(const Status& status, std::string answer) {
    if (!status.ok()) {
      return Finish(grpc::Status(static_cast<grpc::StatusCode>(status.code()), status.message()));
    }
    answer_ = BufferOf(std::move(answer));
    StartWriteAndFinish(&answer_, grpc::WriteOptions(), grpc::Status::OK);
  }

  const GrpcCalls& calls_;
  grpc::GenericCallbackServerContext& context_;
  const std::shared_ptr<CallState> state_ = std::make_shared<CallState>();
  grpc::ByteBuffer request_, answer_;
};

class ServingService final : public grpc::CallbackGenericService {
 public:
  explicit ServingService(const ServingParts& parts) : calls_(parts) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new UnaryCall(calls_, context);
  }

 private:
  const GrpcCalls calls_;
};

std::shared_ptr<grpc::ServerCredentials> CredentialsOf(const GrpcServerOptions& options) {
  if (!options.tls) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls(
      options.tls->verify_client ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                 : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  tls.pem_key_cert_pairs.push_back({options.tls->private_key, options.tls->certificate});
  tls.pem_root_certs = options.tls->client_ca;
  return grpc::SslServerCredentials(tls);
}

void AddArgument(const std::string& text, grpc::ServerBuilder* builder) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw InvalidArgument("'{}' is no argument of gRPC: give name=value", text);
  }
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  if (int32_t number = 0; ParseNumber(value, &number)) {
    builder->AddChannelArgument(name, number);
  } else {
    builder->AddChannelArgument(name, value);
  }
}

}  // namespace

class GrpcServer::State {
 public:
  State(const GrpcServerOptions& options, const ServingParts& parts) : service_(parts) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&service_);
    builder.SetMaxReceiveMessageSize(static_cast<int>(
        std::min<int64_t>(options.max_message_bytes, std::numeric_limits<int>::max())));
    builder.SetMaxSendMessageSize(-1);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_streams);
    builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 16 << 10);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    for (const std::string& argument : options.arguments) AddArgument(argument, &builder);
    const bool v6 = options.address.find(':') != std::string::npos;
    const std::string address =
        fmt::format("{}{}{}:{}", v6 ? "[" : "", options.address, v6 ? "]" : "", options.port);
    if (options.port >= 0) builder.AddListeningPort(address, CredentialsOf(options), &port_);
    if (!options.unix_path.empty()) {
      builder.AddListeningPort("unix:" + options.unix_path, grpc::InsecureServerCredentials());
    }
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || (options.port >= 0 && port_ == 0)) {
      throw MakeError<Code::kUnavailable>(
          "cannot listen at {} for gRPC: the address is in use or "
          "not ours, or the TLS files do not fit",
          address);
    }
    SetHealthy(false);
  }
  ~State() { Drain(std::chrono::milliseconds(0)); }

  int port() const { return port_; }
  void SetHealthy(bool healthy) { server_->GetHealthCheckService()->SetServingStatus(healthy); }
  void Drain(std::chrono::milliseconds limit) {
    server_->Shutdown(std::chrono::system_clock::now() + limit);
    server_->Wait();
  }

 private:
  ServingService service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

GrpcServer::GrpcServer(const GrpcServerOptions& options, const ServingParts& parts)
    : state_(std::make_unique<State>(options, parts)) {}
GrpcServer::~GrpcServer() = default;
int GrpcServer::port() const { return state_->port(); }
void GrpcServer::SetHealthy(bool healthy) { state_->SetHealthy(healthy); }
void GrpcServer::Drain(std::chrono::milliseconds limit) { state_->Drain(limit); }

}  // namespace sextant::serving
