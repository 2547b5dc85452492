#include "sextant/dist/grpc_target.h"

#include <grpcpp/client_context.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "sextant/device/device.h"
#include "sextant/dist/fragment_messages.h"
#include "sextant/dist/graph_ahead.h"
#include "sextant/dist/incarnation.h"
#include "sextant/dist/peer.h"
#include "sextant/dist/peer_attempt.h"
#include "sextant/dist/peer_notice.h"
#include "sextant/dist/sent_graph.h"
#include "sextant/dist/server.h"
#include "sextant/dist/task_status.h"
#include "sextant/dist/trace_messages.h"
#include "sextant/dist/training_task.h"
#include "sextant/dist/wire.h"
#include "sextant/net/grpc_frame.h"
#include "sextant/runtime/cluster.h"
#include "sextant/runtime/run_needs.h"
#include "sextant/runtime/session_target.h"

namespace sextant::dist {
namespace {

constexpr std::chrono::seconds kControlTime(30), kCloseTime(1);

// Runs that do something one after the other. Who waits for its turn does so until it is cancelled.
class Turns {
 public:
  class Turn {
   public:
    Turn(Turns& turns, CancellationToken& cancellation) : turns_(turns) {
      const auto wake = cancellation.OnCancel([&turns] {
        const std::lock_guard lock(turns.mutex_);
        turns.changed_.notify_all();
      });
      std::unique_lock lock(turns.mutex_);
      turns.changed_.wait(lock, [&] { return !turns.taken_ || cancellation.cancelled(); });
      cancellation.ThrowIfCancelled();
      turns.taken_ = true;
    }
    ~Turn() {
      const std::lock_guard lock(turns_.mutex_);
      turns_.taken_ = false;
      turns_.changed_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Turns& turns_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;
};

// A session that a server runs: the graph is sent once, runs go by name. The server closes it when
// it has not heard of this process for long (client_sessions.h), so a thread says that it lives.
class GrpcSession : public RemoteSession {
 public:
  GrpcSession(const Graph& graph, const SessionOptions& options)
      : graph_(graph),
        handle_(fmt::format("{:016x}", NewIncarnation())),
        peer_(std::make_shared<Peer>(PeerOptions{.task = "",
                                                 .address = AddressOfTarget(options.target),
                                                 .own_task = "",
                                                 .credentials = net::CredentialsFromEnvironment(),
                                                 .shared_frames = false})),
        stub_(SessionService::NewStub(peer_->control())),
        sent_(graph) {
    CancellationToken token;
    std::unique_ptr<DeadlineTimer::Handle> deadline;
    if (options.deadline) {
      deadline.reset(new DeadlineTimer::Handle(
          DeadlineTimer::Schedule(std::chrono::steady_clock::now() + *options.deadline, token)));
    }
    NamingTheServer(token, [&] { Create(options, token); });
  }

  void Run(std::span<const Output> feeds, std::span<const Tensor> values,
           std::span<const Output> outputs, std::span<const Operation> targets,
           const RunOptions& options, CancellationToken& cancellation,
           std::span<Tensor> fetches) override {
    const RunEnds run{feeds, outputs, targets};
    try {
      NamingTheServer(cancellation,
                      [&] { RunThere(run, values, options.trace, cancellation, fetches); });
    } catch (const Error& error) {
      const uint64_t there = peer_->Status().incarnation();
      if (error.code() == Code::kAborted && there != 0 && there != incarnation_) throw Lost(run);
      throw;
    }
  }

  void Close() noexcept override {
    keeper_ = {};
    CloseSessionRequest request;
    request.set_handle(handle_);
    peer_->FillStamp(0, 0, request.mutable_stamp());
    Nothing reply;
    grpc::ClientContext context;
    context.set_deadline(In(kCloseTime));
    peer_->token().AddTo(context);
    stub_->CloseSession(&context, request, &reply);  // a server that is gone has closed it
  }

  std::vector<const Device*> devices() const override {
    std::vector<const Device*> devices;
    for (const auto& device : devices_) devices.push_back(device.get());
    return devices;
  }

