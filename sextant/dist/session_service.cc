#include "sextant/dist/session_service.h"

#include "sextant/base/logging.h"
#include "sextant/device/device.h"
#include "sextant/dist/fragment_messages.h"
#include "sextant/dist/frame_memory.h"
#include "sextant/dist/graph_ahead.h"
#include "sextant/dist/trace_messages.h"
#include "sextant/dist/wire.h"
#include "sextant/net/channel.h"
#include "sextant/net/grpc_frame.h"
#include "sextant/proto/graph.pb.h"

namespace sextant::dist {
namespace {

constexpr int kKeepsPerLease = 6;

template <typename Request>
proto::GraphDef ParseGraph(const Request& request, PartStore& parts) {
  const std::string joined = request.parts() > 0 ? TakeGraph(parts, request) : "";
  const std::string& bytes = request.parts() > 0 ? joined : request.graph_def();
  proto::GraphDef graph;
  if (!graph.ParseFromString(bytes)) throw DataLoss("the client's graph cannot be read");
  return graph;
}

// Clients run nothing themselves: an error of a node that names no other task is one of this.
Error NamingTheTask(const Error& error, const std::string& task) {
  const bool named = error.message().find("/job:") != std::string::npos;
  return error.message().starts_with('[') && !named ? ErrorOfTask(error, task) : error;
}

}  // namespace

SessionHost::SessionHost(PartStore& parts, const Admission& admission, SessionHostOptions options)
    : parts_(parts), admission_(admission), options_(std::move(options)) {}
SessionHost::~SessionHost() { Stop(); }

void SessionHost::Stop() {
  history_.CancelAll(Status(Code::kUnavailable, "the server is stopping"));
}

void SessionHost::CancelRun(uint64_t sender, uint64_t sequence, const Status& why) {
  history_.Cancel({.sender = sender}, sequence, why);
}

void SessionHost::FillStatus(StatusReply* reply) const {
  sessions_.FillStatus(reply);
  reply->set_calls(reply->calls() + runs_);
  reply->set_received_bytes(reply->received_bytes() + received_bytes_);
  reply->set_sent_bytes(reply->sent_bytes() + sent_bytes_);
  reply->set_duplicates(reply->duplicates() + history_.duplicates());
  const auto times = history_.RunningFor();
  reply->set_running(reply->running() + static_cast<uint32_t>(times.size()));
  for (const auto time : times) {
    if (time >= kLongCall)
      reply->add_waits(fmt::format("a client's run has been running for {:.0f} s", time.count()));
  }
}

void SessionHost::EndLeases() {
  for (const uint64_t sender :
       history_.ForgetSilent(kLooksPerLease, Status(Code::kCancelled, "the client is gone")))
    parts_.ForgetSender(sender);
  for (const std::string& handle : sessions_.Look())
    LogInfo("Closed session {}: its client has been silent for {} s", handle,
            std::chrono::duration<double>(options_.lease).count());
}

std::shared_ptr<ClientSession> SessionHost::Find(const std::string& handle) {
  if (auto session = sessions_.Find(handle)) return session;
  throw Error(
      Code::kAborted,
      fmt::format("{} does not know session {}: it was restarted, or the session is closed, as one "
                  "is whose client has been silent for {} s",
                  ShortTaskName(options_.environment.task), handle,
                  std::chrono::duration<double>(options_.lease).count()));
}

SessionHost::Unary SessionHost::CreateSession(Context context, const CreateSessionRequest* request,
                                              CreateSessionReply* reply) {
  return admission_.AnswerLater(threads_, context, [this, request, reply]() -> grpc::Status {
    std::shared_ptr<ClientSession> session = sessions_.Find(request->handle());
    const bool known = session != nullptr;
    if (!known) {
      SessionOptions config = options_.session;
      config.allow_soft_placement = request->config().allow_soft_placement();
      config.log_device_placement = request->config().log_device_placement();
      session = std::make_shared<ClientSession>(ParseGraph(*request, parts_), std::move(config),
                                                options_.environment);
    }
    reply->set_incarnation(options_.incarnation);
    reply->set_keep_ms(static_cast<uint32_t>(options_.lease.count() / kKeepsPerLease));
    ListDevices(session->devices(), reply->mutable_devices());
    if (known || !sessions_.Add(request->handle(), std::move(session)))
      return grpc::Status::OK;  // sent twice
    LogInfo(
        "Start master session {} with config: allow_soft_placement: {} log_device_placement: {}",
        request->handle(), request->config().allow_soft_placement(),
        request->config().log_device_placement());
    return grpc::Status::OK;
  });
}

SessionHost::Unary SessionHost::ExtendSession(Context context, const ExtendSessionRequest* request,
                                              Nothing* /*reply*/) {
  return admission_.AnswerLater(threads_, context, [this, request]() -> grpc::Status {
    if (grpc::Status wrong =
            CheckReceiver(request->stamp(), options_.environment.task, options_.incarnation);
        !wrong.ok())
      return wrong;
    const proto::GraphDef added = ParseGraph(*request, parts_);
    Find(request->handle())->Extend(request->number(), request->nodes_before(), added);
    return grpc::Status::OK;
  });
}

SessionHost::Unary SessionHost::KeepSession(Context context, const KeepSessionRequest* request,
                                            Nothing* /*reply*/) {
  return admission_.Answer(context, [&]() -> grpc::Status {
    if (grpc::Status wrong =
            CheckReceiver(request->stamp(), options_.environment.task, options_.incarnation);
        !wrong.ok())
      return wrong;
    Hear(request->stamp());
    Find(request->handle());
    return grpc::Status::OK;
  });
}

SessionHost::Unary SessionHost::Run(Context context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const auto begin = [&]() -> grpc::Status {
    net::DecodedFrame frame = net::FromByteBuffer(*request, FrameMemory());
    received_bytes_ += request->Length();
    const auto header = ParseHeader<RunHeader>(frame.message);
    const Stamp& stamp = header.stamp();
    if (grpc::Status wrong = CheckReceiver(stamp, options_.environment.task, options_.incarnation);
        !wrong.ok())
      return wrong;
    const SenderProgress progress = ProgressOf(stamp);
    parts_.Forget(progress);
    const auto running =
        history_.Begin(progress, stamp.sequence(), 0,
                       [this, reactor, reply](const Status& ended, const Answer& answer) {
                         if (ended.ok()) {
                           *reply = answer.message;
                           sent_bytes_ += answer.message.Length();
                         }
                         admission_.end().Give();
                         reactor->Finish(AnswerStatus(ended));
                       });
    if (!running) return grpc::Status::OK;
    ++runs_;
    const bool taken =
        run_threads_.Run([this, running, header, values = std::move(frame.tensors)]() mutable {
          RunHere(running, header, std::move(values));
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

void SessionHost::RunHere(const std::shared_ptr<History::Running>& running, const RunHeader& header,
                          std::vector<Tensor> values) {
  const PartStore::Key key = {running->sender, running->sequence};
  Status status;
  Answer answer;
  try {
    if (header.parts() > 0) values = parts_.Take(key, header.parts());
    if (values.size() != static_cast<size_t>(header.feeds_size()))
      throw DataLoss("{} tensors for {} feeds", values.size(), header.feeds_size());
    const std::shared_ptr<ClientSession> session = Find(header.handle());
    NamedFeeds feeds;
    for (size_t i = 0; i < values.size(); ++i)
      feeds.emplace_back(header.feeds(static_cast<int>(i)), std::move(values[i]));
    StepTrace trace;
    const std::vector<Tensor> results =
        session->Run(feeds, {header.fetches().begin(), header.fetches().end()},
                     {header.targets().begin(), header.targets().end()}, running->cancellation,
                     header.trace() ? &trace : nullptr);
    ReplyHeader reply;
    AddTrace(trace, &reply);
    PartStore::StoredAnswer stored = parts_.Answer(key, results, std::move(reply));
    answer = {net::ToByteBuffer(stored.frame), std::move(stored.parts)};
  } catch (const Error& error) {
    status = NamingTheTask(error, options_.environment.task).status();
  } catch (...) {
    status = CurrentStatus();
  }
  history_.End(*running, std::move(status), std::move(answer));
}

void SessionHost::Hear(const Stamp& stamp) {
  const SenderProgress progress = ProgressOf(stamp);
  parts_.Forget(progress);
  history_.Touch(progress);
}

SessionHost::Unary SessionHost::CloseSession(Context context, const CloseSessionRequest* request,
                                             Nothing* /*reply*/) {
  return admission_.AnswerLater(threads_, context, [this, request]() -> grpc::Status {
    sessions_.Close(request->handle());
    Hear(request->stamp());
    return grpc::Status::OK;
  });
}

}  // namespace sextant::dist
