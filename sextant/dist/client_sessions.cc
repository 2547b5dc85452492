#include "sextant/dist/client_sessions.h"

#include "sextant/graph/graph_def.h"
#include "sextant/runtime/task_session.h"

namespace sextant::dist {

// A graph as it was at one time, and the session that runs it. A graph that grows gets a new one,
// so that runs of the old one need not end before.
struct ClientSession::Version {
  Version(const proto::GraphDef& def, const SessionEnvironment& environment,
          const SessionOptions& session_options) {
    ImportGraphDef(def, graph);
    session = std::make_unique<Session>(graph, session_options, environment);
  }
  Graph graph;
  std::unique_ptr<Session> session;
};

ClientSession::ClientSession(proto::GraphDef graph, SessionOptions options,
                             SessionEnvironment environment)
    : options_(std::move(options)), environment_(std::move(environment)), graph_(std::move(graph)) {
  environment_.session =
      std::make_shared<TaskSession>(*environment_.resources, *environment_.tasks);
  version_ = std::make_shared<Version>(graph_, environment_, options_);
}
ClientSession::~ClientSession() = default;

std::shared_ptr<ClientSession::Version> ClientSession::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void ClientSession::Extend(uint64_t number, int nodes_before, const proto::GraphDef& added) {
  const std::lock_guard lock(mutex_);
  if (number <= extended_) return;
  proto::GraphDef whole = nodes_before == 0 ? proto::GraphDef() : graph_;
  if (whole.node_size() != nodes_before) {
    throw FailedPrecondition("the graph has {} nodes here, not {}", whole.node_size(),
                             nodes_before);
  }
  whole.MergeFrom(added);
  version_ = std::make_shared<Version>(whole, environment_, options_);
  graph_ = std::move(whole);
  extended_ = number;
}

std::vector<Tensor> ClientSession::Run(const NamedFeeds& feeds,
                                       const std::vector<std::string>& fetches,
                                       const std::vector<std::string>& targets,
                                       CancellationToken& cancellation, StepTrace* trace) {
  struct Counted {
    explicit Counted(std::atomic<uint32_t>& count) : running(count) { ++running; }
    ~Counted() { --running; }
    std::atomic<uint32_t>& running;
  } const counted(running_);
  const std::shared_ptr<Version> now = version();
  const auto link = closed_.OnCancel([&] { cancellation.Cancel(closed_.status()); });
  return now->session->Run(feeds, fetches, targets,
                           {.cancellation = &cancellation, .trace = trace});
}

std::vector<const Device*> ClientSession::devices() const { return version()->session->devices(); }

void ClientSession::FillStatus(ClientSessionStatus* status) const {
  const auto age = std::chrono::steady_clock::now() - opened_;
  status->set_age_seconds(std::chrono::duration<double>(age).count());
  status->set_running(running_);
}

bool ClientSessions::Add(const std::string& handle, std::shared_ptr<ClientSession> session) {
  const std::lock_guard lock(mutex_);
  return sessions_.try_emplace(handle, Entry{.session = std::move(session)}).second;
}

std::shared_ptr<ClientSession> ClientSessions::Find(const std::string& handle) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(handle);
  if (found == sessions_.end()) return nullptr;
  found->second.silent = 0;
  return found->second.session;
}

void ClientSessions::Close(const std::string& handle) {
  std::map<std::string, Entry>::node_type closed;  // destroyed outside the lock
  {
    const std::lock_guard lock(mutex_);
    closed = sessions_.extract(handle);
  }
  if (closed)
    closed.mapped().session->Close(Status(Code::kCancelled, "the client has closed the session"));
}

std::vector<std::string> ClientSessions::Look() {
  std::map<std::string, Entry> ended;  // closed and destroyed outside the lock
  {
    const std::lock_guard lock(mutex_);
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      const auto next = std::next(it);
      if (++it->second.silent > kLooksPerLease) ended.insert(sessions_.extract(it));
      it = next;
    }
  }
  std::vector<std::string> handles;
  for (const auto& [handle, entry] : ended) {
    entry.session->Close(Status(Code::kCancelled, "the client is gone"));
    handles.push_back(handle);
  }
  return handles;
}

void ClientSessions::FillStatus(StatusReply* reply) const {
  const std::lock_guard lock(mutex_);
  reply->set_sessions(static_cast<uint32_t>(sessions_.size()));
  for (const auto& [handle, entry] : sessions_) {
    ClientSessionStatus* status = reply->add_client_sessions();
    status->set_handle(handle);
    entry.session->FillStatus(status);
  }
}

}  // namespace sextant::dist