 private:
  struct UnderWay {
    explicit UnderWay(Peer& to) : peer(to), sequence(to.BeginCall()) {}
    ~UnderWay() { peer.EndCall(sequence); }
    Peer& peer;
    const uint64_t sequence;
  };

  void Create(const SessionOptions& options, CancellationToken& token) {
    peer_->Connect(token);
    CreateSessionRequest request;
    request.set_handle(handle_);
    holds_data_ = HoldsData(graph_);
    const SentGraph::Addition addition = *sent_.Missing();
    request.mutable_config()->set_allow_soft_placement(options.allow_soft_placement);
    request.mutable_config()->set_log_device_placement(options.log_device_placement);
    CreateSessionReply reply;
    Control(token, addition.graph_def, request, [&](grpc::ClientContext& context) {
      reply.Clear();
      return stub_->CreateSession(&context, request, &reply);
    });
    sent_.Sent(addition);
    incarnation_ = reply.incarnation();
    keeper_ = std::jthread([this, interval = std::chrono::milliseconds(reply.keep_ms())](
                               const std::stop_token& closed) { Keep(closed, interval); });
    std::string task;  // the devices of a task follow each other
    int index = 0;
    for (const DeviceAttributes& device : reply.devices()) {
      const std::string of = device.name().substr(0, device.name().find("/device:"));
      index = of == task ? index + 1 : 0;
      task = of;
      devices_.push_back(std::move(MakeHostDevices(index + 1, task).back()));
    }
  }

  void Keep(const std::stop_token& closed, std::chrono::milliseconds interval) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait_for(lock, closed, interval, [] { return false; });
      if (closed.stop_requested()) return;
      auto notice = std::make_shared<Notice<KeepSessionRequest>>(peer_->token());
      notice->request.set_handle(handle_);
      peer_->FillStamp(0, 0, notice->request.mutable_stamp());
      stub_->async()->KeepSession(&notice->context, &notice->request, &notice->reply,
                                  net::AsyncCall::Callback(notice));
    }
  }

  void RunThere(const RunEnds& run, std::span<const Tensor> values, StepTrace* trace,
                CancellationToken& cancellation, std::span<Tensor> fetches) {
    Extend(cancellation);
    if (holds_data_) CheckRunTravels(graph_, run);
    RunHeader header;
    header.set_handle(handle_);
    for (const Output& feed : run.feeds) header.add_feeds(feed.name());
    for (const Output& output : run.fetches) header.add_fetches(output.name());
    for (const Operation& target : run.targets) header.add_targets(target.name());
    header.set_trace(trace != nullptr);
    const UnderWay call(*peer_);
    peer_->FillStamp(call.sequence, 0, header.mutable_stamp());
    header.mutable_stamp()->set_receiver(incarnation_);
    const bool large = IsLarge(values);
    if (large) header.set_parts(peer_->SendParts(call.sequence, 0, values, cancellation));
    const net::EncodedFrame frame =
        net::EncodeFrame(header.SerializeAsString(), large ? std::span<const Tensor>() : values);
    std::vector<Tensor> tensors;
    try {
      const grpc::ByteBuffer answer =
          peer_->Ask(kRunMethod, net::ToByteBuffer(frame), cancellation,
                     [&] { peer_->CancelCall(call.sequence, 0, cancellation.status()); });
      tensors = peer_->Take(answer, call.sequence, 0, cancellation);
      if (trace != nullptr)
        TakeTrace(ParseHeader<ReplyHeader>(net::FromByteBuffer(answer).message), trace);
    } catch (...) {
      if (cancellation.cancelled()) peer_->CancelCall(call.sequence, 0);
      throw;
    }
    if (tensors.size() != fetches.size()) {
      throw DataLoss("{} tensors came where {} were fetched", tensors.size(), fetches.size());
    }
    std::move(tensors.begin(), tensors.end(), fetches.begin());
  }

