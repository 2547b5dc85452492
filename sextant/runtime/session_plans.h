// SessionPlans: finds what runs a request by its signature, or plans it. Thread-safe.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/graph/graph.h"
#include "sextant/runtime/plan_builder.h"
#include "sextant/runtime/plan_cache.h"

namespace sextant {

// Feeds and fetches of one run.
struct RunRequest {
  std::span<const Output> feeds;
  std::span<const Tensor> values;
  std::span<const Output> fetches;
  std::span<const Operation> targets;
  bool keeps_data = false;  // all data sources run first, so that what they gave can be kept
};

// For runs that another process plans: throws INVALID_ARGUMENT as SessionPlans does on what is
// empty, of another graph, or fed with a value that does not fit.
void CheckRequest(const Graph& graph, const RunRequest& request);

class SessionPlans {
 public:
  // "graph" and "environment" must outlive it.
  SessionPlans(const Graph& graph, const PlanEnvironment& environment, int64_t max_bytes)
      : graph_(graph), environment_(environment), cache_(max_bytes) {}

  // Throws INVALID_ARGUMENT on a feed that does not fit and, when it has to plan, what BuildPlan
  // throws; the status of "cancellation" once it is cancelled.
  std::shared_ptr<PreparedRun> Find(const RunRequest& request, CancellationToken& cancellation);
  // The Plan of the rest of "request". "values": those fed, then what the data sources of "run"
  // gave.
  std::shared_ptr<PreparedPlan> FindRest(PreparedRun& run, const RunRequest& request,
                                         std::span<const Tensor> values,
                                         CancellationToken& cancellation);

  // Whether the shape of a feed is no part of a signature.
  bool Varies(const Output& feed) const { return environment_.varying_feeds.contains(feed); }
  // Signatures in the cache.
  int size() const { return cache_.size(); }

 private:
  enum class Part : uint8_t { kAll, kSources, kRest };
  struct Signature {
    Part part = Part::kAll;
    size_t num_sources = 0;  // of the feeds, at their end: outputs of data sources
  };

  void MakeKey(const RunRequest& request, Signature signature, PlanCache::Key& key) const;
  std::shared_ptr<PreparedRun> Prepare(const RunRequest& request, Signature signature,
                                       CancellationToken& cancellation);
  std::shared_ptr<const Plan> Build(const RunRequest& request, size_t num_sources,
                                    CancellationToken& cancellation) const;

  const Graph& graph_;
  const PlanEnvironment& environment_;
  PlanCache cache_;
};

}  // namespace sextant
