// A message to a peer that is sent and forgotten.
#pragma once

#include <grpcpp/client_context.h>

#include <chrono>

#include "sextant/dist/peer_attempt.h"
#include "sextant/net/async_call.h"
#include "sextant/net/token.h"
#include "sextant/proto/cluster.pb.h"

namespace sextant::dist {

// gRPC holds it until the answer, which nobody waits for.
template <typename Request, typename Reply = Nothing>
struct Notice : net::AsyncCall {
  static constexpr std::chrono::seconds kTime{5};
  explicit Notice(const net::Token& token) {
    context.set_deadline(In(kTime));
    token.AddTo(context);
  }
  grpc::ClientContext context;
  Request request;
  Reply reply;
};

}  // namespace sextant::dist
