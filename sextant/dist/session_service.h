// SessionHost: sessions for clients that are no task of the cluster. The client sends its graph
// once, extends it when it has grown, and runs it by names; the session runs on this task and calls
// the others. Sessions share the variables of the task.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "sextant/dist/admission.h"
#include "sextant/dist/call_history.h"
#include "sextant/dist/call_threads.h"
#include "sextant/dist/part_store.h"
#include "sextant/proto/cluster.grpc.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/runtime/session_environment.h"

namespace sextant::dist {

using SessionServiceBase =
    SessionService::WithRawCallbackMethod_Run<SessionService::WithCallbackMethod_CreateSession<
        SessionService::WithCallbackMethod_ExtendSession<
            SessionService::WithCallbackMethod_CloseSession<SessionService::Service>>>>;

struct SessionHostOptions {
  SessionEnvironment environment;
  SessionOptions session;
  uint64_t incarnation = 0;  // of the task
};

class SessionHost final : public SessionServiceBase {
 public:
  // "parts" and "admission" must outlive it, and what the environment points to.
  SessionHost(PartStore& parts, const Admission& admission, SessionHostOptions options);
  ~SessionHost() override;

  // Cancels all runs.
  void Stop();
  void CancelRun(uint64_t sender, uint64_t sequence, const Status& why);
  // Runs whose clients have not been heard of for long are cancelled; sessions that nobody has used
  // for a day are closed.
  void ForgetSilentClients();
  size_t num_sessions() const;
  size_t running() const { return history_.running(); }

  using Unary = grpc::ServerUnaryReactor*;
  using Context = grpc::CallbackServerContext*;
  Unary CreateSession(Context context, const CreateSessionRequest* request,
                      CreateSessionReply* reply) override;
  Unary ExtendSession(Context context, const ExtendSessionRequest* request,
                      Nothing* reply) override;
  Unary Run(Context context, const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;
  Unary CloseSession(Context context, const CloseSessionRequest* request, Nothing* reply) override;

 private:
  struct Entry;
  struct Version;
  using Clock = std::chrono::steady_clock;
  using History = CallHistory<grpc::ByteBuffer>;

  std::shared_ptr<Entry> Find(const std::string& handle) const;
  void RunHere(const std::shared_ptr<History::Running>& running, const RunHeader& header,
               std::vector<Tensor> values);

  PartStore& parts_;
  const Admission& admission_;
  const SessionHostOptions options_;
  History history_{256};
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> sessions_;
  // Destroyed first: runs use all of the above. Sessions can be closed however many runs wait.
  CallThreads threads_, run_threads_;
};

}  // namespace sextant::dist
