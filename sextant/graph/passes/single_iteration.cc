#include "sextant/graph/passes/single_iteration.h"

#include <algorithm>
#include <unordered_set>

#include "sextant/graph/passes/rewriting.h"

namespace sextant {
namespace {

bool ComesFromNextIteration(const Output& input) { return input.node()->type() == "NextIteration"; }

bool IsLoopMerge(const Node& node) {
  return node.type() == "Merge" && std::ranges::any_of(node.inputs(), ComesFromNextIteration);
}

// Whether the tensor depends on an Enter of the frame that is not constant other than by loop
// variables.
bool NeedsFirstIteration(Output tensor, const LoopFrames& frames, int index) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> stack = {tensor.node()};
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (frames.FrameOf(node) != index || IsLoopMerge(*node) || !seen.insert(node).second) continue;
    if (node->type() == "Enter") {
      if (!node->attr<bool>("is_constant")) return true;
      continue;
    }
    for (const Output& input : node->inputs()) stack.push_back(input.node());
    for (const Node* control : node->control_inputs()) stack.push_back(control);
  }
  return false;
}

void BecomeIdentity(Graph& graph, Node* node) {
  const Output input = node->input(0);
  const HandleShape* handle = input.node()->output_handle(input.index());
  graph.Replace(node,
                {.op = RequireOp(graph, "Identity"),
                 .inputs = {input},
                 .control_inputs = {node->control_inputs().begin(), node->control_inputs().end()},
                 .attrs = {{"T", RemoveRef(input.dtype())}}});
  if (handle) node->set_output_handle(0, *handle);
}

}  // namespace

bool RunsOnce(const LoopFrames& frames, int index) {
  const std::vector<Node*>& nodes = frames.frames()[index].nodes;
  if (std::ranges::none_of(nodes, [](const Node* node) { return IsLoopMerge(*node); })) return true;
  bool any = false;
  for (const Node* node : nodes) {
    if (node->type() != "Switch" || !IsLoopMerge(*node->input(0).node())) continue;
    if (!NeedsFirstIteration(node->input(1), frames, index)) return false;
    any = true;
  }
  return any;
}

std::vector<Node*> DissolveFrame(Graph& graph, LoopFrames& frames, int index) {
  const LoopFrame frame = frames.frames()[index];  // a copy: frames grow
  std::vector<Node*> unread;
  for (Node* node : frame.nodes) {
    const std::string& type = node->type();
    if (type == "NextIteration") {
      unread.push_back(node);
      continue;
    }
    if (type == "Enter" || type == "LoopCond") {
      BecomeIdentity(graph, node);
    } else if (IsLoopMerge(*node)) {
      std::vector<Output> inputs(node->inputs().begin(), node->inputs().end());
      std::erase_if(inputs, ComesFromNextIteration);
      const auto count = static_cast<int64_t>(inputs.size());
      const DType dtype = node->attr<DType>("T");
      graph.Replace(
          node, {.op = RequireOp(graph, "Merge"),
                 .inputs = std::move(inputs),
                 .control_inputs = {node->control_inputs().begin(), node->control_inputs().end()},
                 .attrs = {{"T", dtype}, {"N", count}}});
    }
    frames.Add(node, frame.parent);
  }
  for (Node* exit : frame.exits) BecomeIdentity(graph, exit);
  return unread;
}

}  // namespace sextant
