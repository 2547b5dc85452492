#include "sextant/runtime/session.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <shared_mutex>

#include "sextant/base/thread_team.h"
#include "sextant/device/device.h"
#include "sextant/device/pool_allocator.h"
#include "sextant/device/rendezvous.h"
#include "sextant/device/resource_manager.h"
#include "sextant/runtime/executor.h"
#include "sextant/runtime/fed_predicates.h"
#include "sextant/runtime/plan_builder.h"
#include "sextant/runtime/plan_cache.h"
#include "sextant/runtime/run_cancellation.h"
#include "sextant/runtime/sources.h"

namespace sextant {
namespace {

PoolAllocatorOptions PoolOf(const SessionOptions& options) {
  PoolAllocatorOptions pool;
  if (options.memory_limit > 0) pool.limit = static_cast<size_t>(options.memory_limit);
  return pool;
}

void CheckFeed(const Output& tensor, const Tensor& value) {
  if (!tensor) throw InvalidArgument("a fed tensor is an empty Output");
  if (!value.valid()) throw InvalidArgument("the value fed to {} is empty", tensor.name());
  const DType wanted = RemoveRef(tensor.dtype());
  if (wanted != DType::kInvalid && value.dtype() != wanted) {
    throw InvalidArgument("{} is {}, but {} was fed", tensor.name(), DTypeName(wanted),
                          value.Describe());
  }
  if (!tensor.shape().CompatibleWith(value.shape())) {
    throw InvalidArgument("{} has shape {}, but {} was fed", tensor.name(),
                          tensor.shape().ToString(), value.Describe());
  }
}

// Feeds and fetches of one run.
struct Request {
  std::span<const Output> feeds;
  std::span<const Tensor> values;
  std::span<const Output> fetches;
  std::span<const Operation> targets;
  size_t num_sources = 0;  // the last so many feeds are outputs of sources
};

// What brings in the data of a run, before the rest of it.
struct SourceStage {
  std::vector<Output> outputs;  // none: there are no sources
  std::shared_ptr<PreparedPlan> plan;
};

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
      : graph_(graph),
        options_(options),
        pool_(PoolAllocator::New(PoolOf(options))),
        devices_(MakeHostDevices(std::max(1, options.host_devices))),
        plans_(options.plan_cache_bytes) {
    for (const auto& device : devices_) environment_.devices.push_back(device.get());
    environment_.soft_placement = options.allow_soft_placement;
    environment_.log_placement = options.log_device_placement;
    environment_.optimizer = options.optimizer;
    environment_.allocator = pool_.get();
  }
  ~SessionState() {
    Close();
    const std::lock_guard last(running_);
  }

  void Run(const Request& request, const RunOptions& options, std::span<Tensor> fetches) {
    const std::shared_ptr<const SourceStage> sources = FindSources(request);
    if (!sources) return RunWith(*FindPlan(request), request.values, options, fetches);
    std::vector<Output> feeds(request.feeds.begin(), request.feeds.end());
    feeds.insert(feeds.end(), sources->outputs.begin(), sources->outputs.end());
    std::vector<Tensor> values(request.values.begin(), request.values.end());
    values.resize(feeds.size());
    RunWith(*sources->plan, {}, options, std::span(values).subspan(request.values.size()),
            /*own_fetches=*/false);
    const Request rest{feeds, values, request.fetches, request.targets, sources->outputs.size()};
    RunWith(*FindPlan(rest), values, options, fetches);
  }

  // Null when there are none.
  std::shared_ptr<const SourceStage> FindSources(const Request& request) {
    if (searched_nodes_.load(std::memory_order_acquire) == graph_.num_nodes() && !has_sources_) {
      return nullptr;
    }
    const std::lock_guard lock(sources_mutex_);
    for (; searched_nodes_ < graph_.num_nodes(); ++searched_nodes_) {
      if (IsPossibleSource(*graph_.node(searched_nodes_))) has_sources_ = true;
    }
    if (!has_sources_) return nullptr;
    if (std::exchange(sources_version_, graph_.version()) != graph_.version()) sources_.clear();
    std::vector<const void*> key;
    for (const Output& feed : request.feeds) key.push_back(feed.node());
    key.push_back(nullptr);
    for (const Output& fetch : request.fetches) key.push_back(fetch.node());
    for (const Operation& target : request.targets) key.push_back(target.node());
    const auto [it, added] = sources_.try_emplace(std::move(key));
    if (added) it->second = MakeSourceStage(request);
    return it->second;
  }

