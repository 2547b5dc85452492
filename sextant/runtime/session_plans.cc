#include "sextant/runtime/session_plans.h"

#include "sextant/base/cancellable_wait.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/data_sources.h"
#include "sextant/runtime/fed_predicates.h"

namespace sextant {
namespace {

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

void CheckNotEmpty(const RunRequest& request) {
  for (const Output& fetch : request.fetches) {
    if (!fetch) throw InvalidArgument("a fetched tensor is an empty Output");
  }
  for (const Operation& target : request.targets) {
    if (!target) throw InvalidArgument("a target is an empty Operation");
  }
}

}  // namespace

void CheckRequest(const Graph& graph, const RunRequest& request) {
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    CheckFeed(request.feeds[i], request.values[i]);
    CheckOwned(graph, *request.feeds[i].node());
  }
  CheckNotEmpty(request);
  for (const Output& fetch : request.fetches) CheckOwned(graph, *fetch.node());
  for (const Operation& target : request.targets) CheckOwned(graph, *target.node());
}

std::shared_ptr<PreparedRun> SessionPlans::Find(const RunRequest& request,
                                                CancellationToken& cancellation) {
  return Prepare(request, {}, cancellation);
}

std::shared_ptr<PreparedPlan> SessionPlans::FindRest(PreparedRun& run, const RunRequest& request,
                                                     std::span<const Tensor> values,
                                                     CancellationToken& cancellation) {
  const std::vector<Output>& outputs = run.source_outputs();
  const std::span<const Tensor> data = values.last(outputs.size());
  const uint64_t predicates = FedPredicates(values);
  if (auto rest = run.LastRest(data, predicates)) return rest;
  std::vector<Output> feeds(request.feeds.begin(), request.feeds.end());
  feeds.insert(feeds.end(), outputs.begin(), outputs.end());
  const auto rest = Prepare({feeds, values, request.fetches, request.targets},
                            {Part::kRest, outputs.size()}, cancellation);
  std::shared_ptr<PreparedPlan> plan(rest, &rest->plan());
  run.KeepRest(data, predicates, plan);
  return plan;
}

std::shared_ptr<PreparedRun> SessionPlans::Prepare(const RunRequest& request, Signature signature,
                                                   CancellationToken& cancellation) {
  for (size_t i = 0; i < request.feeds.size(); ++i) CheckFeed(request.feeds[i], request.values[i]);
  thread_local PlanCache::Key key;
  MakeKey(request, signature, key);
  if (auto run = cache_.Find(key)) return run;
  if (signature.part == Part::kAll) {
    const CancellationScope cancellable(&cancellation);  // of the search
    const std::vector<Node*> sources =
        SourcesOf(graph_, request.feeds, request.fetches, request.targets, request.keeps_data);
    if (!sources.empty()) {
      const PlanCache::Key own_key = key;
      std::vector<Output> outputs;
      for (const Node* node : sources) {
        for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back(node->output(i));
      }
      const auto first = Prepare({.fetches = outputs}, {Part::kSources}, cancellation);
      return cache_.Add(
          own_key, std::make_shared<PreparedRun>(
                       std::shared_ptr<PreparedPlan>(first, &first->plan()), std::move(outputs)));
    }
  }
  const PlanCache::Key own_key = key;  // planning may run other requests on this thread
  auto plan = std::make_shared<PreparedPlan>(Build(request, signature.num_sources, cancellation));
  return cache_.Add(own_key, std::make_shared<PreparedRun>(std::move(plan)));
}

void SessionPlans::MakeKey(const RunRequest& request, Signature signature,
                           PlanCache::Key& key) const {
  key.clear();
  key.push_back(static_cast<uint64_t>(graph_.version()));
  key.push_back(request.feeds.size() | signature.num_sources << 32 |
                static_cast<uint64_t>(request.keeps_data) << 59 |
                static_cast<uint64_t>(signature.part) << 60);
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    key.push_back(reinterpret_cast<uint64_t>(request.feeds[i].node()));
    const Tensor& value = request.values[i];
    key.push_back(static_cast<uint64_t>(request.feeds[i].index()) << 32 |
                  static_cast<uint64_t>(value.dtype()) << 16 | static_cast<uint64_t>(value.rank()));
    if (Varies(request.feeds[i])) continue;
    for (const int64_t dim : value.shape().dims()) key.push_back(static_cast<uint64_t>(dim));
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

std::shared_ptr<const Plan> SessionPlans::Build(const RunRequest& request, size_t num_sources,
                                                CancellationToken& cancellation) const {
  PlanRequest plan;
  plan.source = &graph_;
  plan.cancellation = &cancellation;
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    const Tensor& value = request.values[i];
    plan.feeds.push_back(
        {.tensor = request.feeds[i],
         .dtype = value.dtype(),
         .shape = Varies(request.feeds[i]) ? request.feeds[i].shape() : PartialShape(value.shape()),
         .whole_node = i + num_sources >= request.feeds.size()});
    if (IsFedPredicate(request.values, i)) plan.feeds.back().value = value.Clone();
  }
  plan.fetches.assign(request.fetches.begin(), request.fetches.end());
  plan.targets.assign(request.targets.begin(), request.targets.end());
  CheckNotEmpty(request);
  return BuildPlan(plan, environment_);
}

}  // namespace sextant
