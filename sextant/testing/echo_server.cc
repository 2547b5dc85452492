#include "sextant/testing/echo_server.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <future>

#include "sextant/base/error.h"
#include "sextant/net/async_call.h"
#include "sextant/net/channel.h"
#include "sextant/net/handover.h"
#include "sextant/net/token.h"

namespace sextant {
namespace {

class EchoCall : public grpc::ServerGenericBidiReactor {
 public:
  explicit EchoCall(bool admitted) {
    handover_.Give();
    if (admitted) {
      StartRead(&message_);
    } else {
      Finish(grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "wrong token"));
    }
  }
  void OnReadDone(bool ok) override {
    handover_.Take();
    handover_.Give();
    if (ok) {
      StartWriteAndFinish(&message_, grpc::WriteOptions(), grpc::Status::OK);
    } else {
      Finish(grpc::Status::OK);
    }
  }
  void OnDone() override {
    handover_.Take();
    delete this;
  }

 private:
  const net::Handover handover_{};
  grpc::ByteBuffer message_;
};

struct EchoResult : net::AsyncCall {
  void Ended(const grpc::Status& status) override { ended.set_value(status); }
  std::promise<grpc::Status> ended;
};

class EchoService : public grpc::CallbackGenericService {
 public:
  explicit EchoService(const net::CredentialOptions& credentials) : token_(credentials) {}

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    const auto found = context->client_metadata().find(net::kAuthorizationKey);
    const grpc::string_ref given =
        found == context->client_metadata().end() ? grpc::string_ref() : found->second;
    return new EchoCall(token_.Matches({given.data(), given.size()}));
  }

  const net::Token token_;
};

}  // namespace

struct EchoServer::State {
  explicit State(const net::CredentialOptions& credentials) : service(credentials) {}
  EchoService service;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
};

EchoServer::EchoServer(const net::CredentialOptions& credentials, int port)
    : state_(std::make_unique<State>(credentials)) {
  grpc::ServerBuilder builder;
  net::ConfigureServer(builder);
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port),
                           net::MakeServerCredentials(credentials), &state_->port);
  builder.RegisterCallbackGenericService(&state_->service);
  state_->server = builder.BuildAndStart();
  if (!state_->server) throw Internal("the echo server cannot listen at port {}", port);
}
EchoServer::~EchoServer() { state_->server->Shutdown(std::chrono::system_clock::now()); }

int EchoServer::port() const { return state_->port; }

grpc::Status Echo(const std::string& address, const net::CredentialOptions& credentials,
                  const std::string& message, std::string* answer) {
  grpc::GenericStub stub(net::MakeChannel(address, net::ChannelUse::kBulk, credentials));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  net::Token(credentials).AddTo(context);
  const grpc::Slice slice(message);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  const auto call = std::make_shared<EchoResult>();
  stub.UnaryCall(&context, "/echo", grpc::StubOptions(), &request, &response,
                 net::AsyncCall::Callback(call));
  grpc::Status status = call->ended.get_future().get();
  if (!status.ok()) return status;
  grpc::Slice all;
  if (response.DumpToSingleSlice(&all).ok())
    answer->assign(reinterpret_cast<const char*>(all.begin()), all.size());
  return status;
}

}  // namespace sextant
