// Which image tensors of a Plan's graph also exist in the blocked layout, and the nodes that
// convert between the two.
//
// A blocked tensor is an ordinary one of shape [n, c / block, h, w, block], so element-wise ops,
// reductions and the memory planner need not know of it; seen as [n * c / block, h, w, block] it is
// channels-last, so neither do ops that treat channels one by one. Only convolution and batch
// normalization have kernels of their own (ops/blocked).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

struct BlockedImage {
  Output tensor;
  std::string data_format;  // of the plain tensor it stands for: "NHWC", "NCHW"
};

class ImageLayouts {
 public:
  ImageLayouts(Graph& graph, int64_t block) : graph_(graph), block_(block) {}

  int64_t block() const { return block_; }
  Graph& graph() { return graph_; }

  // The blocked form, where a node has made one; or null.
  const BlockedImage* Find(Output plain) const;
  // The tensor that took the place of "plain" (a vector of statistics, say, which has one form
  // only), or itself.
  Output Current(Output plain) const;
  void SetBlocked(Output plain, Output blocked, std::string data_format);
  void SetCurrent(Output plain, Output now) { moved_[plain] = now; }

  // The blocked form, converted where there is none. REQUIRES: CanBlock.
  Output Blocked(Output plain, const std::string& data_format);
  // The plain form, converted back where only the blocked one is computed.
  Output Plain(Output plain);
  // Whether the tensor is a float image of known shape whose channels come in whole blocks.
  bool CanBlock(Output plain, const std::string& data_format) const;

  // "like" gives device, control inputs and the start of the name.
  Output Add(const Node& like, std::string_view op, std::vector<Output> inputs, AttrMap attrs);
  Node* AddNode(const Node& like, std::string_view op, std::vector<Output> inputs, AttrMap attrs);
  Output Ints(const Node& like, const std::vector<int64_t>& values);
  Output Reshape(const Node& like, Output x, const PartialShape& shape);
  // Blocked seen as channels-last images, and back.
  Output AsChannelsLast(const Node& like, Output blocked);
  Output FromChannelsLast(const Node& like, Output images, int64_t n);
  // A vector of channels as it adds to blocked images.
  Output ChannelVector(const Node& like, Output vector, int64_t channels);

 private:
  // The blocked form of what is cheaper made in it than converted: one vector of channels spread
  // over an image.
  Output BlockedSpread(Output plain, const std::string& data_format);

  Graph& graph_;
  const int64_t block_;
  std::unordered_map<Output, BlockedImage> blocked_;
  std::unordered_map<Output, Output> moved_, plain_again_, converted_;
};

// Position of the channels in a plain shape of rank 4.
inline int ChannelIndex(std::string_view data_format) { return data_format == "NCHW" ? 1 : 3; }
inline int SpatialIndex(std::string_view data_format, int axis) {
  return data_format == "NCHW" ? 2 + axis : 1 + axis;
}

// Whether a node's type begins so: passes on images cost graphs without any next to nothing.
bool AnyOfType(const Graph& graph, std::string_view prefix);

// The value of a Const node, or null.
const Tensor* ConstantOf(Output output);

}  // namespace sextant
