// SessionHost: sessions for clients that are no task of the cluster. The client sends its graph
// once, extends it when it has grown, and runs it by names; the session runs on this task and calls
// the others. Sessions share the variables of the task.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "sextant/dist/admission.h"
#include "sextant/dist/call_history.h"
#include "sextant/dist/call_threads.h"
#include "sextant/dist/client_sessions.h"
#include "sextant/dist/part_store.h"
#include "sextant/proto/cluster.grpc.pb.h"

namespace sextant::dist {

using SessionServiceBase =
    SessionService::WithRawCallbackMethod_Run<SessionService::WithCallbackMethod_CreateSession<
        SessionService::WithCallbackMethod_ExtendSession<
            SessionService::WithCallbackMethod_KeepSession<
                SessionService::WithCallbackMethod_CloseSession<SessionService::Service>>>>>;

struct SessionHostOptions {
  SessionEnvironment environment;
  SessionOptions session;
  uint64_t incarnation = 0;         // of the task
  std::chrono::milliseconds lease;  // of the sessions
};

class SessionHost final : public SessionServiceBase {
 public:
  // "parts" and "admission" must outlive it, and what the environment points to.
  SessionHost(PartStore& parts, const Admission& admission, SessionHostOptions options);
  ~SessionHost() override;

  // Cancels all runs.
  void Stop();
  void CancelRun(uint64_t sender, uint64_t sequence, const Status& why);
  // Called at regular intervals, kLooksPerLease to a lease (client_sessions.h).
  void EndLeases();
  // Adds runs and their bytes to those of calls.
  void FillStatus(StatusReply* reply) const;
  size_t running() const { return history_.running(); }

  using Unary = grpc::ServerUnaryReactor*;
  using Context = grpc::CallbackServerContext*;
  Unary CreateSession(Context context, const CreateSessionRequest* request,
                      CreateSessionReply* reply) override;
  Unary ExtendSession(Context context, const ExtendSessionRequest* request,
                      Nothing* reply) override;
  Unary Run(Context context, const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;
  Unary KeepSession(Context context, const KeepSessionRequest* request, Nothing* reply) override;
  Unary CloseSession(Context context, const CloseSessionRequest* request, Nothing* reply) override;

 private:
  struct Answer {
    grpc::ByteBuffer message;
    std::shared_ptr<const void> parts = {};
  };
  using History = CallHistory<Answer>;

  // Throws ABORTED where there is none.
  std::shared_ptr<ClientSession> Find(const std::string& handle);
  // What the client says of its runs.
  void Hear(const Stamp& stamp);
  void RunHere(const std::shared_ptr<History::Running>& running, const RunHeader& header,
               std::vector<Tensor> values);

  PartStore& parts_;
  const Admission& admission_;
  const SessionHostOptions options_;
  History history_{256};
  ClientSessions sessions_;
  std::atomic<uint64_t> runs_ = 0, received_bytes_ = 0, sent_bytes_ = 0;
  // Destroyed first: runs use all of the above. Sessions can be closed however many runs wait.
  CallThreads threads_, run_threads_;
};

}  // namespace sextant::dist
