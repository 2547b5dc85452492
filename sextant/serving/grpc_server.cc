#include "sextant/serving/grpc_server.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <atomic>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/base/parse_number.h"
#include "sextant/net/gzip.h"
#include "sextant/net/handover.h"
#include "sextant/serving/grpc_calls.h"
#include "sextant/serving/grpc_credentials.h"
#include "sextant/serving/grpc_reflection.h"

namespace sextant::serving {
namespace {

// The bytes of a message in one piece: as they are, or copied together.
std::string_view Joined(grpc::ByteBuffer& buffer, grpc::Slice* slice) {
  if (!buffer.TrySingleSlice(slice).ok() && !buffer.DumpToSingleSlice(slice).ok()) {
    throw Internal("the buffer of a request cannot be read");
  }
  return {reinterpret_cast<const char*>(slice->begin()), slice->size()};
}

// gRPC would unpack a message whole before it looks at its size. A message that begins like a
// gzip file is none that a method takes: its first field would be of a kind that there is not.
bool IsPacked(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

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
  UnaryCall(const GrpcCalls& calls, size_t max_bytes, grpc::GenericCallbackServerContext* context)
      : calls_(calls), max_bytes_(max_bytes), context_(*context) {
    handover_.Give();
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    handover_.Take();
    if (!ok) return Answer(InvalidArgument("the call has no message").status(), "");
    GrpcCallInfo info{.method = context_.method(),
                      .authorization = MetadataOf(context_, "authorization"),
                      .traffic_key = MetadataOf(context_, "x-traffic-key"),
                      .deadline = DeadlineOf(context_),
                      .cancelled = [state = state_] { return state->cancelled.load(); }};
    grpc::Slice slice;
    std::string unpacked;
    const auto done = [this](const Status& status, std::string answer) {
      Answer(status, std::move(answer));
    };
    try {
      std::string_view bytes = Joined(request_, &slice);
      if (IsPacked(bytes)) bytes = unpacked = net::Gunzip(bytes, max_bytes_);
      calls_.Handle(info, bytes, done);
    } catch (...) {
      done(CurrentStatus(), "");
    }
  }
  void OnCancel() override {
    handover_.Take();
    state_->cancelled = true;
  }
  void OnDone() override {
    handover_.Take();
    delete this;
  }

 private:
  // Outlives the call in functions that ask for it.
  struct CallState {
    std::atomic<bool> cancelled{false};
  };

  void Answer(const Status& status, std::string answer) {
    if (!status.ok()) {
      handover_.Give();
      return Finish(grpc::Status(static_cast<grpc::StatusCode>(status.code()), status.message()));
    }
    answer_ = BufferOf(std::move(answer));
    handover_.Give();
    StartWriteAndFinish(&answer_, grpc::WriteOptions(), grpc::Status::OK);
  }

  const GrpcCalls& calls_;
  const size_t max_bytes_;
  grpc::GenericCallbackServerContext& context_;
  const std::shared_ptr<CallState> state_ = std::make_shared<CallState>();
  const net::Handover handover_{};
  grpc::ByteBuffer request_, answer_;
};

// Requests and answers in turn, until the client has no more.
class ReflectionCall final : public grpc::ServerGenericBidiReactor {
 public:
  ReflectionCall() { Read(); }
  void OnReadDone(bool ok) override {
    handover_.Take();
    if (!ok) return End(grpc::Status::OK);
    grpc::Slice slice;
    try {
      answer_ = BufferOf(ReflectionAnswer(Joined(request_, &slice)));
    } catch (...) {
      return End(grpc::Status(grpc::StatusCode::INTERNAL, CurrentStatus().message()));
    }
    handover_.Give();
    StartWrite(&answer_);
  }
  void OnWriteDone(bool ok) override {
    handover_.Take();
    if (!ok) return End(grpc::Status::CANCELLED);
    Read();
  }
  void OnDone() override {
    handover_.Take();
    delete this;
  }

 private:
  void Read() {
    handover_.Give();
    StartRead(&request_);
  }
  void End(const grpc::Status& status) {
    handover_.Give();
    Finish(status);
  }

  const net::Handover handover_{};
  grpc::ByteBuffer request_, answer_;
};

class ServingService final : public grpc::CallbackGenericService {
 public:
  ServingService(const ServingParts& parts, size_t max_bytes)
      : calls_(parts), max_bytes_(max_bytes) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    if (IsReflectionMethod(context->method())) return new ReflectionCall();
    return new UnaryCall(calls_, max_bytes_, context);
  }

 private:
  const GrpcCalls calls_;
  const size_t max_bytes_;
};

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
  State(const GrpcServerOptions& options, const ServingParts& parts)
      : service_(parts, static_cast<size_t>(options.max_message_bytes)) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&service_);
    builder.SetMaxReceiveMessageSize(static_cast<int>(
        std::min<int64_t>(options.max_message_bytes, std::numeric_limits<int>::max())));
    builder.SetMaxSendMessageSize(-1);
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
    builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);  // see IsPacked
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_streams);
    builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 16 << 10);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    for (const std::string& argument : options.arguments) AddArgument(argument, &builder);
    const bool v6 = options.address.find(':') != std::string::npos;
    const std::string address =
        fmt::format("{}{}{}:{}", v6 ? "[" : "", options.address, v6 ? "]" : "", options.port);
    if (options.tls) tls_ = std::make_shared<ReloadableCredentials>(*options.tls);
    if (options.port >= 0) {
      builder.AddListeningPort(
          address,
          tls_ ? std::shared_ptr<grpc::ServerCredentials>(tls_) : grpc::InsecureServerCredentials(),
          &port_);
    }
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
  void SetTls(const TlsFiles& files) { tls_->Set(files); }
  void Drain(std::chrono::milliseconds limit) {
    server_->Shutdown(std::chrono::system_clock::now() + limit);
    server_->Wait();
  }

 private:
  ServingService service_;
  std::shared_ptr<ReloadableCredentials> tls_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

GrpcServer::GrpcServer(const GrpcServerOptions& options, const ServingParts& parts)
    : state_(std::make_unique<State>(options, parts)) {}
GrpcServer::~GrpcServer() = default;
int GrpcServer::port() const { return state_->port(); }
void GrpcServer::SetHealthy(bool healthy) { state_->SetHealthy(healthy); }
void GrpcServer::SetTls(const TlsFiles& files) { state_->SetTls(files); }
void GrpcServer::Drain(std::chrono::milliseconds limit) { state_->Drain(limit); }

}  // namespace sextant::serving
