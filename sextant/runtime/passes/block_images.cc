// Images go through the graph in the blocked layout (NCHW16c or NCHW8c) from convolution to
// convolution, forward and backward, as in Liu et al., "Optimizing CNN model inference on CPUs"
// (2019): a convolution in plain NHWC or NCHW would convert its input and output each time.
//
// Nodes are visited inputs first. A convolution takes and gives blocked images; any other node that
// can work on them does so when one of its inputs is blocked; where a node cannot, its input is
// converted back, once for all its readers:
//
//   Conv ─→ BatchNorm ─→ Relu ─→ Conv ─→ Reshape   _ToBlocked ─→ _BlockedConv ─→ … ─→ _BlockedConv
//                                                  ─→ _FromBlocked ─→ Reshape
//
// Invariant: the blocked form of a tensor stands for it wherever it is read, so every tensor that
// is fetched, fed or read by other nodes has the values and the layout it had.
#include <algorithm>
#include <optional>

#include "sextant/device/device.h"
#include "sextant/graph/elementwise_table.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/passes/image_layouts.h"
#include "sextant/runtime/passes/pass.h"

namespace sextant {
namespace {

using Ints64 = std::vector<int64_t>;

class ImageBlocker {
 public:
  ImageBlocker(Graph& graph, int64_t block) : layouts_(graph, block), block_(block) {}

  void Run() {
    const std::vector<Node*> order = TopologicalOrder(layouts_.graph());
    for (Node* node : order) {
      if (!Rewrite(*node)) UsePlainInputs(node);
    }
  }

 private:
  void UsePlainInputs(Node* node) {
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output plain = layouts_.Plain(node->input(i));
      if (plain != node->input(i)) layouts_.graph().SetInput(node, i, plain);
    }
  }

  // False when the node stays as it is.
  bool Rewrite(const Node& node) {
    const std::string& type = node.type();
    if (type == "Conv2D") return Conv(node);
    if (type == "Conv2DBackpropInput") return ConvBackpropInput(node);
    if (type == "Conv2DBackpropFilter") return ConvBackpropFilter(node);
    if (node.num_inputs() == 0) return false;
    if (std::ranges::none_of(node.inputs(), [&](Output o) { return layouts_.Find(o) != nullptr; }))
      return false;
    if (type.starts_with("FusedBatchNormGrad")) return BatchNormGrad(node);
    if (type.starts_with("FusedBatchNorm")) return BatchNorm(node);
    if (type == "BiasAdd") return BiasAdd(node);
    if (type == "BiasAddGrad") return BiasAddGrad(node);
    if (type == "MaxPool" || type == "AvgPool" || type == "MaxPoolGrad" || type == "AvgPoolGrad")
      return Pool(node);
    if (type == "Pad") return Pad(node);
    if (type == "Slice") return Slice(node);
    if (type == "Mean" || type == "Sum" || type == "Max" || type == "Min") return Reduce(node);
    if (type == "Identity" || FindElementwise(type) != nullptr) return Elementwise(node);
    return false;
  }

  std::optional<PartialShape> ConstantShape(Output output) const {
    const Tensor* value = ConstantOf(output);
    if (value == nullptr || value->rank() != 1 || value->dim(0) != 4) return std::nullopt;
    const Ints64 sizes = value->AsInt64s();
    return PartialShape{sizes[0], sizes[1], sizes[2], sizes[3]};
  }

  // The attributes that the blocked convolutions have in common with the plain ones.
  AttrMap ConvAttrs(const Node& node) const {
    AttrMap attrs = {{"block", block_}};
    for (const char* name :
         {"strides", "padding", "explicit_paddings", "data_format", "dilations"}) {
      SetAttr(attrs, name, *node.FindAttr(name));
    }
    return attrs;
  }

  // Whether a convolution of known sizes makes images of whole blocks.
  bool Convertible(const PartialShape& input, const PartialShape& filter,
                   const PartialShape& output, const std::string& format) const {
    if (input.rank() != 4 || filter.rank() != 4 || output.rank() != 4) return false;
    if (!input.fully_known() || !filter.fully_known() || !output.fully_known()) return false;
    if (input.num_elements() == 0 || output.num_elements() == 0 || filter.num_elements() == 0)
      return false;
    return input[ChannelIndex(format)] == filter[2] && filter[3] % block_ == 0;
  }

