#include "sextant/runtime/fragment_host.h"

#include <algorithm>

#include "sextant/device/resource_manager.h"
#include "sextant/device/variable.h"
#include "sextant/graph/graph_def.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/runtime/session_state_nodes.h"
#include "sextant/runtime/varying_inputs.h"

namespace sextant {
namespace {

constexpr size_t kMaxFragments = 4096, kMaxEnded = 1024;
constexpr size_t kMaxGraphBytes = size_t{1} << 30;  // of all fragments
constexpr std::chrono::minutes kRecent(1);          // a call that has asked for one is about to run

bool HasSessionState(const Fragment& fragment) {
  proto::GraphDef graph;
  return graph.ParseFromString(fragment.graph_def) && KeepsSessionState(graph);
}

}  // namespace

struct FragmentHost::Entry {
  Entry(std::shared_ptr<const Fragment> definition, const SessionOptions& options,
        const SessionEnvironment& environment)
      : fragment(std::move(definition)) {
    ImportGraphDef(fragment->graph_def, graph);
    std::vector<Output> feeds, fetches;
    std::vector<Operation> targets;
    std::vector<std::string> inputs = fragment->feeds;
    for (const auto& input : fragment->kept_inputs) inputs.push_back(input.tensor);
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (int k = 0; k < Copies(i); ++k)
        feeds.push_back(graph.FindOutput(InputOfContribution(inputs[i], k)));
    }
    for (const std::string& name : fragment->fetches) fetches.push_back(graph.FindOutput(name));
    for (const std::string& name : fragment->kept) fetches.push_back(graph.FindOutput(name));
    for (const std::string& name : fragment->targets) targets.push_back(graph.FindOperation(name));
    SessionEnvironment own = environment;
    own.varying_feeds = VaryingInputs(graph, feeds, fetches);
    session = std::make_unique<Session>(graph, options, own);
    callable = session->MakeCallable(feeds, fetches, targets);
  }

  // How often the graph has an input.
  int Copies(size_t input) const {
    const auto& sum = fragment->sum;
    if (!sum) return 1;
    if (input >= sum->gradient.size() || sum->replicas < 1)
      throw InvalidArgument("a summed call with inputs that it does not name");
    return sum->gradient[input] ? sum->replicas : 1;
  }

  const std::shared_ptr<const Fragment> fragment;
  bool keeps_state = false;  // that sessions do not share
  Graph graph;
  std::unique_ptr<Session> session;
  Callable callable;
};

// What one session has here: its resources, and the fragments that use them.
struct FragmentHost::OfSession {
  explicit OfSession(ResourceManager* task) : resources(task) {}
  ResourceManager resources;
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<Entry>> entries;  // by fingerprint
};

FragmentHost::FragmentHost(const SessionEnvironment& environment, const SessionOptions& options)
    : environment_(environment),
      options_(options),
      kept_(std::make_shared<KeptTensors>(environment.task)) {
  environment_.shares_fetches = true;
}
FragmentHost::~FragmentHost() = default;

std::shared_ptr<FragmentHost> FragmentHost::Snapshot() const {
  auto own = std::make_unique<ResourceManager>();
  for (const auto& [key, resource] : environment_.resources->All()) {
    const auto variable = std::dynamic_pointer_cast<VariableResource>(resource);
    if (!variable) continue;
    auto copy =
        std::make_shared<VariableResource>(variable->name(), variable->dtype(), variable->shape());
    {
      const std::lock_guard lock(variable->mutex());
      if (variable->initialized()) copy->set_value(variable->value());
    }
    own->LookupOrCreate<VariableResource>(key.first, key.second, [&] { return copy; });
  }
  SessionEnvironment environment = environment_;
  environment.resources = own.get();
  auto snapshot = std::make_shared<FragmentHost>(environment, options_);
  snapshot->own_resources_ = std::move(own);
  snapshot->kept_ = kept_;
  return snapshot;
}

std::shared_ptr<FragmentHost::Entry> FragmentHost::FindEntry(uint64_t fingerprint) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(fingerprint);
  if (found == entries_.end())
    throw NotFound("fragment {:016x} is not registered at {}", fingerprint, environment_.task);
  found->second.last_use = Clock::now();
  return found->second.entry;
}

std::shared_ptr<FragmentHost::Entry> FragmentHost::EntryFor(uint64_t fingerprint,
                                                            uint64_t session) {
  const std::shared_ptr<Entry> of_task = FindEntry(fingerprint);
  if (session == 0 || !of_task->keeps_state) return of_task;
  std::shared_ptr<OfSession> own;
  {
    const std::lock_guard lock(mutex_);
    auto& known = sessions_[session];
    if (!known) {
      if (std::ranges::find(ended_, session) != ended_.end()) {
        sessions_.erase(session);
        throw MakeError<Code::kAborted>(
            "{} has dropped the iterators, tables and random streams of this session: it was "
            "closed, or not heard of for a minute; make a new session",
            ShortTaskName(environment_.task));
      }
      known = std::make_shared<OfSession>(environment_.resources);
    }
    own = known;
  }
  const std::lock_guard lock(own->mutex);
  std::shared_ptr<Entry>& entry = own->entries[fingerprint];
  if (!entry) {
    SessionEnvironment environment = environment_;
    environment.resources = &own->resources;
    entry = std::make_shared<Entry>(of_task->fragment, options_, environment);
  }
  return {own, entry.get()};
}

