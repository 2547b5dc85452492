// Admission: who may speak to a server, asked by every method of its services.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <functional>

#include "sextant/dist/call_threads.h"
#include "sextant/net/handover.h"
#include "sextant/net/token.h"

namespace sextant::dist {

class Admission {
 public:
  explicit Admission(const net::CredentialOptions& credentials) : token_(credentials) {}

  // OK, or UNAUTHENTICATED without the right token, or UNAVAILABLE once closed.
  grpc::Status Check(const grpc::CallbackServerContext& context) const;
  // From now on nobody is admitted.
  void Close() { closed_ = true; }

  // Given before the server listens: gRPC runs methods on threads of its own.
  const net::Handover& beginning() const { return beginning_; }
  // Given by each method with its last look at a service, taken when the server has ended them all.
  const net::Handover& end() const { return end_; }

  using Method = std::function<grpc::Status()>;
  // Runs a method whose caller is admitted and answers with its status; what it throws becomes one.
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   const Method& method) const;
  // The same for a method that takes its time: on a thread of its own; RESOURCE_EXHAUSTED where
  // there is none.
  grpc::ServerUnaryReactor* AnswerLater(CallThreads& threads, grpc::CallbackServerContext* context,
                                        Method method) const;

 private:
  const net::Token token_;
  std::atomic<bool> closed_ = false;
  const net::Handover beginning_{}, end_{};
};

}  // namespace sextant::dist
