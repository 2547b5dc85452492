#include "sextant/dist/peer.h"

#include "sextant/base/wait_notice.h"
#include "sextant/dist/fragment_messages.h"
#include "sextant/dist/graph_ahead.h"
#include "sextant/dist/incarnation.h"
#include "sextant/dist/peer_attempt.h"
#include "sextant/dist/peer_call.h"
#include "sextant/dist/peer_notice.h"
#include "sextant/dist/wire.h"
#include "sextant/net/grpc_frame.h"
#include "sextant/net/tls_diagnosis.h"

namespace sextant::dist {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kHelloTime(2);
constexpr std::chrono::seconds kFirstWaitReport(4), kWaitReport(30);
constexpr std::chrono::milliseconds kPauseBeforeHello(100), kLastWords(500);
constexpr size_t kSlowestBytesPerSecond = 256 << 10;  // of a link that is still waited for

}  // namespace

Peer::Peer(PeerOptions options)
    : options_(std::move(options)),
      sender_(NewIncarnation()),
      token_(options_.credentials),
      bulk_(net::MakeChannel(options_.address, net::ChannelUse::kBulk, options_.credentials)),
      control_(net::MakeChannel(options_.address, net::ChannelUse::kControl, options_.credentials)),
      bulk_stub_(bulk_),
      control_stub_(TaskService::NewStub(control_)),
      place_(options_.task.empty() ? options_.address : ShortTaskName(options_.task)) {}
Peer::~Peer() = default;

std::string Peer::place() const {
  const std::lock_guard lock(mutex_);
  return place_;
}

std::unique_ptr<RemoteCall> Peer::Start(std::shared_ptr<const Fragment> fragment, RunId run,
                                        std::vector<Tensor> inputs,
                                        std::optional<StepToken> token) {
  ++calls_;
  NoteRun(*fragment, run);
  return std::make_unique<PeerCall>(shared_from_this(), std::move(fragment), run, std::move(inputs),
                                    token);
}

std::optional<uint64_t> Peer::AskIncarnation() {
  HelloRequest request;
  request.set_task(options_.own_task);
  request.set_receiver(options_.task);
  request.set_version(kWireVersion);
  FillStamp(0, 0, request.mutable_stamp());
  // A connection to the process that was there before may not have been found broken yet.
  for (int attempts = 0; attempts < 3; ++attempts) {
    grpc::ClientContext context;
    context.set_deadline(In(kHelloTime));
    token_.AddTo(context);
    HelloReply reply;
    if (control_stub_->Hello(&context, request, &reply).ok()) return reply.incarnation();
    ConnectAgain();
  }
  return std::nullopt;
}

uint64_t Peer::BeginCall() {
  const std::lock_guard lock(mutex_);
  under_way_.insert(next_sequence_);
  return next_sequence_++;
}

void Peer::EndCall(uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  under_way_.erase(sequence);
}

void Peer::CancelCall(uint64_t sequence, RunId run, const sextant::Status& why) {
  auto notice = std::make_shared<Notice<CancelRequest>>(token_);
  if (why.code() == Code::kDeadlineExceeded) notice->request.set_deadline(why.message());
  FillStamp(sequence, run, notice->request.mutable_stamp());
  control_stub_->async()->Cancel(&notice->context, &notice->request, &notice->reply,
                                 net::AsyncCall::Callback(notice));
}

void Peer::FillStamp(uint64_t sequence, RunId run, Stamp* stamp) {
  const std::lock_guard lock(mutex_);
  const auto met = sessions_.find(run.session);
  const uint64_t receiver = met != sessions_.end() ? met->second : 0;
  if (const auto kept = runs_.find(run.run); kept != runs_.end() && kept->second == 0)
    kept->second = receiver;
  stamp->set_sender(sender_);
  stamp->set_receiver(receiver);
  stamp->set_sequence(sequence);
  stamp->set_run(run.run);
  stamp->set_session(run.session);
  stamp->set_done_below(next_sequence_);
  for (const uint64_t other : under_way_) {
    if (other != sequence) stamp->add_under_way(other);
  }
  if (const TrainingStamp* training = options_.training.get()) {
    stamp->set_epoch(training->epoch);
    stamp->set_member(training->member);
    stamp->set_cut(training->cut);
  }
}

uint64_t Peer::KeeperOf(uint64_t run) const {
  const std::lock_guard lock(mutex_);
  const auto kept = runs_.find(run);
  return kept == runs_.end() ? 0 : kept->second;
}

