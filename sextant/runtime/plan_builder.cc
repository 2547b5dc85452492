#include "sextant/runtime/plan_builder.h"

#include <algorithm>

#include "sextant/base/cancellable_wait.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/passes/dead_branches.h"
#include "sextant/graph/passes/inline_functions.h"
#include "sextant/graph/passes/resolve_references.h"
#include "sextant/graph/passes/structure_loops.h"
#include "sextant/graph/passes/varying_shapes.h"
#include "sextant/runtime/analysis.h"
#include "sextant/runtime/call_order.h"
#include "sextant/runtime/captured_variables.h"
#include "sextant/runtime/checks_first.h"
#include "sextant/runtime/conditional_tasks.h"
#include "sextant/runtime/constant_inputs.h"
#include "sextant/runtime/deferred_constants.h"
#include "sextant/runtime/effect_order.h"
#include "sextant/runtime/fragment_groups.h"
#include "sextant/runtime/fragments.h"
#include "sextant/runtime/governed_nodes.h"
#include "sextant/runtime/lowered_branches.h"
#include "sextant/runtime/lowered_needs.h"
#include "sextant/runtime/placer.h"
#include "sextant/runtime/stateful_nodes.h"
#include "sextant/runtime/step_emitter.h"
#include "sextant/runtime/variable_shapes.h"

namespace sextant {
namespace {

// Reads what is fetched and waits for the targets; the one node that every pass must feed.
const OpDef& SinkOp() {
  static const OpDef* def = [] {
    auto* d = new OpDef("_Sink");
    d->Inputs("fetches:T").Attrs("T:list(type)>=0").Stateful().Structural();
    return d;
  }();
  return *def;
}

// A fetched node with the attribute "_read_last" runs behind all else that is fetched or a target.
void OrderLastReads(Subgraph& subgraph) {
  std::vector<Node*> last, others = subgraph.targets;
  for (const Output& fetch : subgraph.fetches) {
    const Attr* attr = fetch.node()->FindAttr("_read_last");
    const bool reads_last = attr != nullptr && attr->Is<bool>() && attr->Get<bool>();
    std::vector<Node*>& list = reads_last ? last : others;
    if (std::ranges::find(list, fetch.node()) == list.end()) list.push_back(fetch.node());
  }
  std::erase_if(others, [&](Node* node) { return std::ranges::find(last, node) != last.end(); });
  for (Node* node : last) {
    subgraph.graph->SetControlInputs(node, others);
    // The edges say it now, to other tasks too.
    subgraph.graph->SetNodeAttr(node, "_read_last", Attr(false));
  }
}

Node* AddSink(Subgraph& subgraph) {
  OrderLastReads(subgraph);
  std::vector<DType> types;
  for (const Output& fetch : subgraph.fetches) types.push_back(RemoveRef(fetch.dtype()));
  return subgraph.graph->AddNode({.name = "_sink",
                                  .op = &SinkOp(),
                                  .inputs = subgraph.fetches,
                                  .control_inputs = subgraph.targets,
                                  .attrs = {{"T", types}}});
}

// What kinds of node the graph has, so that stages without work are skipped.
struct Contents {
  bool calls = false, references = false, loops = false;
};

Contents Look(const Graph& graph) {
  Contents contents;
  for (int id = 0; id < graph.num_nodes(); ++id) {
    const Node& node = *graph.node(id);
    const std::string& type = node.type();
    contents.calls = contents.calls || type.ends_with("PartitionedCall") ||
                     type == "SymbolicGradient" ||
                     (!graph.functions().empty() && graph.functions().Find(type));
    contents.loops = contents.loops || type == "Enter" || type == "RefEnter";
    for (int i = 0; i < node.num_outputs(); ++i) {
      contents.references = contents.references || IsRef(node.output_type(i));
    }
  }
  return contents;
}

// Nodes whose values are known become constants, and nothing waits for nodes made of constants.
void UseValues(Graph& graph, const Analysis& analysis) {
  const auto is_constant = [&](const Node* n) { return analysis.constants.contains(n); };
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* node = graph.node(id);
    if (!std::ranges::any_of(node->control_inputs(), is_constant)) continue;
    std::vector<Node*> others;
    std::ranges::remove_copy_if(node->control_inputs(), std::back_inserter(others), is_constant);
    graph.SetControlInputs(node, std::move(others));
  }
  UseConstants(graph, "/_folded", [&](Output output) -> std::optional<KnownInput> {
    const auto value = analysis.values.find(output);
    if (value == analysis.values.end()) return std::nullopt;
    KnownInput known{.value = value->second, .device = output.node()->device()};
    const auto waits = analysis.waits.find(output.node());
    if (waits != analysis.waits.end()) known.control_inputs = waits->second;
    return known;
  });
}

// Shapes of variables are known wherever these are, but reads fail where they are not initialised.
void UseShapes(Graph& graph, Node* sink) {
  const std::vector<Node*> stateful = StatefulNodesOf(graph, sink);
  if (!UseVariableShapes(graph).empty()) AwaitNodes(graph, sink, stateful);
}

// What is known leaves parts of the graph unneeded: what only the shape is asked of, what is
// switched to a side that is not taken. What is stateful there runs all the same.
void UseAnalysis(Graph& graph, Analysis& analysis, const OptimizerOptions& options, Node* sink) {
  std::vector<Node*> stateful = StatefulNodesOf(graph, sink);
  std::erase_if(stateful, [&](const Node* node) { return analysis.deadness.NeverLive(*node); });
  if (options.fold_constants) UseValues(graph, analysis);
  BypassDeadBranches(graph, analysis.deadness);
  AwaitNodes(graph, sink, stateful);
}

void Optimize(Graph& graph, const PlanRequest& request, const PlanEnvironment& environment,
              const std::vector<Node*>& needed) {
  GovernedNodes governed(graph);
  governed.Hide();
  for (const Pass& pass : OptimizationPasses()) {
    if (!(environment.optimizer.*pass.enabled)) continue;
    request.ThrowIfCancelled();
    const int64_t version = graph.version();
    pass.run(graph, *environment.devices[0]);
    if (graph.version() != version) RemoveUnneeded(graph, needed);
  }
  governed.Restore();
}

// What other tasks run of the placed graph, taken out of it.
std::vector<PlanCall> CutCalls(Graph& graph, const PlanEnvironment& environment,
                               const std::vector<Node*>& needed) {
  std::vector<PlanCall> calls;
  const std::string own_task = TaskOfDevice(environment.devices[0]->name());
  for (auto& fragment : CutFragments(graph, own_task, needed)) {
    RemoteTask& task = environment.tasks->Find(fragment->task);
    calls.push_back({std::move(fragment), &task});
  }
  return calls;
}

}  // namespace

