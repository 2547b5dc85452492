// Admission: who may speak to a server, asked by every method of its services.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <functional>

#include "sextant/dist/call_threads.h"
#include "sextant/net/credentials.h"

namespace sextant::dist {

class Admission {
 public:
  explicit Admission(const net::CredentialOptions& credentials) : token_(credentials) {}

  // OK, or UNAUTHENTICATED without the right token, or UNAVAILABLE once closed.
  grpc::Status Check(const grpc::CallbackServerContext& context) const;
  // From now on nobody is admitted.
  void Close() { closed_ = true; }

  using Method = std::function<grpc::Status()>;
  // Runs a method whose caller is admitted and answers with its status; what it throws becomes one.
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   const Method& method) const;
  // The same for a method that takes its time: on a thread of its own.
  grpc::ServerUnaryReactor* AnswerLater(CallThreads& threads, grpc::CallbackServerContext* context,
                                        Method method) const;

 private:
  const net::Token token_;
  std::atomic<bool> closed_ = false;
};

}  // namespace sextant::dist
