#include "sextant/dist/server.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "sextant/base/logging.h"
#include "sextant/device/device.h"
#include "sextant/device/resource_manager.h"
#include "sextant/dist/coordinator_service.h"
#include "sextant/dist/file_ops.h"
#include "sextant/dist/fragment_messages.h"
#include "sextant/dist/fragment_service.h"
#include "sextant/dist/grpc_target.h"
#include "sextant/dist/incarnation.h"
#include "sextant/dist/peers.h"
#include "sextant/dist/session_service.h"
#include "sextant/dist/shard_service.h"
#include "sextant/net/channel.h"
#include "sextant/net/credentials.h"
#include "sextant/runtime/session_environment.h"

namespace sextant::dist {
namespace {

constexpr std::chrono::seconds kDrainTime(2);
constexpr std::chrono::milliseconds kDrainLook(10);

std::mutex servers_mutex;
std::map<std::string, Server*>& Servers() {
  static auto* servers = new std::map<std::string, Server*>();
  return *servers;
}

void LogPeers(const ClusterSpec& cluster) {
  for (const auto& [job, addresses] : cluster)
    LogInfo("Peer {} {} {{{}}}", job, addresses.size(), fmt::join(addresses, ", "));
  for (const auto& [job, addresses] : cluster) {
    std::string list;
    for (size_t i = 0; i < addresses.size(); ++i)
      list += fmt::format("{}{} -> {}", i == 0 ? "" : ", ", i, addresses[i]);
    LogInfo("Initialize GrpcChannelCache for job {} -> {{{}}}", job, list);
  }
}

}  // namespace

struct Server::State {
  explicit State(const ServerOptions& given)
      : name(TaskName(given.job, given.task)),
        address(ParseAddress(AddressOf(given.cluster, given.job, given.task))),
        incarnation(NewIncarnation()),
        look_time(given.lease / kLooksPerLease),
        devices(MakeHostDevices(std::max(1, given.session.host_devices), name)),
        peers(given.cluster, name, given.credentials, given.training, given.shared_frames),
        admission(given.credentials),
        shared_frames(given.shared_frames && SharedFramesWanted()
                          ? std::make_unique<SharedFramesListener>(geteuid())
                          : nullptr),
        host(ForOthers(Environment(/*with_peers=*/false), given), given.session),
        shard([this] { return host.Snapshot(); },
              given.staleness ? *given.staleness : StalenessLimit()),
        shards(shard, admission, incarnation),
        sessions(parts, admission,
                 {.environment = ForOthers(Environment(/*with_peers=*/true), given),
                  .session = given.session,
                  .incarnation = incarnation,
                  .lease = given.lease}),
        service(
            host, parts, admission,
            {.task = name,
             .incarnation = incarnation,
             .devices = Devices(),
             .find_peer = [this](const std::string& task) -> Peer& { return peers.FindPeer(task); },
             .add_status = [this](StatusReply* reply) { AddStatus(reply); },
             .cancel_session_run =
                 [this](uint64_t sender, uint64_t sequence, const Status& why) {
                   sessions.CancelRun(sender, sequence, why);
                 },
             .threads = given.session.threads,
             .shard = &shard,
             .commit = given.commit,
             .shared_frames = shared_frames.get()}) {
    if (!given.coordinator) return;
    coordinator = std::make_unique<CoordinatorHost>(
        *given.coordinator, admission, [this](const TaskId& task) { return IncarnationAt(task); });
  }

  // Asks the address of a task which process is there.
  std::optional<uint64_t> IncarnationAt(const TaskId& task) {
    const std::string wanted = TaskName(task.job, task.index);
    if (wanted == name) return incarnation;
    try {
      return peers.FindPeer(wanted).AskIncarnation();
    } catch (const Error&) {  // of a task whose address is not told
      return std::nullopt;
    }
  }

  // Where graphs of other processes run.
  static SessionEnvironment ForOthers(SessionEnvironment environment,
                                      const ServerOptions& options) {
    if (!options.allow_files) {
      environment.check_graph = [task = environment.task](const Graph& graph) {
        CheckOpensNoFiles(graph, task);
      };
    }
    return environment;
  }

  std::vector<const Device*> Devices() const {
    std::vector<const Device*> own;
    for (const auto& device : devices) own.push_back(device.get());
    return own;
  }

  SessionEnvironment Environment(bool with_peers) {
    SessionEnvironment environment{.task = name, .resources = &resources};
    for (const auto& device : devices) environment.devices.push_back(device.get());
    if (!with_peers) return environment;
    environment.tasks = &peers;
    environment.remote_devices = peers.devices();
    return environment;
  }

