#include "sextant/dist/task_status.h"

#include "sextant/dist/cluster_spec.h"
#include "sextant/dist/peer.h"
#include "sextant/dist/peer_attempt.h"

namespace sextant::dist {
namespace {

constexpr std::chrono::seconds kStatusTime(5);

}  // namespace

std::string AddressOfTarget(const std::string& target) {
  constexpr std::string_view kScheme = "grpc://";
  if (!target.starts_with(kScheme))
    throw InvalidArgument("'{}' is no target: give grpc://host:port", target);
  std::string address = target.substr(kScheme.size());
  ParseAddress(address);
  return address;
}

StatusReply AskStatus(const std::string& address, const net::CredentialOptions& credentials) {
  Peer peer({.task = "", .address = address, .own_task = "", .credentials = credentials});
  grpc::ClientContext context;
  context.set_deadline(In(kStatusTime));
  peer.token().AddTo(context);
  StatusReply reply;
  const grpc::Status status =
      TaskService::NewStub(peer.control())->Status(&context, StatusRequest(), &reply);
  if (status.ok()) return reply;
  peer.ThrowUnlessTransient(status);
  throw Error(Code::kUnavailable, address + ": " + net::FromGrpcStatus(status).message());
}

}  // namespace sextant::dist
