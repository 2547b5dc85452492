#include "sextant/graph/passes/loop_frames.h"

#include "sextant/graph/passes/copy_subgraph.h"

namespace sextant {

LoopFrames::LoopFrames(const Graph& graph) {
  for (Node* node : TopologicalOrder(graph)) {
    // The innermost frame among those of the inputs; all others must enclose it.
    int frame = -1;
    const auto see = [&](const Node* input) {
      const auto found = frame_of_.find(input);
      if (found == frame_of_.end()) return;  // from NextIteration to Merge
      if (Encloses(frame, found->second)) {
        frame = found->second;
      } else if (!Encloses(found->second, frame)) {
        throw InvalidArgument("[{} {}] uses tensors of two loops, '{}' and '{}'", node->type(),
                              node->name(), frames_[frame].name, frames_[found->second].name);
      }
    };
    for (const Output& input : node->inputs()) see(input.node());
    for (const Node* input : node->control_inputs()) see(input);
    const std::string& type = node->type();
    if (type == "Enter" || type == "RefEnter") {
      frame = EnterFrame(*node, frame);
    } else if (type == "Exit" || type == "RefExit") {
      if (frame < 0) throw InvalidArgument("[{} {}] is not in a loop", type, node->name());
      frames_[frame].exits.push_back(node);
      frame = frames_[frame].parent;
    } else if (frame < 0 &&
               (type == "NextIteration" || type == "RefNextIteration" || type == "LoopCond")) {
      throw InvalidArgument("[{} {}] is not in a loop", type, node->name());
    }
    Add(node, frame);
  }
}

void LoopFrames::Add(Node* node, int frame) {
  frame_of_[node] = frame;
  if (frame >= 0) frames_[frame].nodes.push_back(node);
}

void LoopFrames::CheckNotFetched(int frame) const {
  for (const Node* node : frames_[frame].nodes) {
    if (!node->type().starts_with('_')) continue;
    throw InvalidArgument(
        "{} is inside the loop '{}' and has no single value: use what the loop's Exit gives",
        node->num_inputs() > 0 ? node->input(0).name() : node->name(), frames_[frame].name);
  }
}

bool LoopFrames::Encloses(int outer, int frame) const {
  const int depth = outer < 0 ? 0 : frames_[outer].depth;
  while (frame >= 0 && frames_[frame].depth > depth) frame = frames_[frame].parent;
  return frame == outer;
}

int LoopFrames::EnterFrame(const Node& enter, int parent) {
  const std::string& name = enter.attr<std::string>("frame_name");
  const auto [found, first] =
      by_name_.emplace(fmt::format("{} {}", parent, name), static_cast<int>(frames_.size()));
  if (first) {
    const int depth = parent < 0 ? 1 : frames_[parent].depth + 1;
    frames_.push_back({.name = name, .parent = parent, .depth = depth});
  }
  return found->second;
}

}  // namespace sextant