std::shared_ptr<const Plan> BuildPlan(const PlanRequest& request,
                                      const PlanEnvironment& environment) {
  const CancellationScope cancellable(request.cancellation);  // of the passes
  std::vector<SubgraphFeed> feeds;
  for (const PlanFeed& feed : request.feeds)
    feeds.push_back({feed.tensor, feed.dtype, feed.shape, feed.whole_node});
  Subgraph subgraph =
      CopySubgraph(*request.source, feeds, request.fetches, request.targets, request.name_prefix);
  Graph& graph = *subgraph.graph;
  Node* sink = AddSink(subgraph);
  if (request.depth == 0) MarkFetched(graph, *sink);
  request.ThrowIfCancelled();
  DecodeDeferredConstants(graph, *environment.allocator, environment.devices[0]->memory_bytes());

  Contents contents = Look(graph);
  if (contents.calls) {
    InlineFunctions(graph);
    DecodeDeferredConstants(graph, *environment.allocator, environment.devices[0]->memory_bytes());
    contents = Look(graph);
  }
  if (contents.references) {
    ForgetVaryingShapes(graph, *request.source, request.name_prefix);
    ResolveReferences(graph);
  }
  if (contents.loops) StructureLoops(graph);
  std::vector<Node*> needed(1, sink);
  for (const Output& feed : subgraph.feeds) needed.push_back(feed.node());
  if (contents.loops || contents.references || contents.calls) RemoveUnneeded(graph, needed);
  request.ThrowIfCancelled();
  const bool cut = environment.tasks != nullptr && request.depth == 0;
  if (cut && environment.optimizer.fold_constants) UseShapes(graph, sink);
  if (request.lowered) NoteUses(graph, needed);
  PlaceNodes(graph, environment, request.depth > 0);
  std::vector<PlanCall> calls;
  if (cut) {
    ReadCapturedVariables(graph, environment);
    GatherConditionals(graph, TaskOfDevice(environment.devices[0]->name()), needed);
    calls = CutCalls(graph, environment, needed);
  }
  if (environment.check_graph) environment.check_graph(graph);
  if (environment.devices.size() > 1) PartitionByDevice(graph);

  Analysis analysis = AnalyzeGraph(graph, request, subgraph.feeds, environment);
  UseAnalysis(graph, analysis, environment.optimizer, sink);
  RemoveUnneeded(graph, needed);
  Optimize(graph, request, environment, needed);
  PutChecksFirst(graph);
  // The passes have added nodes.
  if (!calls.empty()) OrderForCalls(graph, EffectOrder(TopologicalOrder(graph)));
  return EmitPlan(std::move(subgraph.graph), sink, subgraph.feeds, request, environment, analysis,
                  std::move(calls));
}

}  // namespace sextant
