#include "sextant/dist/admission.h"

#include "sextant/net/channel.h"

namespace sextant::dist {
namespace {

grpc::Status StatusOfMethod(const Admission::Method& method) {
  try {
    return method();
  } catch (...) {
    return net::ToGrpcStatus(CurrentStatus());
  }
}

}  // namespace

grpc::Status Admission::Check(const grpc::CallbackServerContext& context) const {
  beginning_.Take();
  if (closed_) return {grpc::StatusCode::UNAVAILABLE, "the server is stopping"};
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(net::kAuthorizationKey);
  const grpc::string_ref given = found == metadata.end() ? grpc::string_ref() : found->second;
  if (token_.Matches({given.data(), given.size()})) return grpc::Status::OK;
  return {grpc::StatusCode::UNAUTHENTICATED,
          "wrong or missing token: both sides need the same SEXTANT_TOKEN_FILE"};
}

grpc::ServerUnaryReactor* Admission::Answer(grpc::CallbackServerContext* context,
                                            const Method& method) const {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  grpc::Status status = Check(*context);
  if (status.ok()) status = StatusOfMethod(method);
  end_.Give();
  reactor->Finish(status);
  return reactor;
}

grpc::ServerUnaryReactor* Admission::AnswerLater(CallThreads& threads,
                                                 grpc::CallbackServerContext* context,
                                                 Method method) const {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (const grpc::Status status = Check(*context); !status.ok()) {
    end_.Give();
    reactor->Finish(status);
  } else {
    const bool taken = threads.Run(
        [reactor, method = std::move(method)] { reactor->Finish(StatusOfMethod(method)); });
    end_.Give();
    if (!taken) reactor->Finish(net::ToGrpcStatus(TooManyCalls()));
  }
  return reactor;
}

}  // namespace sextant::dist