  // A deadline that passes while the server is silent: whose silence it is, and why.
  template <typename Work>
  void NamingTheServer(const CancellationToken& cancellation, Work&& work) const {
    try {
      work();
    } catch (const Error& error) {
      if (error.code() != Code::kDeadlineExceeded || !cancellation.cancelled() ||
          error.message() != cancellation.status().message())
        throw;
      throw Error(error.code(),
                  fmt::format("{}: no answer yet from {}{}{}", error.message(),
                              devices_.empty() ? "" : ShortTaskName(devices_[0]->name()) + " at ",
                              peer_->address(), peer_->hindrance()));
    }
  }

  // Sends the request, with the graph.
  template <typename Request, typename Method>
  void Control(CancellationToken& cancellation, const std::string& graph_def, Request& request,
               Method&& method) {
    GraphAhead graph(*peer_, graph_def);
    if (!graph.large()) request.set_graph_def(graph_def);
    RetryPolicy retry(*peer_);
    for (;;) {
      request.set_parts(graph.Send(cancellation));
      peer_->FillStamp(graph.sequence(), 0, request.mutable_stamp());
      if (incarnation_ != 0) request.mutable_stamp()->set_receiver(incarnation_);
      grpc::ClientContext context;
      context.set_deadline(In(kControlTime + graph.ReadingTime()));
      peer_->token().AddTo(context);
      grpc::Status status;
      {
        const auto abandon = cancellation.OnCancel([&] { context.TryCancel(); });
        status = method(context);
      }
      if (status.ok()) return;
      retry.Failed(status, cancellation);
    }
  }

  // Nodes that the graph has got since; other runs wait for it. What the server has is not known
  // when this fails: then all is sent the next time.
  void Extend(CancellationToken& cancellation) {
    const Turns::Turn turn(turns_, cancellation);
    const std::optional<SentGraph::Addition> addition = sent_.Missing();
    if (!addition) return;
    holds_data_ = HoldsData(graph_);
    ExtendSessionRequest request;
    request.set_handle(handle_);
    request.set_number(++extensions_);
    request.set_nodes_before(addition->nodes_before);
    Nothing reply;
    sent_.Lost();
    Control(cancellation, addition->graph_def, request, [&](grpc::ClientContext& context) {
      return stub_->ExtendSession(&context, request, &reply);
    });
    sent_.Sent(*addition);
  }

  // What is in the way of a run at a server that was restarted.
  Error Lost(const RunEnds& run) const {
    const std::string& task = devices_[0]->name();
    std::vector<std::string> variables = VariablesOf(graph_, run, task);
    if (!variables.empty()) return RestartedError({.task = task, .variables = variables});
    return Error(Code::kAborted,
                 fmt::format("{} was restarted and does not know session {}: open a new session",
                             ShortTaskName(task), handle_));
  }

  const Graph& graph_;
  const std::string handle_;
  const std::shared_ptr<Peer> peer_;
  const std::unique_ptr<SessionService::Stub> stub_;
  uint64_t incarnation_ = 0;  // of the task that has the session
  Turns turns_;               // of runs, to extend the session
  SentGraph sent_;
  uint64_t extensions_ = 0;
  std::atomic<bool> holds_data_ = false;  // whether the graph holds data of this process
  std::vector<std::unique_ptr<Device>> devices_;
  std::jthread keeper_;
};

SessionTarget OpenGrpcTarget(const Graph& graph, const SessionOptions& options) {
  SessionTarget target;
  if (const Server* server = Server::Find(options.target)) {
    target.environment = server->environment();
  } else {
    target.remote = std::make_unique<GrpcSession>(graph, options);
  }
  return target;
}

}  // namespace

void RegisterGrpcTargets() {
  RegisterTargetScheme("grpc", OpenGrpcTarget);
  RegisterClusterOpener(OpenTrainingTask);
}

}  // namespace sextant::dist

// Called by libsextant when it has opened this library.
extern "C" __attribute__((visibility("default"))) void SextantRegisterTargets() {
  sextant::dist::RegisterGrpcTargets();
}