std::shared_ptr<Peer::Attempt> Peer::Send(const char* method, grpc::ByteBuffer request) {
  auto attempt = std::make_shared<Attempt>();
  attempt->request = std::move(request);
  const size_t bytes = attempt->request.Length();
  attempt->context.set_deadline(
      In(kAttemptTime + std::chrono::seconds(bytes / kSlowestBytesPerSecond)));
  token_.AddTo(attempt->context);
  sent_bytes_ += bytes;
  bulk_stub_.UnaryCall(&attempt->context, method, grpc::StubOptions(), &attempt->request,
                       &attempt->response, net::AsyncCall::Callback(attempt));
  return attempt;
}

grpc::ByteBuffer Peer::Ask(const char* method, const grpc::ByteBuffer& request,
                           CancellationToken& cancellation,
                           const std::function<void()>& past_deadline, uint64_t session) {
  RetryPolicy retry(*this, session);
  std::shared_ptr<Attempt> attempt = Send(method, request);
  for (WaitNotice notice;;) {
    if (!attempt->WaitFor(kWaitLook, cancellation)) {
      notice.Say(
          [&] { return fmt::format("still waiting for an answer of {}", PlaceAndAddress()); });
      if (!cancellation.cancelled()) continue;
      if (past_deadline && cancellation.status().code() == Code::kDeadlineExceeded) {
        past_deadline();
        CancellationToken patience;
        if (attempt->WaitFor(kLastWords, patience) && !attempt->status.ok())
          ThrowUnlessTransient(attempt->status, /*again=*/true, session);
      }
      attempt->context.TryCancel();
      cancellation.ThrowIfCancelled();
    }
    if (attempt->status.ok()) {
      received_bytes_ += attempt->response.Length();
      NoteHindrance(attempt->status);
      SetState("connected");  // not all that is asked says hello first
      return attempt->response;
    }
    retry.Failed(attempt->status, cancellation);
    CountRetry();
    attempt = Send(method, request);
  }
}

std::string Peer::PlaceAndAddress() const {
  const std::string name = place();
  return name == address() ? name : name + " at " + address();
}

void Peer::SetState(std::string state) {
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
}

grpc::Status Peer::SayHelloOnce(HelloReply* reply, CancellationToken& cancellation) {
  HelloRequest request;
  request.set_task(options_.own_task);
  request.set_receiver(options_.task);
  request.set_version(kWireVersion);
  FillStamp(0, 0, request.mutable_stamp());
  grpc::ClientContext context;
  context.set_deadline(In(kHelloTime));
  token_.AddTo(context);
  grpc::Status status;
  {
    const auto abandon = cancellation.OnCancel([&] { context.TryCancel(); });
    status = control_stub_->Hello(&context, request, reply);
  }
  NoteHindrance(status);
  cancellation.ThrowIfCancelled();
  return status;
}

void Peer::MeetKeeper(uint64_t incarnation, CancellationToken& cancellation) {
  {
    const std::lock_guard lock(mutex_);
    if (met_ != 0 && (incarnation == 0 || incarnation == met_)) return;
  }
  HelloReply reply;
  if (const grpc::Status status = SayHelloOnce(&reply, cancellation); !status.ok())
    return ThrowUnlessTransient(status, /*again=*/false);
  const std::lock_guard lock(mutex_);
  state_ = "connected";
  // Calls that have met another process shall be told that it is gone.
  if (incarnation_ == 0) incarnation_ = reply.incarnation();
  ShareWith(reply);
}

void Peer::Connect(CancellationToken& cancellation, uint64_t session) {
  if (!connected(session)) Meet(SayHello(cancellation, session), session);
}

HelloReply Peer::SayHello(CancellationToken& cancellation, uint64_t session) {
  struct Waiting {
    explicit Waiting(Peer& waited_for) : peer(waited_for) { Add(1); }
    ~Waiting() { Add(-1); }
    void Add(int count) {
      const std::lock_guard lock(peer.mutex_);
      peer.waiting_ += count;
    }
    Peer& peer;
  } const waiting(*this);
  RetryPolicy retry(*this, session);
  const bool known = [this] {
    const std::lock_guard lock(mutex_);
    return incarnation_ != 0;
  }();
  auto next_report = SteadyClock::now() + kReportTime;
  WaitNotice notice;
  for (int attempts = 0;; ++attempts) {
    HelloReply reply;
    const grpc::Status status = SayHelloOnce(&reply, cancellation);
    if (status.ok()) return reply;
    if (known) {  // to others: it is gone, not still to come
      retry.Failed(status, cancellation);
      continue;
    }
    const std::string why = net::FromGrpcStatus(status).message();
    SetState(why);
    ThrowUnlessTransient(status, attempts > 0);
    const auto text = [&] {
      return fmt::format("CreateSession still waiting for response from worker: {} ({})",
                         options_.task.empty() ? place() : options_.task + " at " + address(), why);
    };
    if (options_.training) {
      notice.Say(text);
      if (options_.training->check_wait) options_.training->check_wait();
    } else if (SteadyClock::now() >= next_report) {
      next_report += kReportTime;
      LogInfo("{}", text());
    }
    PauseFor(kPauseBeforeHello, cancellation);
    ConnectAgain();
  }
}

