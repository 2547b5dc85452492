// FragmentService: the server's end of calls: keeps fragments, runs them, remembers answers.
//
// A call whose connection breaks runs on: its caller sends it again and gets the answer. It ends
// early only when the caller says so (Cancel), has been silent for a lease, or the server
// stops.
#pragma once

#include <atomic>
#include <chrono>
#include <climits>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "sextant/base/thread_team.h"
#include "sextant/dist/admission.h"
#include "sextant/dist/call_history.h"
#include "sextant/dist/call_threads.h"
#include "sextant/dist/caller_holdings.h"
#include "sextant/dist/kept_frames.h"
#include "sextant/dist/part_store.h"
#include "sextant/dist/peer.h"
#include "sextant/dist/shard.h"
#include "sextant/dist/shared_frames.h"
#include "sextant/dist/summed_calls.h"
#include "sextant/proto/cluster.grpc.pb.h"
#include "sextant/runtime/fragment_host.h"

namespace sextant::dist {

// The methods that take frames are raw, all are asynchronous.
using TaskServiceBase = TaskService::WithRawCallbackMethod_Call<
    TaskService::WithRawCallbackMethod_SendPart<TaskService::WithRawCallbackMethod_FetchPart<
        TaskService::WithRawCallbackMethod_FetchKept<TaskService::WithCallbackMethod_Hello<
            TaskService::WithCallbackMethod_Register<TaskService::WithCallbackMethod_Cancel<
                TaskService::WithCallbackMethod_EndRun<TaskService::WithCallbackMethod_EndSession<
                    TaskService::WithCallbackMethod_Status<TaskService::Service>>>>>>>>>>;

struct FragmentServiceOptions {
  std::string task;
  uint64_t incarnation = 0;
  std::vector<const Device*> devices;
  // The other tasks, for tensors that they keep.
  std::function<Peer&(const std::string& task)> find_peer;
  // Adds what others know to the answer of Status.
  std::function<void(StatusReply*)> add_status;
  std::function<void(uint64_t sender, uint64_t sequence, const sextant::Status& why)>
      cancel_session_run;
  int threads = 0;                                // that copy large tensors; 0: of all cores
  Shard* shard = nullptr;                         // that calls enter; outlives the service
  std::shared_ptr<StepCommit> commit = {};        // for summed calls; none: they are refused
  SharedFramesListener* shared_frames = nullptr;  // outlives the service
};

class FragmentService final : public TaskServiceBase {
 public:
  // "host", "parts" and "admission" must outlive it.
  FragmentService(FragmentHost& host, PartStore& parts, const Admission& admission,
                  FragmentServiceOptions options);
  ~FragmentService() override;

  // Cancels all calls: they answer UNAVAILABLE.
  void Stop();
  size_t running() const { return history_.running(); }
  // Called at regular intervals, kLooksPerLease to a lease (client_sessions.h): forgets callers
  // whose lease has ended, and what is kept for them; drops fragments that have not been called for
  // long.
  void ForgetSilentSenders();

  using Unary = grpc::ServerUnaryReactor*;
  using Context = grpc::CallbackServerContext*;
  Unary Call(Context context, const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;
  Unary SendPart(Context context, const grpc::ByteBuffer* request,
                 grpc::ByteBuffer* reply) override;
  Unary FetchPart(Context context, const grpc::ByteBuffer* request,
                  grpc::ByteBuffer* reply) override;
  Unary FetchKept(Context context, const grpc::ByteBuffer* request,
                  grpc::ByteBuffer* reply) override;
  Unary Hello(Context context, const HelloRequest* request, HelloReply* reply) override;
  Unary Register(Context context, const RegisterRequest* request, Nothing* reply) override;
  Unary Cancel(Context context, const CancelRequest* request, Nothing* reply) override;
  Unary EndRun(Context context, const EndRunRequest* request, Nothing* reply) override;
  Unary EndSession(Context context, const EndSessionRequest* request, Nothing* reply) override;
  Unary Status(Context context, const StatusRequest* request, StatusReply* reply) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Answer {
    grpc::ByteBuffer message;
    std::shared_ptr<const void> held = {};  // what the message refers to
  };
  using History = CallHistory<Answer>;

  ThreadTeam::Limit LimitCopies() const {
    return ThreadTeam::Limit(options_.threads > 0 ? options_.threads : INT_MAX);
  }
  grpc::Status CheckStamp(const Stamp& stamp) const;
  // What the sender says of its calls.
  void Hear(const Stamp& stamp) {
    const SenderProgress progress = ProgressOf(stamp);
    parts_.Forget(progress);
    history_.Touch(progress);
  }
  void RunCall(const std::shared_ptr<History::Running>& running, const CallHeader& header,
               std::vector<Tensor> inputs, const std::shared_ptr<SharedFrames>& shared);
  Answer AnswerWith(const PartStore::Key& key, const std::vector<Tensor>& outputs,
                    SharedFrames* shared);
  std::vector<Tensor> RunFragment(const CallHeader& header, std::vector<Tensor> inputs,
                                  CancellationToken& cancellation);
  bool Updates(const Fragment& fragment) const;
  // What runs instead of an update that is too stale; none: it runs as it is.
  std::shared_ptr<const Fragment> StaleVariant(const Fragment& fragment, double weight);
  // True: it came too late.
  bool Contribute(const CallHeader& header, const Fragment& fragment, std::vector<Tensor> inputs);
  std::vector<Tensor> KeptInputs(const Fragment& fragment, const CallHeader& header,
                                 CancellationToken& cancellation);
  void FillStatus(StatusReply* reply) const;

  FragmentHost& host_;
  PartStore& parts_;
  const Admission& admission_;
  const FragmentServiceOptions options_;
  KeptFrames kept_frames_;
  const Clock::time_point started_ = Clock::now();
  History history_{256};
  CallerHoldings holdings_;
  mutable std::mutex mutex_;
  std::set<uint64_t> updating_;  // fingerprints of fragments that change variables
  std::atomic<uint64_t> calls_ = 0, received_bytes_ = 0, sent_bytes_ = 0;
  std::unique_ptr<SummedCalls> sums_;
  CallThreads threads_;  // destroyed first: calls use all of the above
};

}  // namespace sextant::dist
