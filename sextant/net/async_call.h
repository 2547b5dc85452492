// AsyncCall: what a call of gRPC's callback interface works on: context, messages, result. gRPC has
// its callback run on another thread, which may be the last to let go of it.
//
//   struct Attempt : net::AsyncCall { grpc::ClientContext context; ... void Ended(...) override; };
//   stub.UnaryCall(&attempt->context, ..., net::AsyncCall::Callback(attempt));
#pragma once

#include <grpcpp/support/status.h>

#include <functional>
#include <memory>

#include "sextant/net/handover.h"

namespace sextant::net {

class AsyncCall {
 public:
  AsyncCall() = default;
  virtual ~AsyncCall() = default;
  AsyncCall(const AsyncCall&) = delete;
  AsyncCall& operator=(const AsyncCall&) = delete;

  // To be given to gRPC at once; holds the call until it has run.
  static std::function<void(grpc::Status)> Callback(std::shared_ptr<AsyncCall> call) {
    AsyncCall* const one = call.get();
    one->self_ = std::move(call);
    one->handover_.Give();
    return Function{one};
  }

 private:
  // gRPC hands the function itself over too, in a way that ThreadSanitizer does not see: it must
  // not look at how the pointer is read.
  struct Function {
    AsyncCall* call;
    __attribute__((noinline, no_sanitize("thread"))) void operator()(
        const grpc::Status& status) const {
      call->Finish(status);
    }
  };

  virtual void Ended(const grpc::Status& /*status*/) {}

  void Finish(const grpc::Status& status) {
    handover_.Take();
    const std::shared_ptr<AsyncCall> self = std::move(self_);
    self->Ended(status);
  }

  const Handover handover_{};
  std::shared_ptr<AsyncCall> self_;
};

}  // namespace sextant::net