  std::shared_ptr<PreparedPlan> FindPlan(const Request& request) {
    for (size_t i = 0; i < request.feeds.size(); ++i)
      CheckFeed(request.feeds[i], request.values[i]);
    thread_local PlanCache::Key key;
    MakeKey(request, key);
    if (auto plan = plans_.Find(key)) return plan;
    return plans_.Add(key, BuildPlan(ToPlanRequest(request), environment_));
  }

  // With own_fetches nobody else holds what is fetched.
  void RunWith(PreparedPlan& prepared, std::span<const Tensor> values, const RunOptions& options,
               std::span<Tensor> fetches, bool own_fetches = true) {
    const std::shared_lock running(running_);
    RunCancellation cancellation(options, options_, closed_);
    cancellation.token().ThrowIfCancelled();
    const RunState run{.team = &ThreadTeam::Process(),
                       .max_threads = options_.threads,
                       .allocator = pool_.get(),
                       .resources = &resources_,
                       .cancellation = &cancellation.token(),
                       .rendezvous = &rendezvous_,
                       .step_id = next_step_.fetch_add(1, std::memory_order_relaxed)};
    FrameLease lease(prepared, *pool_);
    constexpr size_t kInlineFeeds = 8;
    if (values.size() <= kInlineFeeds) {
      Tensor feeds[kInlineFeeds];
      std::copy(values.begin(), values.end(), feeds);
      Execute(prepared.plan(), lease.frame(), run, std::span(feeds, values.size()), fetches,
              options.trace);
    } else {
      std::vector<Tensor> feeds(values.begin(), values.end());
      Execute(prepared.plan(), lease.frame(), run, feeds, fetches, options.trace);
    }
    if (!own_fetches) return;
    // What is fetched is the caller's to change: not shared with a variable, a constant or a feed.
    for (Tensor& fetch : fetches) {
      if (!fetch.unique()) fetch = fetch.Clone();
    }
  }

  void Close() { closed_.Cancel(Status(Code::kCancelled, "the session is closed")); }

  const Graph& graph() const { return graph_; }
  ResourceManager& resources() { return resources_; }
  const PlanEnvironment& environment() const { return environment_; }
  const PlanCache& plans() const { return plans_; }

 private:
  void Execute(const Plan& plan, Frame& frame, const RunState& run, std::span<Tensor> feeds,
               std::span<Tensor> fetches, StepTrace* trace) {
    try {
      RunPlan(plan, frame, run, feeds, fetches, trace);
    } catch (...) {
      rendezvous_.Clear(run.step_id);
      throw;
    }
  }

  std::shared_ptr<const SourceStage> MakeSourceStage(const Request& request) {
    const std::vector<Node*> nodes =
        SourcesOf(graph_, request.feeds, request.fetches, request.targets);
    if (nodes.empty()) return nullptr;
    auto stage = std::make_shared<SourceStage>();
    for (const Node* node : nodes) {
      for (int i = 0; i < node->num_outputs(); ++i) stage->outputs.push_back(node->output(i));
    }
    stage->plan = FindPlan({.fetches = stage->outputs});
    return stage;
  }

  void MakeKey(const Request& request, PlanCache::Key& key) const {
    key.clear();
    key.push_back(static_cast<uint64_t>(graph_.version()));
    key.push_back(request.feeds.size() | request.num_sources << 32);
    for (size_t i = 0; i < request.feeds.size(); ++i) {
      key.push_back(reinterpret_cast<uint64_t>(request.feeds[i].node()));
      const Tensor& value = request.values[i];
      key.push_back(static_cast<uint64_t>(request.feeds[i].index()) << 32 |
                    static_cast<uint64_t>(value.dtype()) << 16 |
                    static_cast<uint64_t>(value.rank()));
      for (int64_t dim : value.shape().dims()) key.push_back(static_cast<uint64_t>(dim));
    }
    key.push_back(FedPredicates(request.values));
    key.push_back(request.fetches.size());
    for (const Output& fetch : request.fetches) {
      key.push_back(reinterpret_cast<uint64_t>(fetch.node()));
      key.push_back(static_cast<uint64_t>(fetch.index()));
    }
    for (const Operation& target : request.targets) {
      key.push_back(reinterpret_cast<uint64_t>(target.node()));
    }
  }

