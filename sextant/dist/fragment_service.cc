// The server's end of remote procedure calls that run exactly once, though their messages may be
// lost or come twice (Birrell and Nelson, "Implementing remote procedure calls", 1984).
//
// A call is (incarnation of the sender, sequence number). history_ knows it from its first message
// until the sender says that the call has ended for it, as every message does (sender_progress.h):
//
//   Call(7, 12) ─> unknown: begins, on a thread of threads_
//   Call(7, 12) ─> known, runs: its answer goes to this connection too
//   Call(7, 12) ─> known, ended: the kept answer, at once
//   Call(7, 13, 12 is not under way) ─> the answer of 12 is dropped, or, if it runs, it is
//   cancelled
//
// Invariant: a fragment runs once per (sender, sequence), whatever connections break. A sender that
// expects another incarnation of this process is told so, before anything runs: its variables are
// gone. Calls of an epoch pass the shard's gate (Shard::Enter), so that none runs across its end.
//
// Inputs and outputs travel in the message, as parts sent before and fetched later (part_store.h)
// where they are large, or in memory that both processes share (shared_frames.h). Tensors that a
// fragment keeps for later ones of its Run stay in the FragmentHost until EndRun.
#include "sextant/dist/fragment_service.h"

#include "sextant/dist/client_sessions.h"
#include "sextant/dist/fragment_messages.h"
#include "sextant/dist/frame_memory.h"
#include "sextant/dist/graph_ahead.h"
#include "sextant/dist/kept_inputs.h"
#include "sextant/dist/stale_fragment.h"
#include "sextant/dist/wire.h"
#include "sextant/net/channel.h"
#include "sextant/net/grpc_frame.h"

