#include "sextant/runtime/session.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>

#include "sextant/base/input_limits.h"
#include "sextant/base/thread_team.h"
#include "sextant/device/device.h"
#include "sextant/device/pool_allocator.h"
#include "sextant/device/rendezvous.h"
#include "sextant/device/resource_manager.h"
#include "sextant/runtime/executor.h"
#include "sextant/runtime/fed_predicates.h"
#include "sextant/runtime/run_cancellation.h"
#include "sextant/runtime/session_plans.h"
#include "sextant/runtime/session_target.h"
#include "sextant/runtime/task_session.h"

namespace sextant {
namespace {

PoolAllocatorOptions PoolOf(const SessionOptions& options) {
  PoolAllocatorOptions pool;
  if (options.memory_limit > 0) pool.limit = static_cast<size_t>(options.memory_limit);
  return pool;
}

// Null where the session belongs to no cluster.
std::shared_ptr<TaskSession> TaskSessionOf(const std::optional<SessionEnvironment>& environment) {
  if (!environment || environment->tasks == nullptr) return nullptr;
  if (environment->session) return environment->session;
  return std::make_shared<TaskSession>(*environment->resources, *environment->tasks);
}

// Gives a frame back whatever happens.
class FrameLease {
 public:
  FrameLease(PreparedPlan& plan, Allocator& allocator)
      : plan_(plan), frame_(plan.Take(allocator)) {}
  ~FrameLease() { plan_.Give(std::move(frame_)); }
  FrameLease(const FrameLease&) = delete;
  FrameLease& operator=(const FrameLease&) = delete;
  Frame& frame() { return *frame_; }

 private:
  PreparedPlan& plan_;
  std::unique_ptr<Frame> frame_;
};

}  // namespace

class SessionState {
 public:
  SessionState(const Graph& graph, const SessionOptions& options)
      : SessionState(graph, options,
                     options.target.empty() ? SessionTarget{} : OpenSessionTarget(graph, options)) {
  }
  SessionState(const Graph& graph, const SessionOptions& options, SessionTarget target)
      : graph_(graph),
        options_(options),
        pool_(PoolAllocator::New(PoolOf(options))),
        task_session_(TaskSessionOf(target.environment)),
        resources_(task_session_        ? &task_session_->resources()
                   : target.environment ? target.environment->resources
                                        : &own_resources_),
        shares_fetches_(target.environment && target.environment->shares_fetches),
        remote_(std::move(target.remote)),
        plans_(graph, environment_, options.plan_cache_bytes) {
    if (target.environment) {
      environment_.devices = target.environment->devices;
      environment_.remote_devices = target.environment->remote_devices;
      environment_.tasks = target.environment->tasks;
      environment_.varying_feeds = target.environment->varying_feeds;
      environment_.check_graph = target.environment->check_graph;
    } else {
      own_devices_ = MakeHostDevices(std::max(1, options.host_devices));
      for (const auto& device : own_devices_) environment_.devices.push_back(device.get());
    }
    environment_.soft_placement = options.allow_soft_placement;
    environment_.log_placement = options.log_device_placement;
    environment_.optimizer = options.optimizer;
    environment_.allocator = pool_.get();
  }
  ~SessionState() {
    Close();
    const std::lock_guard last(running_);
    if (remote_) remote_->Close();
  }

  // What every run has from its beginning to its end, planning included.
  class Running {
   public:
    Running(SessionState& session, const RunOptions& options)
        : lock_(session.running_),
          limits_(session.options_.memory_limit),
          cancellation_(options, session.options_, session.closed_) {
      cancellation_.token().ThrowIfCancelled();
    }
    CancellationToken& token() { return cancellation_.token(); }

   private:
    const std::shared_lock<std::shared_mutex> lock_;
    const InputLimitsScope limits_;
    RunCancellation cancellation_;
  };

  void Run(const RunRequest& request, const RunOptions& options, std::span<Tensor> fetches) {
    Running running(*this, options);
    if (remote_) return RunRemotely(request, options, running.token(), fetches);
    RunRequest wanted = request;
    wanted.keeps_data = options.sources != nullptr;
    Run(*plans_.Find(wanted, running.token()), request, running.token(), options, fetches);
  }

  // In the process that runs the session.
  bool remote() const { return remote_ != nullptr; }
  void RunRemotely(const RunRequest& request, const RunOptions& options, CancellationToken& token,
                   std::span<Tensor> fetches) {
    CheckRequest(graph_, request);
    remote_->Run(request.feeds, request.values, request.fetches, request.targets, options, token,
                 fetches);
  }