void Peer::Register(const Fragment& fragment, CancellationToken& cancellation, uint64_t session) {
  RegisterRequest request;
  *request.mutable_fragment() = ToMessage(fragment);
  GraphAhead graph(*this, fragment.graph_def);
  if (!graph.large()) request.mutable_fragment()->set_graph_def(fragment.graph_def);
  RetryPolicy retry(*this, session);
  for (;;) {
    request.set_parts(graph.Send(cancellation));
    FillStamp(graph.sequence(), {0, session}, request.mutable_stamp());
    grpc::ClientContext context;
    context.set_deadline(In(kAttemptTime + graph.ReadingTime()));
    token_.AddTo(context);
    Nothing reply;
    grpc::Status status;
    {
      const auto abandon = cancellation.OnCancel([&] { context.TryCancel(); });
      status = control_stub_->Register(&context, request, &reply);
    }
    cancellation.ThrowIfCancelled();
    if (status.ok()) return;
    retry.Failed(status, cancellation);
    CountRetry();
  }
}

void Peer::ThrowUnlessTransient(const grpc::Status& grpc_status, bool again, uint64_t session) {
  const sextant::Status status = net::FromGrpcStatus(grpc_status);
  if (net::HindranceOf(grpc_status) == net::Hindrance::kHandshake) {
    if (!again) return;
    const std::optional<std::string> why = net::DiagnoseTls(address(), options_.credentials);
    if (!why) return;
    throw Error(Code::kUnauthenticated, fmt::format("{}: {}", PlaceAndAddress(), *why));
  }
  const bool answered = grpc_status.error_details() == kAnswered;
  // A server that stops while it answers lets gRPC cancel the call; one that goes on would say so.
  const bool cut_off = net::IsTransient(status.code()) || status.code() == Code::kCancelled;
  if (!answered && cut_off) return;
  if (grpc_status.error_details() == kKeptIsLost || Restarted(grpc_status, session))
    throw Error(Code::kAborted, place() + " was restarted during the run");
  if (options_.task.empty()) {  // a session names the place of what went wrong there
    if (status.code() != Code::kUnauthenticated) status.ThrowIfError();
    throw Error(status.code(), fmt::format("{}: {}", place(), status.message()));
  }
  throw ErrorOfTask(Error(status.code(), status.message()), options_.task);
}

bool Peer::Awaited(SteadyClock::time_point since) {
  if (!options_.training || !options_.training->check_wait) return false;
  options_.training->check_wait();
  const auto now = SteadyClock::now();
  const std::lock_guard lock(mutex_);
  if (now - since < kFirstWaitReport || now < next_report_) return true;
  next_report_ = now + kWaitReport;
  LogInfo("waiting for {}: nobody listens at {}", place_, address());
  return true;
}

void Peer::ConnectAgain() {
  for (const auto& channel : {bulk_, control_})
    grpc::experimental::ChannelResetConnectionBackoff(channel.get());
}

PeerStatus Peer::Status() const {
  PeerStatus status;
  const std::lock_guard lock(mutex_);
  status.set_task(options_.task);
  status.set_address(address());
  status.set_state(waiting_ > 0 ? "waited for: " + state_ : state_);
  status.set_incarnation(incarnation_);
  status.set_calls(calls_);
  status.set_sent_bytes(sent_bytes_);
  status.set_received_bytes(received_bytes_);
  status.set_retries(retries_);
  status.set_shared_bytes(shared_bytes_);
  return status;
}

bool IsLarge(std::span<const Tensor> tensors) {
  constexpr size_t kRoomForHeaders = 1 << 20;
  size_t bytes = 0;
  for (const Tensor& tensor : tensors) {
    if (!tensor.valid()) continue;
    if (tensor.dtype() == DType::kString) {
      for (const std::string& text : tensor.flat<std::string>())
        bytes += sizeof(uint64_t) + text.size();
    } else if (IsPlain(tensor.dtype())) {
      bytes += tensor.bytes();
    }
  }
  return bytes > net::kMaxFrameBytes - kRoomForHeaders;
}

}  // namespace sextant::dist