  bool Conv(const Node& node) {
    const std::string& format = node.attr<std::string>("data_format");
    const Output input = node.input(0), filter = node.input(1);
    if (node.output_type(0) != DType::kFloat ||
        !Convertible(input.shape(), filter.shape(), node.output_shape(0), format)) {
      return false;
    }
    const bool blocked = layouts_.CanBlock(input, format);
    AttrMap attrs = ConvAttrs(node);
    SetAttr(attrs, "blocked_input", blocked);
    const Output image = blocked ? layouts_.Blocked(input, format) : layouts_.Plain(input);
    layouts_.SetBlocked(
        node.output(0),
        layouts_.Add(node, "_BlockedConv2D", {image, layouts_.Plain(filter)}, std::move(attrs)),
        format);
    return true;
  }

  bool ConvBackpropInput(const Node& node) {
    const std::string& format = node.attr<std::string>("data_format");
    const Output filter = node.input(1), dy = node.input(2);
    const auto input = ConstantShape(node.input(0));
    if (!input || node.output_type(0) != DType::kFloat ||
        !Convertible(*input, filter.shape(), dy.shape(), format) ||
        !layouts_.CanBlock(dy, format)) {
      return false;
    }
    const bool blocked = (*input)[ChannelIndex(format)] % block_ == 0;
    AttrMap attrs = ConvAttrs(node);
    SetAttr(attrs, "blocked_output", blocked);
    SetAttr(attrs, "input_shape", *input);
    const Output grad =
        layouts_.Add(node, "_BlockedConv2DBackpropInput",
                     {layouts_.Plain(filter), layouts_.Blocked(dy, format)}, std::move(attrs));
    if (blocked) {
      layouts_.SetBlocked(node.output(0), grad, format);
    } else {
      layouts_.SetCurrent(node.output(0), grad);
    }
    return true;
  }

  bool ConvBackpropFilter(const Node& node) {
    const std::string& format = node.attr<std::string>("data_format");
    const Output input = node.input(0), dy = node.input(2);
    const auto filter = ConstantShape(node.input(1));
    if (!filter || node.output_type(0) != DType::kFloat ||
        !Convertible(input.shape(), *filter, dy.shape(), format) ||
        !layouts_.CanBlock(dy, format)) {
      return false;
    }
    const bool blocked = layouts_.CanBlock(input, format);
    AttrMap attrs = ConvAttrs(node);
    SetAttr(attrs, "blocked_input", blocked);
    SetAttr(attrs, "filter_shape", *filter);
    layouts_.SetCurrent(node.output(0), layouts_.Add(node, "_BlockedConv2DBackpropFilter",
                                                     {blocked ? layouts_.Blocked(input, format)
                                                              : layouts_.Plain(input),
                                                      layouts_.Blocked(dy, format)},
                                                     std::move(attrs)));
    return true;
  }

  static bool AllFloat(const Node& node) {
    return std::ranges::all_of(node.inputs(),
                               [](Output o) { return o.dtype() == DType::kFloat; }) &&
           node.output_type(0) == DType::kFloat;
  }

  bool BatchNorm(const Node& node) {
    const std::string& format = node.attr<std::string>("data_format");
    if (!AllFloat(node) || !layouts_.CanBlock(node.input(0), format)) return false;
    std::vector<Output> inputs = {layouts_.Blocked(node.input(0), format)};
    for (int i = 1; i < 5; ++i) inputs.push_back(layouts_.Plain(node.input(i)));
    AttrMap attrs;
    for (const char* name : {"epsilon", "exponential_avg_factor", "is_training"}) {
      SetAttr(attrs, name, *node.FindAttr(name));
    }
    Node* blocked =
        layouts_.AddNode(node, "_BlockedBatchNorm", std::move(inputs), std::move(attrs));
    layouts_.SetBlocked(node.output(0), blocked->output(0), format);
    for (int i = 1; i < 5; ++i) layouts_.SetCurrent(node.output(i), blocked->output(i));
    return true;
  }

  bool BatchNormGrad(const Node& node) {
    const std::string& format = node.attr<std::string>("data_format");
    if (!AllFloat(node) || !layouts_.CanBlock(node.input(1), format)) return false;
    std::vector<Output> inputs = {layouts_.Blocked(node.input(0), format),
                                  layouts_.Blocked(node.input(1), format)};
    for (int i = 2; i < 5; ++i) inputs.push_back(layouts_.Plain(node.input(i)));
    AttrMap attrs;
    for (const char* name : {"epsilon", "is_training"}) SetAttr(attrs, name, *node.FindAttr(name));
    Node* blocked =
        layouts_.AddNode(node, "_BlockedBatchNormGrad", std::move(inputs), std::move(attrs));
    layouts_.SetBlocked(node.output(0), blocked->output(0), format);
    for (int i = 1; i < 3; ++i) layouts_.SetCurrent(node.output(i), blocked->output(i));
    return true;
  }