  void Run(PreparedRun& prepared, const RunRequest& request, CancellationToken& token,
           const RunOptions& options, std::span<Tensor> fetches) {
    const size_t num_data = prepared.source_outputs().size();
    if (num_data == 0) {
      RunPrepared(prepared.plan(), request.values, token, options, fetches);
    } else {
      std::vector<Tensor> values(request.values.begin(), request.values.end());
      values.resize(values.size() + num_data);
      const std::span<Tensor> data = std::span(values).last(num_data);
      if (options.sources != nullptr && options.sources->size() == num_data) {
        std::copy(options.sources->begin(), options.sources->end(), data.begin());
      } else {
        RunPrepared(prepared.plan(), {}, token, options, data);
        if (options.sources != nullptr) options.sources->assign(data.begin(), data.end());
      }
      RunPrepared(*plans_.FindRest(prepared, request, values, token), values, token, options,
                  fetches);
      if (options.sources != nullptr) options.sources->clear();
    }
    if (shares_fetches_) return;
    // What is fetched is the caller's to change: not shared with a variable, a constant or a feed.
    for (Tensor& fetch : fetches) {
      if (!fetch.unique()) fetch = fetch.Clone();
    }
  }

  void Close() { closed_.Cancel(Status(Code::kCancelled, "the session is closed")); }

  const Graph& graph() const { return graph_; }
  ResourceManager& resources() {
    if (!remote_) return *resources_;
    throw FailedPrecondition(
        "the session runs at {}, and so do its variables, iterators and random streams: fetch and "
        "assign them by Run, or run in this process",
        options_.target);
  }
  std::vector<const Device*> devices() const {
    if (remote_) return remote_->devices();
    std::vector<const Device*> all(environment_.devices.begin(), environment_.devices.end());
    all.insert(all.end(), environment_.remote_devices.begin(), environment_.remote_devices.end());
    return all;
  }
  SessionPlans& plans() { return plans_; }

 private:
  void RunPrepared(PreparedPlan& prepared, std::span<const Tensor> values,
                   CancellationToken& cancellation, const RunOptions& options,
                   std::span<Tensor> fetches) {
    StepTrace* const trace = options.trace;
    const RunEnvironment run{.team = &ThreadTeam::Process(),
                             .max_threads = options_.threads,
                             .allocator = pool_.get(),
                             .resources = resources_,
                             .cancellation = &cancellation,
                             .rendezvous = &rendezvous_,
                             .step_id = next_step_.fetch_add(1, std::memory_order_relaxed)};
    FrameLease lease(prepared, *pool_);
    if (lease.frame().calls) lease.frame().calls->Begin(task_session_->id(), options.token);
    constexpr size_t kInlineFeeds = 8;
    if (values.size() <= kInlineFeeds) {
      Tensor feeds[kInlineFeeds];
      std::copy(values.begin(), values.end(), feeds);
      Execute(prepared.plan(), lease.frame(), run, std::span(feeds, values.size()), fetches, trace);
    } else {
      std::vector<Tensor> feeds(values.begin(), values.end());
      Execute(prepared.plan(), lease.frame(), run, feeds, fetches, trace);
    }
  }

  void Execute(const Plan& plan, Frame& frame, const RunEnvironment& run, std::span<Tensor> feeds,
               std::span<Tensor> fetches, StepTrace* trace) {
    try {
      RunPlan(plan, frame, run, feeds, fetches, trace);
    } catch (...) {
      rendezvous_.Clear(run.step_id);
      throw;
    }
  }

