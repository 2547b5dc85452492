#include "sextant/dist/session_service.h"

#include "sextant/base/logging.h"
#include "sextant/device/device.h"
#include "sextant/dist/fragment_messages.h"
#include "sextant/dist/frame_memory.h"
#include "sextant/dist/graph_ahead.h"
#include "sextant/dist/trace_messages.h"
#include "sextant/graph/graph_def.h"
#include "sextant/net/channel.h"
#include "sextant/net/grpc_frame.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/runtime/task_session.h"

namespace sextant::dist {
namespace {

constexpr std::chrono::seconds kSilentClient(60);
constexpr std::chrono::hours kUnusedSession(24);

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

// A graph as it was at one time, and the session that runs it. A graph that grows gets a new one,
// so that runs of the old one need not end before. Variables are the task's and stay.
struct SessionHost::Version {
  Version(const proto::GraphDef& def, const SessionEnvironment& environment,
          const SessionOptions& session_options) {
    ImportGraphDef(def, graph);
    session = std::make_unique<Session>(graph, session_options, environment);
  }
  Graph graph;
  std::unique_ptr<Session> session;
};

struct SessionHost::Entry {
  std::mutex mutex;
  SessionOptions options;
  SessionEnvironment environment;  // in which all versions are one session
  proto::GraphDef graph;
  std::shared_ptr<Version> version;
  uint64_t extended = 0;  // number of the last extension
  Clock::time_point used = Clock::now();
};

SessionHost::SessionHost(PartStore& parts, const Admission& admission, SessionHostOptions options)
    : parts_(parts), admission_(admission), options_(std::move(options)) {}
SessionHost::~SessionHost() { Stop(); }

void SessionHost::Stop() {
  history_.CancelAll(Status(Code::kUnavailable, "the server is stopping"));
}

void SessionHost::CancelRun(uint64_t sender, uint64_t sequence, const Status& why) {
  history_.Cancel(sender, sequence, why);
}

void SessionHost::ForgetSilentClients() {
  for (const uint64_t sender : history_.ForgetSilent(
           Clock::now() - kSilentClient, Status(Code::kCancelled, "the client is gone")))
    parts_.Forget(sender, UINT64_MAX);
  std::vector<std::shared_ptr<Entry>> unused;  // closed outside the lock
  const std::lock_guard lock(mutex_);
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    std::unique_lock entry_lock(it->second->mutex);
    const bool used = Clock::now() - it->second->used < kUnusedSession;
    entry_lock.unlock();
    if (!used) unused.push_back(it->second);
    it = used ? std::next(it) : sessions_.erase(it);
  }
}

size_t SessionHost::num_sessions() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

std::shared_ptr<SessionHost::Entry> SessionHost::Find(const std::string& handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(handle);
  if (found != sessions_.end()) return found->second;
  throw Error(Code::kAborted,
              fmt::format("{} does not know session {}: it was restarted, or the session is closed",
                          ShortTaskName(options_.environment.task), handle));
}

SessionHost::Unary SessionHost::CreateSession(Context context, const CreateSessionRequest* request,
                                              CreateSessionReply* reply) {
  return admission_.AnswerLater(threads_, context, [this, request, reply]() -> grpc::Status {
    auto entry = std::make_shared<Entry>();
    entry->options = options_.session;
    entry->options.allow_soft_placement = request->config().allow_soft_placement();
    entry->options.log_device_placement = request->config().log_device_placement();
    entry->graph = ParseGraph(*request, parts_);
    entry->environment = options_.environment;
    entry->environment.session =
        std::make_shared<TaskSession>(*options_.environment.resources, *options_.environment.tasks);
    entry->version = std::make_shared<Version>(entry->graph, entry->environment, entry->options);
    reply->set_incarnation(options_.incarnation);
    ListDevices(entry->version->session->devices(), reply->mutable_devices());
    const std::lock_guard lock(mutex_);
    if (!sessions_.try_emplace(request->handle(), std::move(entry)).second)
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
    const std::shared_ptr<Entry> entry = Find(request->handle());
    const std::lock_guard lock(entry->mutex);
    if (request->number() <= entry->extended) return grpc::Status::OK;  // sent twice, or overtaken
    proto::GraphDef whole = request->nodes_before() == 0 ? proto::GraphDef() : entry->graph;
    if (whole.node_size() != request->nodes_before()) {
      throw FailedPrecondition("the graph has {} nodes here, not {}", whole.node_size(),
                               request->nodes_before());
    }
    whole.MergeFrom(added);
    entry->version = std::make_shared<Version>(whole, entry->environment, entry->options);
    entry->graph = std::move(whole);
    entry->extended = request->number();
    return grpc::Status::OK;
  });
}

SessionHost::Unary SessionHost::Run(Context context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const auto begin = [&]() -> grpc::Status {
    net::DecodedFrame frame = net::FromByteBuffer(*request, FrameMemory());
    const auto header = ParseHeader<RunHeader>(frame.message);
    const Stamp& stamp = header.stamp();
    if (grpc::Status wrong = CheckReceiver(stamp, options_.environment.task, options_.incarnation);
        !wrong.ok())
      return wrong;
    parts_.Forget(stamp.sender(), stamp.done_below());
    const auto running =
        history_.Begin(stamp.sender(), stamp.sequence(), stamp.done_below(), 0,
                       [this, reactor, reply](const Status& ended, const grpc::ByteBuffer& answer) {
                         if (ended.ok()) *reply = answer;
                         admission_.end().Give();
                         reactor->Finish(AnswerStatus(ended));
                       });
    if (!running) return grpc::Status::OK;
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
  grpc::ByteBuffer answer;
  try {
    if (header.parts() > 0) values = parts_.Take(key, header.parts());
    if (values.size() != static_cast<size_t>(header.feeds_size()))
      throw DataLoss("{} tensors for {} feeds", values.size(), header.feeds_size());
    const std::shared_ptr<Entry> entry = Find(header.handle());
    std::shared_ptr<Version> version;
    {
      const std::lock_guard lock(entry->mutex);
      entry->used = Clock::now();
      version = entry->version;
    }
    NamedFeeds feeds;
    for (size_t i = 0; i < values.size(); ++i)
      feeds.emplace_back(header.feeds(static_cast<int>(i)), std::move(values[i]));
    StepTrace trace;
    const std::vector<Tensor> results = version->session->Run(
        feeds, {header.fetches().begin(), header.fetches().end()},
        {header.targets().begin(), header.targets().end()},
        {.cancellation = &running->cancellation, .trace = header.trace() ? &trace : nullptr});
    ReplyHeader reply;
    AddTrace(trace, &reply);
    answer = net::ToByteBuffer(parts_.Answer(key, results, std::move(reply)));
  } catch (const Error& error) {
    status = NamingTheTask(error, options_.environment.task).status();
  } catch (...) {
    status = CurrentStatus();
  }
  history_.End(*running, std::move(status), std::move(answer));
}

SessionHost::Unary SessionHost::CloseSession(Context context, const CloseSessionRequest* request,
                                             Nothing* /*reply*/) {
  return admission_.AnswerLater(threads_, context, [this, request]() -> grpc::Status {
    std::shared_ptr<Entry> closed;  // destroyed outside the lock
    const std::lock_guard lock(mutex_);
    if (const auto found = sessions_.find(request->handle()); found != sessions_.end()) {
      closed = std::move(found->second);
      sessions_.erase(found);
    }
    return grpc::Status::OK;
  });
}

}  // namespace sextant::dist