  bool BiasAdd(const Node& node) {
    const BlockedImage* image = layouts_.Find(node.input(0));
    if (image == nullptr || node.attr<std::string>("data_format") != image->data_format)
      return false;
    const BlockedImage x = *image;
    const Output bias = layouts_.ChannelVector(node, layouts_.Plain(node.input(1)),
                                               node.output_shape(0)[ChannelIndex(x.data_format)]);
    layouts_.SetBlocked(node.output(0),
                        layouts_.Add(node, "AddV2", {x.tensor, bias}, {{"T", DType::kFloat}}),
                        x.data_format);
    return true;
  }

  bool BiasAddGrad(const Node& node) {
    const BlockedImage* image = layouts_.Find(node.input(0));
    if (image == nullptr || node.attr<std::string>("data_format") != image->data_format)
      return false;
    const Output sum =
        layouts_.Add(node, "Sum", {image->tensor, layouts_.Ints(node, {0, 2, 3})},
                     {{"T", DType::kFloat}, {"Tidx", DType::kInt32}, {"keep_dims", false}});
    layouts_.SetCurrent(node.output(0), layouts_.Reshape(node, sum, node.output_shape(0)));
    return true;
  }

  // On the channels-last view of the blocks.
  bool Pool(const Node& node) {
    const std::string& format = node.attr<std::string>("data_format");
    const bool average_grad = node.type() == "AvgPoolGrad";
    if (node.output_type(0) != DType::kFloat || !layouts_.CanBlock(node.output(0), format))
      return false;
    const int first = average_grad ? 1 : 0;
    for (int i = first; i < node.num_inputs(); ++i) {
      if (!layouts_.CanBlock(node.input(i), format)) return false;
    }
    AttrMap attrs = node.attrs();
    for (const char* name : {"ksize", "strides"}) {
      const Ints64& plain = node.attr<Ints64>(name);
      if (plain.size() != 4 || plain[0] != 1 || plain[ChannelIndex(format)] != 1) return false;
      SetAttr(attrs, name,
              Ints64{1, plain[SpatialIndex(format, 0)], plain[SpatialIndex(format, 1)], 1});
    }
    if (node.attr<std::string>("padding") == "EXPLICIT") return false;
    SetAttr(attrs, "data_format", std::string("NHWC"));
    const PartialShape& out = node.output_shape(0);
    const int64_t n = out[0];
    std::vector<Output> inputs;
    if (average_grad) {
      inputs.push_back(
          layouts_.Ints(node, {n * out[ChannelIndex(format)] / block_, out[SpatialIndex(format, 0)],
                               out[SpatialIndex(format, 1)], block_}));
    }
    for (int i = first; i < node.num_inputs(); ++i) {
      inputs.push_back(layouts_.AsChannelsLast(node, layouts_.Blocked(node.input(i), format)));
    }
    const Output pooled = layouts_.Add(node, node.type(), std::move(inputs), std::move(attrs));
    if (!pooled.shape().fully_known()) return false;
    layouts_.SetBlocked(node.output(0), layouts_.FromChannelsLast(node, pooled, n), format);
    return true;
  }

  bool Padded(const Node& node, const Ints64& before, const Ints64& after) {
    const BlockedImage image = *layouts_.Find(node.input(0));
    const std::string& format = image.data_format;
    const int c = ChannelIndex(format);
    if ((node.input(0).shape()[c] + before[c] + after[c]) % block_ != 0) return false;
    Ints64 paddings;
    for (const int i : {0, SpatialIndex(format, 0), SpatialIndex(format, 1), c}) {
      paddings.insert(paddings.end(), {before[i], after[i]});
    }
    layouts_.SetBlocked(node.output(0),
                        layouts_.Add(node, "_BlockedPad", {image.tensor}, {{"paddings", paddings}}),
                        format);
    return true;
  }

  bool Pad(const Node& node) {
    const Tensor* paddings = ConstantOf(node.input(1));
    if (paddings == nullptr || layouts_.Find(node.input(0)) == nullptr ||
        paddings->num_elements() != 8)
      return false;
    Ints64 before, after;
    const Ints64 flat = paddings->Reshaped(Shape{8}).AsInt64s();
    for (int i = 0; i < 4; ++i) {
      before.push_back(flat[2 * i]);
      after.push_back(flat[2 * i + 1]);
      if (flat[2 * i] < 0 || flat[2 * i + 1] < 0) return false;
    }
    return Padded(node, before, after);
  }