  const Graph& graph_;
  const SessionOptions options_;
  PoolAllocator::Owner pool_;
  std::vector<std::unique_ptr<Device>> own_devices_;
  ResourceManager own_resources_;
  PlanEnvironment environment_;
  const std::shared_ptr<TaskSession> task_session_;  // null: it belongs to no cluster
  ResourceManager* const resources_;
  const bool shares_fetches_;
  const std::unique_ptr<RemoteSession> remote_;
  LocalRendezvous rendezvous_;
  CancellationToken closed_;
  std::shared_mutex running_;  // shared by every Run, taken alone by the destructor
  std::atomic<int64_t> next_step_{1};
  SessionPlans plans_;
};

// ---- Session

Session::Session(const Graph& graph, const SessionOptions& options)
    : state_(std::make_unique<SessionState>(graph, options)) {}
Session::Session(const Graph& graph, const SessionOptions& options,
                 const SessionEnvironment& environment)
    : state_(std::make_unique<SessionState>(graph, options,
                                            SessionTarget{.environment = environment})) {}
Session::~Session() = default;
void Session::Close() { state_->Close(); }

const Graph& Session::graph() const { return state_->graph(); }
ResourceManager& Session::resources() { return state_->resources(); }
bool Session::remote() const { return state_->remote(); }
int Session::num_plans() const { return state_->plans().size(); }

std::vector<const Device*> Session::devices() const { return state_->devices(); }

std::vector<Tensor> Session::Run(const FeedMap& feeds, const std::vector<Output>& fetches,
                                 const std::vector<Operation>& targets, const RunOptions& options) {
  std::vector<Output> tensors;
  std::vector<Tensor> values;
  tensors.reserve(feeds.size());
  values.reserve(feeds.size());
  for (const auto& [tensor, value] : feeds) {
    tensors.push_back(tensor);
    values.push_back(value);
  }
  std::vector<Tensor> results(fetches.size());
  state_->Run({tensors, values, fetches, targets}, options, results);
  return results;
}

Tensor Session::Run(Output fetch, const RunOptions& options) {
  return Run(FeedMap{}, fetch, options);
}

Tensor Session::Run(const FeedMap& feeds, Output fetch, const RunOptions& options) {
  return std::move(Run(feeds, std::vector<Output>{fetch}, {}, options)[0]);
}

std::vector<Tensor> Session::Run(const std::vector<Output>& fetches, const RunOptions& options) {
  return Run(FeedMap{}, fetches, {}, options);
}

void Session::Run(Operation target, const RunOptions& options) { Run(FeedMap{}, target, options); }

void Session::Run(const FeedMap& feeds, Operation target, const RunOptions& options) {
  Run(feeds, std::vector<Output>{}, {target}, options);
}

std::vector<Tensor> Session::Run(const NamedFeeds& feeds, const std::vector<std::string>& fetches,
                                 const std::vector<std::string>& targets,
                                 const RunOptions& options) {
  FeedMap feed_map;
  for (const auto& [name, value] : feeds) feed_map.emplace_back(graph().FindOutput(name), value);
  std::vector<Output> outputs;
  for (const std::string& name : fetches) outputs.push_back(graph().FindOutput(name));
  std::vector<Operation> operations;
  for (const std::string& name : targets) operations.push_back(graph().FindOperation(name));
  return Run(feed_map, outputs, operations, options);
}

std::vector<Tensor> Session::Evaluate(const FeedMap& feeds, const std::vector<Output>& fetches,
                                      const std::vector<Operation>& targets) {
  return Run(feeds, fetches, targets);
}

// ---- Callable

struct Callable::State {
  SessionState* session;
  std::vector<Output> feeds, fetches;
  std::vector<Operation> targets;
  // What ran the last call, used again while the shapes stay the same.
  std::mutex mutex;
  std::vector<Shape> shapes;
  std::vector<bool> varies;  // by feed: its shape does not matter
  uint64_t predicates = 0;
  int64_t version = -1;
  std::shared_ptr<PreparedRun> last;

  std::shared_ptr<PreparedRun> Find(const RunRequest& request, CancellationToken& cancellation) {
    {
      const std::lock_guard lock(mutex);
      if (last && version == session->graph().version() && SameAsBefore(request.values)) {
        return last;
      }
    }
    const int64_t planned_version = session->graph().version();
    auto found = session->plans().Find(request, cancellation);
    const std::lock_guard lock(mutex);
    last = found;
    version = planned_version;
    predicates = FedPredicates(request.values);
    shapes.clear();
    for (const Tensor& value : request.values) shapes.push_back(value.shape());
    return found;
  }
  bool SameAsBefore(std::span<const Tensor> values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].dtype() != RemoveRef(feeds[i].dtype())) return false;
      if (varies[i] ? !feeds[i].shape().CompatibleWith(values[i].shape())
                    : !(values[i].shape() == shapes[i]))
        return false;
    }
    return predicates == FedPredicates(values);
  }
};

Callable::Callable() = default;
Callable::Callable(Callable&&) noexcept = default;
Callable& Callable::operator=(Callable&&) noexcept = default;
Callable::~Callable() = default;

Callable Session::MakeCallable(const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                               const std::vector<Operation>& targets) {
  Callable callable;
  callable.state_ = std::make_unique<Callable::State>();
  callable.state_->session = state_.get();
  callable.state_->feeds = feeds;
  for (const Output& feed : feeds) callable.state_->varies.push_back(state_->plans().Varies(feed));
  callable.state_->fetches = fetches;
  callable.state_->targets = targets;
  return callable;
}

void Callable::Call(std::span<const Tensor> feeds, std::span<Tensor> fetches,
                    const RunOptions& options) const {
  if (feeds.size() != state_->feeds.size() || fetches.size() != state_->fetches.size()) {
    throw InvalidArgument("the callable takes {} feeds and gives {} fetches, got {} and {}",
                          state_->feeds.size(), state_->fetches.size(), feeds.size(),
                          fetches.size());
  }
  const RunRequest request{state_->feeds, feeds, state_->fetches, state_->targets};
  SessionState& session = *state_->session;
  SessionState::Running running(session, options);
  if (session.remote()) return session.RunRemotely(request, options, running.token(), fetches);
  session.Run(*state_->Find(request, running.token()), request, running.token(), options, fetches);
}

std::vector<Tensor> Callable::operator()(std::span<const Tensor> feeds,
                                         const RunOptions& options) const {
  std::vector<Tensor> fetches(state_->fetches.size());
  Call(feeds, fetches, options);
  return fetches;
}

}  // namespace sextant
