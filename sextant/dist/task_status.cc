#include "sextant/dist/task_status.h"

#include "sextant/dist/cluster_spec.h"
#include "sextant/dist/peer.h"
#include "sextant/dist/peer_attempt.h"

namespace sextant::dist {

std::string AddressOfTarget(const std::string& target) {
  constexpr std::string_view kScheme = "grpc://";
  if (!target.starts_with(kScheme))
    throw InvalidArgument("'{}' is no target: give grpc://host:port", target);
  std::string address = target.substr(kScheme.size());
  ParseAddress(address);
  return address;
}

StatusReply AskStatus(const std::string& address, const net::CredentialOptions& credentials,
                      std::chrono::milliseconds time) {
  Peer peer({.task = "", .address = address, .own_task = "", .credentials = credentials});
  grpc::ClientContext context;
  context.set_deadline(In(time));
  peer.token().AddTo(context);
  StatusReply reply;
  const grpc::Status status =
      TaskService::NewStub(peer.control())->Status(&context, StatusRequest(), &reply);
  if (status.ok()) return reply;
  peer.ThrowUnlessTransient(status);
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    throw MakeError<Code::kUnavailable>(
        "{} has not answered within {:.3g} s: is it a task of a cluster, and does it run?", address,
        std::chrono::duration<double>(time).count());
  }
  throw Error(Code::kUnavailable, address + ": " + net::FromGrpcStatus(status).message());
}

}  // namespace sextant::dist