bool FragmentHost::Has(uint64_t fingerprint) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(fingerprint);
  if (found == entries_.end()) return false;
  found->second.last_use = Clock::now();
  return true;
}

void FragmentHost::Register(std::shared_ptr<const Fragment> fragment) {
  const uint64_t fingerprint = fragment->fingerprint;
  if (Has(fingerprint)) return;
  auto entry = std::make_shared<Entry>(std::move(fragment), options_, environment_);
  entry->keeps_state = HasSessionState(*entry->fragment);
  std::vector<std::shared_ptr<Entry>> dropped;  // outside the lock
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  entries_.try_emplace(fingerprint, Used{std::move(entry), now});
  size_t bytes = 0;
  for (const auto& [other, used] : entries_) bytes += used.entry->fragment->graph_def.size();
  while (entries_.size() > kMaxFragments || bytes > kMaxGraphBytes) {
    const auto oldest = OldestUnused(now - kRecent);
    if (oldest == entries_.end()) break;
    bytes -= oldest->second.entry->fragment->graph_def.size();
    dropped.push_back(std::move(oldest->second.entry));
    entries_.erase(oldest);
  }
}

FragmentHost::Entries::iterator FragmentHost::OldestUnused(Clock::time_point since) {
  auto oldest = entries_.end();
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    const Used& used = it->second;
    if (used.last_use >= since || used.entry.use_count() > 1 || used.entry->fragment->sum) continue;
    if (oldest == entries_.end() || used.last_use < oldest->second.last_use) oldest = it;
  }
  return oldest;
}

void FragmentHost::DropUnused(Clock::time_point since) {
  std::vector<std::shared_ptr<Entry>> dropped;  // outside the lock
  const std::lock_guard lock(mutex_);
  for (auto it = OldestUnused(since); it != entries_.end(); it = OldestUnused(since)) {
    dropped.push_back(std::move(it->second.entry));
    entries_.erase(it);
  }
}

std::shared_ptr<const Fragment> FragmentHost::Find(uint64_t fingerprint) const {
  return FindEntry(fingerprint)->fragment;
}

std::vector<Tensor> FragmentHost::Run(uint64_t fingerprint, RunId run, std::vector<Tensor> inputs,
                                      std::vector<Tensor> kept_inputs,
                                      CancellationToken& cancellation) {
  const std::shared_ptr<Entry> entry = EntryFor(fingerprint, run.session);
  const Fragment& fragment = *entry->fragment;
  if (inputs.size() != fragment.feeds.size() || kept_inputs.size() != fragment.kept_inputs.size()) {
    throw InvalidArgument("fragment {:016x} takes {} and {} inputs, got {} and {}", fingerprint,
                          fragment.feeds.size(), fragment.kept_inputs.size(), inputs.size(),
                          kept_inputs.size());
  }
  std::move(kept_inputs.begin(), kept_inputs.end(), std::back_inserter(inputs));
  std::vector<Tensor> outputs = entry->callable(inputs, {.cancellation = &cancellation});
  if (fragment.kept.empty()) return outputs;
  const auto first_kept = outputs.begin() + static_cast<int64_t>(fragment.fetches.size());
  std::vector<Tensor> kept(std::make_move_iterator(first_kept),
                           std::make_move_iterator(outputs.end()));
  outputs.resize(fragment.fetches.size());
  kept_->Keep(run.run, fingerprint, std::move(kept), cancellation);
  return outputs;
}

void FragmentHost::RunSummed(uint64_t fingerprint,
                             const std::vector<std::vector<Tensor>>& contributions,
                             CancellationToken& cancellation) {
  const std::shared_ptr<Entry> entry = FindEntry(fingerprint);
  std::vector<Tensor> feeds;
  for (size_t i = 0; i < contributions.front().size(); ++i) {
    for (size_t k = 0; k < static_cast<size_t>(entry->Copies(i)); ++k)
      feeds.push_back(contributions[k][i]);
  }
  entry->callable(feeds, {.cancellation = &cancellation});
}

std::vector<Tensor> FragmentHost::Kept(uint64_t run, uint64_t maker,
                                       std::span<const int32_t> positions) const {
  return kept_->Find(run, maker, positions);
}

void FragmentHost::EndSession(uint64_t session) {
  std::shared_ptr<OfSession> own;  // freed outside the lock, when no call uses it
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  own = std::move(found->second);
  sessions_.erase(found);
  ended_.push_back(session);
  if (ended_.size() > kMaxEnded) ended_.pop_front();
}

size_t FragmentHost::num_fragments() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

int FragmentHost::num_plans() const {
  const std::lock_guard lock(mutex_);
  int plans = 0;
  for (const auto& [fingerprint, used] : entries_) plans += used.entry->session->num_plans();
  for (const auto& [session, own] : sessions_) {
    const std::lock_guard own_lock(own->mutex);
    for (const auto& [fingerprint, entry] : own->entries) plans += entry->session->num_plans();
  }
  return plans;
}

size_t FragmentHost::num_sessions() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

}  // namespace sextant
