// Makes Plans. The stages, in order: prune (copy what is needed into a graph of the Plan's own),
// decode large constants, inline functions, resolve references, structure loops, drop what lowered
// nodes do not need, place, cut out what other tasks run, partition by device, analyse (infer
// shapes, fold constants, resolve predicates, plan branches), optimise (passes/), put checks before
// input, emit (steps, slots, memory). docs/architecture.md says which file does which.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/runtime/passes/pass.h"
#include "sextant/runtime/plan.h"

namespace sextant {

class RemoteTasks;

// What every Plan of a session shares.
struct PlanEnvironment {
  std::vector<Device*> devices;         // of the session's own task
  std::vector<Device*> remote_devices;  // the first of each other task
  RemoteTasks* tasks = nullptr;         // that run what is placed on those
  bool soft_placement = true;
  bool log_placement = false;
  OptimizerOptions optimizer;
  Allocator* allocator = nullptr;
  std::unordered_set<Output> varying_feeds;  // planned with the shapes of the source graph
  std::function<void(const Graph&)> check_graph = {};  // session_environment.h
};

struct PlanFeed {
  Output tensor;  // of the source graph
  DType dtype = DType::kInvalid;
  PartialShape shape;           // known sizes are relied upon
  std::optional<Tensor> value;  // the same in every run (arguments of branches, fed predicates)
  bool whole_node = false;      // so are all outputs of its node, which has run already
};

struct PlanRequest {
  const Graph* source = nullptr;
  std::vector<PlanFeed> feeds;
  std::vector<Output> fetches;
  std::vector<Operation> targets;
  std::string name_prefix;  // of the nodes, for functions: "while_1/body/"
  int depth = 0;            // of functions inside functions
  bool lowered = true;      // part of the graph that is run (lowered_branches.h), not of a call
  bool loop_body = false;   // results that are the argument of the same place need not be returned
  int* bodies_left = nullptr;  // of a function: how many more the whole Plan may have
  CancellationToken* cancellation = nullptr;  // ends planning with its status

  void ThrowIfCancelled() const {
    if (cancellation != nullptr) cancellation->ThrowIfCancelled();
  }
};

// Throws Error, naming the node, on a graph that cannot run, and the status of the request's token
// soon after it is cancelled.
std::shared_ptr<const Plan> BuildPlan(const PlanRequest& request,
                                      const PlanEnvironment& environment);

}  // namespace sextant