  PlanRequest ToPlanRequest(const Request& request) const {
    PlanRequest plan;
    plan.source = &graph_;
    for (size_t i = 0; i < request.feeds.size(); ++i) {
      const Tensor& value = request.values[i];
      plan.feeds.push_back({.tensor = request.feeds[i],
                            .dtype = value.dtype(),
                            .shape = value.shape(),
                            .whole_node = i + request.num_sources >= request.feeds.size()});
      if (IsFedPredicate(request.values, i)) plan.feeds.back().value = value.Clone();
    }
    plan.fetches.assign(request.fetches.begin(), request.fetches.end());
    plan.targets.assign(request.targets.begin(), request.targets.end());
    for (const Output& fetch : plan.fetches) {
      if (!fetch) throw InvalidArgument("a fetched tensor is an empty Output");
    }
    for (const Operation& target : plan.targets) {
      if (!target) throw InvalidArgument("a target is an empty Operation");
    }
    return plan;
  }

  const Graph& graph_;
  const SessionOptions options_;
  PoolAllocator::Owner pool_;
  std::vector<std::unique_ptr<Device>> devices_;
  PlanEnvironment environment_;
  ResourceManager resources_;
  LocalRendezvous rendezvous_;
  CancellationToken closed_;
  std::shared_mutex running_;  // shared by every Run, taken alone by the destructor
  std::atomic<int64_t> next_step_{1};
  std::mutex sources_mutex_;
  std::atomic<int> searched_nodes_{0};  // of the graph
  std::atomic<bool> has_sources_{false};
  int64_t sources_version_ = -1;
  std::map<std::vector<const void*>, std::shared_ptr<const SourceStage>> sources_;
  PlanCache plans_;
};

// ---- Session

Session::Session(const Graph& graph, const SessionOptions& options)
    : state_(std::make_unique<SessionState>(graph, options)) {}
Session::~Session() = default;
void Session::Close() { state_->Close(); }

const Graph& Session::graph() const { return state_->graph(); }
ResourceManager& Session::resources() { return state_->resources(); }
int Session::num_plans() const { return state_->plans().size(); }

std::vector<const Device*> Session::devices() const {
  const auto& devices = state_->environment().devices;
  return {devices.begin(), devices.end()};
}

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
  // The plan of the last call, used again while the shapes stay the same.
  std::mutex mutex;
  std::vector<Shape> shapes;
  uint64_t predicates = 0;
  int64_t version = -1;
  std::shared_ptr<PreparedPlan> plan;

  std::shared_ptr<PreparedPlan> FindPlan(std::span<const Tensor> values) {
    std::lock_guard lock(mutex);
    if (plan && version == session->graph().version() && SameAsBefore(values)) return plan;
    plan = session->FindPlan({feeds, values, fetches, targets});
    version = session->graph().version();
    predicates = FedPredicates(values);
    shapes.clear();
    for (const Tensor& value : values) shapes.push_back(value.shape());
    return plan;
  }
  bool SameAsBefore(std::span<const Tensor> values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!(values[i].shape() == shapes[i]) || values[i].dtype() != RemoveRef(feeds[i].dtype()))
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
  const Request request{state_->feeds, feeds, state_->fetches, state_->targets};
  if (state_->session->FindSources(request)) {
    state_->session->Run(request, options, fetches);
    return;
  }
  const auto plan = state_->FindPlan(feeds);
  state_->session->RunWith(*plan, feeds, options, fetches);
}

std::vector<Tensor> Callable::operator()(std::span<const Tensor> feeds,
                                         const RunOptions& options) const {
  std::vector<Tensor> fetches(state_->fetches.size());
  Call(feeds, fetches, options);
  return fetches;
}

}  // namespace sextant