  bool Slice(const Node& node) {
    const Tensor *begin = ConstantOf(node.input(1)), *size = ConstantOf(node.input(2));
    if (begin == nullptr || size == nullptr || layouts_.Find(node.input(0)) == nullptr)
      return false;
    if (!node.output_shape(0).fully_known() || node.output_shape(0).num_elements() == 0)
      return false;
    Ints64 before, after;
    const Ints64 first = begin->AsInt64s();
    for (int i = 0; i < 4; ++i) {
      before.push_back(-first[i]);
      after.push_back(node.output_shape(0)[i] + first[i] - node.input(0).shape()[i]);
      if (before[i] > 0 || after[i] > 0) return false;
    }
    return Padded(node, before, after);
  }

  // Where what is left has the same order in both layouts.
  bool Reduce(const Node& node) {
    const Tensor* value = ConstantOf(node.input(1));
    const BlockedImage* found = layouts_.Find(node.input(0));
    if (value == nullptr || found == nullptr || value->rank() > 1 ||
        !node.output_shape(0).fully_known())
      return false;
    const BlockedImage image = *found;
    bool reduced[4] = {};
    for (int64_t axis : value->Reshaped(Shape{value->num_elements()}).AsInt64s()) {
      if (axis < -4 || axis >= 4) return false;
      reduced[axis < 0 ? axis + 4 : axis] = true;
    }
    const int c = ChannelIndex(image.data_format), h = SpatialIndex(image.data_format, 0),
              w = SpatialIndex(image.data_format, 1);
    if (!reduced[c] && (!reduced[h] || !reduced[w])) return false;
    Ints64 axes;
    if (reduced[0]) axes.push_back(0);
    if (reduced[c]) axes.push_back(1);
    if (reduced[h]) axes.push_back(2);
    if (reduced[w]) axes.push_back(3);
    if (reduced[c]) axes.push_back(4);
    const Output reduction =
        layouts_.Add(node, node.type(), {image.tensor, layouts_.Ints(node, axes)},
                     {{"T", DType::kFloat}, {"Tidx", DType::kInt32}, {"keep_dims", false}});
    layouts_.SetCurrent(node.output(0), layouts_.Reshape(node, reduction, node.output_shape(0)));
    return true;
  }

  // An operand of an element-wise op on blocked images of this shape; empty when it does not fit.
  Output Operand(const Node& node, Output input, const PartialShape& shape,
                 const std::string& format) {
    const PartialShape& s = input.shape();
    if (input.dtype() != DType::kFloat || !s.fully_known()) return {};
    if (s == shape) {
      const BlockedImage* image = layouts_.Find(input);
      if (image != nullptr && image->data_format != format) return {};
      return layouts_.Blocked(input, format);
    }
    if (s.num_elements() == 1 && s.rank() <= 4) return layouts_.Plain(input);
    const int64_t channels = shape[ChannelIndex(format)];
    // A vector along the channels: [c] or [1, 1, 1, c], [c, 1, 1] or [1, c, 1, 1].
    const int position = s.rank() - (4 - ChannelIndex(format));
    if (s.num_elements() != channels || position < 0 || s.rank() > 4 || s[position] != channels)
      return {};
    return layouts_.ChannelVector(node, layouts_.Plain(input), channels);
  }

  bool Elementwise(const Node& node) {
    const PartialShape& shape = node.output_shape(0);
    if (node.num_outputs() != 1 || shape.rank() != 4 || !shape.fully_known()) return false;
    const BlockedImage* anchor = nullptr;
    for (const Output& input : node.inputs()) {
      if (anchor == nullptr && input.shape() == shape) anchor = layouts_.Find(input);
    }
    if (anchor == nullptr) return false;
    const std::string format = anchor->data_format;
    std::vector<Output> inputs;
    for (const Output& input : node.inputs()) {
      inputs.push_back(Operand(node, input, shape, format));
      if (!inputs.back()) return false;
    }
    layouts_.SetBlocked(node.output(0),
                        layouts_.Add(node, node.type(), std::move(inputs), node.attrs()), format);
    return true;
  }

  ImageLayouts layouts_;
  const int64_t block_;
};

}  // namespace

void BlockImages(Graph& graph, const Device& device) {
  const int64_t block = device.channel_block();
  if (block == 0 || graph.FindOp("_BlockedConv2D") == nullptr || !AnyOfType(graph, "Conv2D"))
    return;
  ImageBlocker(graph, block).Run();
}

void AllowWinograd(Graph& graph, const Device&) {
  for (int id = 0; id < graph.num_nodes(); ++id) {
    if (graph.node(id)->type().starts_with("_BlockedConv2D"))
      graph.SetNodeAttr(graph.node(id), "winograd", true);
  }
}

}  // namespace sextant