  void AddStatus(StatusReply* reply) {
    sessions.FillStatus(reply);
    if (coordinator) {
      coordinator->FillStatus(reply->mutable_training());
      reply->mutable_training()->set_mean_staleness(shard.staleness().Mean());
      reply->mutable_training()->set_p99_staleness(shard.staleness().P99());
    }
    for (PeerStatus& peer : peers.Status()) *reply->add_peers() = std::move(peer);
  }

  // Until the server stops.
  void LookAfterCallers() {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, look_time, [this] { return stopping; })) {
      lock.unlock();
      service.ForgetSilentSenders();
      sessions.EndLeases();
      peers.StayAlive();
      if (shared_frames) shared_frames->Tidy();
      lock.lock();
    }
  }

  const std::string name;
  const Address address;
  const uint64_t incarnation;
  const std::chrono::milliseconds look_time;
  std::vector<std::unique_ptr<Device>> devices;
  ResourceManager resources;
  Peers peers;
  Admission admission;
  std::unique_ptr<SharedFramesListener> shared_frames;  // null: switched off
  PartStore parts;
  FragmentHost host;
  Shard shard;
  ShardHost shards;
  SessionHost sessions;
  FragmentService service;
  std::unique_ptr<CoordinatorHost> coordinator;
  std::unique_ptr<grpc::Server> server;
  std::string target;
  int port = 0;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false, stopped = false;  // Stop has begun, has ended
  std::thread caretaker;
};

Server::Server(const ServerOptions& options) : state_(std::make_unique<State>(options)) {
  RegisterGrpcTargets();
  LogPeers(options.cluster);
  Address bind = BindAddress(state_->address);
  if (!options.bind_host.empty()) bind.host = options.bind_host;
  grpc::ServerBuilder builder;
  net::ConfigureServer(builder);
  builder.AddListeningPort(ToString(bind), net::MakeServerCredentials(options.credentials),
                           &state_->port);
  if (options.before_listening) options.before_listening();
  builder.RegisterService(&state_->service);
  builder.RegisterService(&state_->sessions);
  builder.RegisterService(&state_->shards);
  if (state_->coordinator) builder.RegisterService(state_->coordinator.get());
  state_->admission.beginning().Give();
  state_->server = builder.BuildAndStart();
  if (!state_->server || state_->port == 0) {
    throw Error(Code::kUnavailable, fmt::format("{} cannot listen at {}: is the port in use?",
                                                ShortTaskName(state_->name), ToString(bind)));
  }
  state_->target = "grpc://" + ToString({state_->address.host, state_->port});
  state_->caretaker = std::thread([state = state_.get()] { state->LookAfterCallers(); });
  LogInfo("Started server with target: {}", state_->target);
  const std::lock_guard lock(servers_mutex);
  Servers()[state_->target] = this;
}

Server::~Server() {
  {
    const std::lock_guard lock(servers_mutex);
    Servers().erase(state_->target);
  }
  Stop();
  state_->caretaker.join();
}

const std::string& Server::target() const { return state_->target; }
int Server::port() const { return state_->port; }
const std::string& Server::task() const { return state_->name; }
Peers& Server::peers() { return state_->peers; }
uint64_t Server::incarnation() const { return state_->incarnation; }
CoordinatorHost* Server::coordinator() { return state_->coordinator.get(); }
SessionEnvironment Server::environment() const { return state_->Environment(/*with_peers=*/true); }

Server* Server::Find(const std::string& target) {
  const std::lock_guard lock(servers_mutex);
  const auto found = Servers().find(target);
  return found == Servers().end() ? nullptr : found->second;
}

void Server::Join() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->stopped; });
}

void Server::Stop() {
  {
    std::unique_lock lock(state_->mutex);
    if (std::exchange(state_->stopping, true)) {
      state_->changed.wait(lock, [this] { return state_->stopped; });
      return;
    }
    state_->changed.notify_all();
  }
  state_->admission.Close();
  const auto end = std::chrono::steady_clock::now() + kDrainTime;
  while (state_->service.running() + state_->sessions.running() > 0 &&
         std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kDrainLook);
  state_->sessions.Stop();
  state_->service.Stop();
  state_->server->Shutdown(std::chrono::system_clock::now() + kDrainTime);
  state_->admission.end().Take();
  // Under the lock: who waits may destroy the server as soon as this is known.
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  state_->changed.notify_all();
}

}  // namespace sextant::dist
