// The last stage of a Plan: puts the graph's nodes in order, gives their outputs slots and memory,
// and makes the steps.
#pragma once

#include <memory>
#include <vector>

#include "sextant/runtime/analysis.h"
#include "sextant/runtime/plan_builder.h"

namespace sextant {

// "sink" reads what is fetched, "feeds" are the nodes that stand for request.feeds, "calls" what
// the attribute "fragment" of "_CallStart" and "_CallFinish" nodes counts. Throws NOT_FOUND, naming
// the node, where an op is not registered or has no kernel for its types.
std::shared_ptr<const Plan> EmitPlan(std::unique_ptr<Graph> graph, const Node* sink,
                                     const std::vector<Output>& feeds, const PlanRequest& request,
                                     const PlanEnvironment& environment, const Analysis& analysis,
                                     std::vector<PlanCall> calls = {});

}  // namespace sextant