namespace sextant::dist {
namespace {

constexpr std::chrono::minutes kUnusedTime(10);  // of fragments: their session may be closed
constexpr std::chrono::minutes kStalledTime(5);  // one part takes a minute on the slowest link

grpc::Status UnknownFragment() {
  return {grpc::StatusCode::NOT_FOUND, "the fragment is not known here",
          std::string(kUnknownFragment)};
}

grpc::Status UnknownSegment() {
  return {grpc::StatusCode::NOT_FOUND, "the frame is not in memory that is shared with this task",
          std::string(kUnknownSegment)};
}

}  // namespace

FragmentService::FragmentService(FragmentHost& host, PartStore& parts, const Admission& admission,
                                 FragmentServiceOptions options)
    : host_(host),
      parts_(parts),
      admission_(admission),
      options_(std::move(options)),
      kept_frames_(host, options_.shared_frames) {
  if (!options_.commit) return;
  const auto run = [this](uint64_t epoch, uint64_t fingerprint, const auto& contributions,
                          CancellationToken& cancellation) {
    const Shard::Pass pass = options_.shard->Enter(epoch, options_.incarnation);
    host_.RunSummed(fingerprint, contributions, cancellation);
  };
  sums_ = std::make_unique<SummedCalls>(run, *options_.commit);
}

FragmentService::~FragmentService() { Stop(); }

void FragmentService::Stop() {
  history_.CancelAll(sextant::Status(Code::kUnavailable, "the server is stopping"));
}

grpc::Status FragmentService::CheckStamp(const Stamp& stamp) const {
  return CheckReceiver(stamp, options_.task, options_.incarnation);
}

FragmentService::Unary FragmentService::Call(Context context, const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* reply) {
  // Answered now where nothing is to be run; else by the thread that runs it.
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const auto begin = [&]() -> grpc::Status {
    const ThreadTeam::Limit limit = LimitCopies();
    net::DecodedFrame frame = net::FromByteBuffer(*request, FrameMemory());
    received_bytes_ += request->Length();
    const auto header = ParseHeader<CallHeader>(frame.message);
    const Stamp& stamp = header.stamp();
    if (grpc::Status wrong = CheckStamp(stamp); !wrong.ok()) return wrong;
    if (!host_.Has(header.fingerprint())) return UnknownFragment();
    std::shared_ptr<SharedFrames> shared;
    if (options_.shared_frames != nullptr && header.shared_frames() != 0)
      shared = options_.shared_frames->Find(header.shared_frames());
    if (header.has_shared() && !(shared && shared->Knows(header.shared()))) return UnknownSegment();
    Hear(stamp);
    const auto running =
        history_.Begin(ProgressOf(stamp), stamp.sequence(), stamp.run(),
                       [this, reactor, reply](const sextant::Status& ended, const Answer& answer) {
                         if (ended.ok()) {
                           *reply = answer.message;
                           sent_bytes_ += answer.message.Length();
                         }
                         admission_.end().Give();
                         reactor->Finish(AnswerStatus(ended));
                       });
    if (!running) return grpc::Status::OK;  // known: it is or will be answered
    ++calls_;
    const bool taken =
        threads_.Run([this, running, header, shared, inputs = std::move(frame.tensors)]() mutable {
          RunCall(running, header, std::move(inputs), shared);
        });
    if (!taken) history_.End(*running, TooManyCalls(), {});
    return grpc::Status::OK;
  };
  grpc::Status status = admission_.Check(*context);
  try {
    if (status.ok()) status = begin();
  } catch (...) {
    status = net::ToGrpcStatus(CurrentStatus());
  }
  admission_.end().Give();
  if (!status.ok()) reactor->Finish(status);
  return reactor;
}

std::vector<Tensor> FragmentService::KeptInputs(const Fragment& fragment, const CallHeader& header,
                                                CancellationToken& cancellation) {
  if (fragment.kept_inputs.empty()) return {};
  return FetchKeptInputs(fragment, header, host_, options_.find_peer, cancellation);
}

void FragmentService::RunCall(const std::shared_ptr<History::Running>& running,
                              const CallHeader& header, std::vector<Tensor> inputs,
                              const std::shared_ptr<SharedFrames>& shared) {
  const PartStore::Key key = {running->sender, running->sequence};
  sextant::Status status;
  Answer answer;
  try {
    if (header.parts() > 0) inputs = parts_.Take(key, header.parts());
    if (header.has_shared()) inputs = shared->Read(header.shared(), /*transient=*/true);
    const std::shared_ptr<const Fragment> fragment = host_.Find(header.fingerprint());
    if (!fragment->kept.empty()) holdings_.AddRun(running->sender, running->run);
    if (const uint64_t session = header.stamp().session(); session != 0)
      holdings_.AddSession(running->sender, session);
    if (fragment->sum) {
      for (Tensor& kept : KeptInputs(*fragment, header, running->cancellation))
        inputs.push_back(std::move(kept));
      ReplyHeader reply;
      reply.set_stale(Contribute(header, *fragment, std::move(inputs)));
      answer = {net::ToByteBuffer(net::EncodeFrame(reply.SerializeAsString(), {}))};
    } else {
      const std::vector<Tensor> outputs =
          RunFragment(header, std::move(inputs), running->cancellation);
      const ThreadTeam::Limit limit = LimitCopies();
      answer = AnswerWith(key, outputs, shared.get());
    }
  } catch (...) {
    status = CurrentStatus();
  }
  history_.End(*running, std::move(status), std::move(answer));
}

FragmentService::Answer FragmentService::AnswerWith(const PartStore::Key& key,
                                                    const std::vector<Tensor>& outputs,
                                                    SharedFrames* shared) {
  auto written = shared != nullptr ? shared->Write(outputs) : nullptr;
  if (!written) {
    auto [frame, parts] = parts_.Answer(key, outputs);
    return {net::ToByteBuffer(frame), std::move(parts)};
  }
  ReplyHeader header;
  *header.mutable_shared() = written->place();
  return {net::ToByteBuffer(net::EncodeFrame(header.SerializeAsString(), {})), std::move(written)};
}

std::vector<Tensor> FragmentService::RunFragment(const CallHeader& header,
                                                 std::vector<Tensor> inputs,
                                                 CancellationToken& cancellation) {
  const Stamp& stamp = header.stamp();
  const RunId run(stamp.run(), stamp.session());
  const std::shared_ptr<const Fragment> fragment = host_.Find(header.fingerprint());
  std::vector<Tensor> kept = KeptInputs(*fragment, header, cancellation);
  if (stamp.cut() != 0) {
    const std::shared_ptr<FragmentHost> cut = options_.shard->FindCut(stamp.cut());
    cut->Register(fragment);
    return cut->Run(header.fingerprint(), run, std::move(inputs), std::move(kept), cancellation);
  }
  const Shard::Pass pass = options_.shard->Enter(stamp.epoch(), stamp.member());
  if (stamp.epoch() != 0) {
    const double weight = options_.shard->staleness().Called(stamp.run(), Updates(*fragment));
    const auto variant = weight == 1 ? nullptr : StaleVariant(*fragment, weight);
    if (variant) {
      if (weight != 0) inputs.push_back(Tensor(static_cast<float>(weight)));
      return host_.Run(variant->fingerprint, run, std::move(inputs), std::move(kept), cancellation);
    }
  }
  return host_.Run(header.fingerprint(), run, std::move(inputs), std::move(kept), cancellation);
}

bool FragmentService::Updates(const Fragment& fragment) const {
  const std::lock_guard lock(mutex_);
  return updating_.contains(fragment.fingerprint);
}

std::shared_ptr<const Fragment> FragmentService::StaleVariant(const Fragment& fragment,
                                                              double weight) {
  auto variant = weight == 0 ? WithoutUpdates(fragment) : WithScaledGradients(fragment);
  if (variant && !host_.Has(variant->fingerprint)) host_.Register(variant);
  return variant;
}

bool FragmentService::Contribute(const CallHeader& header, const Fragment& fragment,
                                 std::vector<Tensor> inputs) {
  if (!sums_ || !header.has_token() || header.stamp().epoch() == 0) {
    throw FailedPrecondition(
        "{} takes no contribution to a synchronous update: it is no parameter server of a training",
        ShortTaskName(options_.task));
  }
  // The update itself passes the gate when it runs: its holder need not wait for this.
  options_.shard->Check(header.stamp().epoch(), header.stamp().member());
  return sums_->Contribute(fragment, header.stamp().epoch(),
                           {header.token().step(), header.token().number()}, std::move(inputs));
}

FragmentService::Unary FragmentService::SendPart(Context context, const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* reply) {
  return admission_.Answer(context, [&]() -> grpc::Status {
    net::DecodedFrame frame = net::FromByteBuffer(*request, FrameMemory());
    received_bytes_ += request->Length();
    const auto header = ParseHeader<PartHeader>(frame.message);
    if (grpc::Status wrong = CheckStamp(header.stamp()); !wrong.ok()) return wrong;
    if (frame.tensors.size() != 1) throw InvalidArgument("a part of a frame without bytes");
    parts_.Add({header.stamp().sender(), header.stamp().sequence()}, header.index(), header.count(),
               std::move(frame.tensors[0]));
    history_.Touch(ProgressOf(header.stamp()));
    *reply = net::ToByteBuffer(net::EncodeFrame("", {}));
    return grpc::Status::OK;
  });
}

FragmentService::Unary FragmentService::FetchPart(Context context, const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* reply) {
  return admission_.Answer(context, [&]() -> grpc::Status {
    const auto header = ParseHeader<PartHeader>(net::FromByteBuffer(*request).message);
    const Tensor part =
        parts_.Find({header.stamp().sender(), header.stamp().sequence()}, header.index());
    history_.Touch(ProgressOf(header.stamp()));
    *reply = net::ToByteBuffer(net::EncodeFrame("", {&part, 1}));
    sent_bytes_ += reply->Length();
    return grpc::Status::OK;
  });
}

FragmentService::Unary FragmentService::FetchKept(Context context, const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* reply) {
  return admission_.AnswerLater(threads_, context, [this, request, reply]() -> grpc::Status {
    const auto wanted = ParseHeader<KeptHeader>(net::FromByteBuffer(*request).message);
    if (wanted.receiver() != 0 && wanted.receiver() != options_.incarnation)
      return {grpc::StatusCode::ABORTED, "what was kept is lost", std::string(kKeptIsLost)};
    const ThreadTeam::Limit limit = LimitCopies();
    *reply = net::ToByteBuffer(kept_frames_.Answer(wanted));
    sent_bytes_ += reply->Length();
    return grpc::Status::OK;
  });
}

FragmentService::Unary FragmentService::Hello(Context context, const HelloRequest* request,
                                              HelloReply* reply) {
  return admission_.Answer(context, [&]() -> grpc::Status {
    if (request->version() != kWireVersion) {
      throw FailedPrecondition(
          "it speaks version {} of the cluster's protocol, the caller version {}: run the same "
          "version of sextant everywhere",
          kWireVersion, request->version());
    }
    if (!request->receiver().empty() && request->receiver() != options_.task) {
      throw FailedPrecondition("at its address is {}: the tasks have different cluster specs",
                               ShortTaskName(options_.task));
    }
    Hear(request->stamp());
    reply->set_task(options_.task);
    reply->set_incarnation(options_.incarnation);
    reply->set_version(kWireVersion);
    ListDevices(options_.devices, reply->mutable_devices());
    if (options_.shared_frames != nullptr) reply->set_shared_frames(options_.shared_frames->name());
    return grpc::Status::OK;
  });
}

FragmentService::Unary FragmentService::Register(Context context, const RegisterRequest* request,
                                                 Nothing* /*reply*/) {
  return admission_.AnswerLater(threads_, context, [this, request]() -> grpc::Status {
    if (grpc::Status wrong = CheckStamp(request->stamp()); !wrong.ok()) return wrong;
    const auto fragment =
        std::make_shared<Fragment>(FromMessage(request->fragment(), options_.task));
    if (request->parts() > 0) fragment->graph_def = TakeGraph(parts_, *request);
    const bool updates = ChangesVariables(*fragment);
    {
      const std::lock_guard lock(mutex_);
      if (updates) updating_.insert(fragment->fingerprint);
    }
    host_.Register(fragment);
    return grpc::Status::OK;
  });
}

FragmentService::Unary FragmentService::Cancel(Context context, const CancelRequest* request,
                                               Nothing* /*reply*/) {
  return admission_.Answer(context, [&]() -> grpc::Status {
    const Stamp& stamp = request->stamp();
    const sextant::Status why = request->deadline().empty()
                                    ? sextant::Status(Code::kCancelled, "cancelled by the caller")
                                    : sextant::Status(Code::kDeadlineExceeded, request->deadline());
    if (stamp.run() == 0) {
      options_.cancel_session_run(stamp.sender(), stamp.sequence(), why);
    } else {
      history_.Cancel(ProgressOf(stamp), stamp.sequence(), why);
    }
    return grpc::Status::OK;
  });
}

FragmentService::Unary FragmentService::EndRun(Context context, const EndRunRequest* request,
                                               Nothing* /*reply*/) {
  return admission_.Answer(context, [&]() -> grpc::Status {
    Hear(request->stamp());
    for (const uint64_t run : request->runs()) {
      kept_frames_.EndRun(run);
      holdings_.RemoveRun(request->stamp().sender(), run);
    }
    return grpc::Status::OK;
  });
}

FragmentService::Unary FragmentService::EndSession(Context context,
                                                   const EndSessionRequest* request,
                                                   Nothing* /*reply*/) {
  return admission_.AnswerLater(threads_, context, [this, request]() -> grpc::Status {
    for (const uint64_t session : request->sessions()) {
      host_.EndSession(session);
      holdings_.RemoveSession(request->stamp().sender(), session);
    }
    Hear(request->stamp());
    return grpc::Status::OK;
  });
}

FragmentService::Unary FragmentService::Status(Context context, const StatusRequest* /*request*/,
                                               StatusReply* reply) {
  return admission_.Answer(context, [&]() -> grpc::Status {
    FillStatus(reply);
    if (options_.add_status) options_.add_status(reply);
    return grpc::Status::OK;
  });
}

void FragmentService::FillStatus(StatusReply* reply) const {
  const Clock::time_point now = Clock::now();
  reply->set_task(options_.task);
  reply->set_incarnation(options_.incarnation);
  reply->set_uptime_seconds(std::chrono::duration<double>(now - started_).count());
  reply->set_calls(calls_);
  reply->set_received_bytes(received_bytes_);
  reply->set_sent_bytes(sent_bytes_);
  reply->set_duplicates(history_.duplicates());
  reply->set_running(static_cast<uint32_t>(history_.running()));
  reply->set_fragments(static_cast<uint32_t>(host_.num_fragments()));
  const int64_t summed = sums_ ? sums_->num_stale() : 0;
  reply->set_stale(static_cast<uint64_t>(summed + options_.shard->staleness().dropped()));
  for (const auto time : history_.RunningFor()) {
    if (time >= kLongCall)
      reply->add_waits(fmt::format("a call has been running for {:.0f} s", time.count()));
  }
}

void FragmentService::ForgetSilentSenders() {
  parts_.ForgetStalled(Clock::now() - kStalledTime);
  host_.DropUnused(Clock::now() - kUnusedTime);
  const auto silent = history_.ForgetSilent(
      kLooksPerLease, sextant::Status(Code::kCancelled, "the caller is gone"));
  for (const uint64_t sender : silent) {
    const CallerHoldings::Held held = holdings_.Take(sender);
    parts_.ForgetSender(sender);
    for (const uint64_t run : held.runs) kept_frames_.EndRun(run);
    for (const uint64_t session : held.sessions) host_.EndSession(session);
  }
}

}  // namespace sextant::dist
