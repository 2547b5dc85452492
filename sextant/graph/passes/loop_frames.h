// Frames of v1 loops: which node belongs to which loop, and which to none.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

struct LoopFrame {
  std::string name;
  int parent = -1;  // index of the enclosing frame; -1 = outside of all loops
  int depth = 1;
  std::vector<Node*> nodes;  // in topological order; Enter nodes too, Exit nodes not
  std::vector<Node*> exits;  // they belong to the parent
};

class LoopFrames {
 public:
  // Throws INVALID_ARGUMENT, naming the node, where inputs of a node lie in loops that have nothing
  // to do with each other, or a node of loops lies outside of them.
  explicit LoopFrames(const Graph& graph);

  // Parents before children.
  std::vector<LoopFrame>& frames() { return frames_; }
  const std::vector<LoopFrame>& frames() const { return frames_; }
  // Index of the node's frame, or -1. New nodes must be added first.
  int FrameOf(const Node* node) const { return frame_of_.at(node); }
  void Add(Node* node, int frame);
  // Throws INVALID_ARGUMENT, naming the tensor, when something inside of the frame is fetched.
  void CheckNotFetched(int frame) const;
  // Whether "outer" is "frame" or encloses it.
  bool Encloses(int outer, int frame) const;

 private:
  int EnterFrame(const Node& enter, int parent);

  std::vector<LoopFrame> frames_;
  std::unordered_map<const Node*, int> frame_of_;
  std::unordered_map<std::string, int> by_name_;  // "parent name"
};

}  // namespace sextant
