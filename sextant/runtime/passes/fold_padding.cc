// Zeros that Pad puts around images before a convolution become the convolution's own padding, and
// what Slice cuts off its gradient is not computed.
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/passes/image_layouts.h"
#include "sextant/runtime/passes/pass.h"

namespace sextant {
namespace {

using Ints64 = std::vector<int64_t>;

// Zeros before and after each dimension, where only height and width get any; else empty.
Ints64 SpatialPadding(const Ints64& before_after, const std::string& format) {
  if (before_after.size() != 8) return {};
  for (int i = 0; i < 8; ++i) {
    const int dimension = i / 2;
    const bool spatial = dimension != 0 && dimension != ChannelIndex(format);
    if (before_after[i] < 0 || (!spatial && before_after[i] != 0)) return {};
  }
  return before_after;
}

// The padding that the convolution itself has, if it is not "SAME".
Ints64 OwnPadding(const Node& conv) {
  const std::string& padding = conv.attr<std::string>("padding");
  if (padding == "VALID") return Ints64(8, 0);
  return padding == "EXPLICIT" ? conv.attr<Ints64>("explicit_paddings") : Ints64();
}

void SetPadding(Graph& graph, Node* conv, Ints64 own, const Ints64& more) {
  for (size_t i = 0; i < 8; ++i) own[i] += more[i];
  graph.SetNodeAttr(conv, "padding", std::string("EXPLICIT"));
  graph.SetNodeAttr(conv, "explicit_paddings", own);
}

void FoldPad(Graph& graph, Node* conv) {
  const Node& pad = *conv->input(0).node();
  const Ints64 own = OwnPadding(*conv);
  if (pad.type() != "Pad" || own.size() != 8) return;
  const Tensor* value = ConstantOf(pad.input(1));
  if (value == nullptr || value->num_elements() != 8) return;
  const Ints64 more =
      SpatialPadding(value->Reshaped(Shape{8}).AsInt64s(), conv->attr<std::string>("data_format"));
  if (more.empty()) return;
  graph.SetInput(conv, 0, pad.input(0));
  SetPadding(graph, conv, own, more);
}

void FoldSlice(Graph& graph, Node* slice) {
  Node* conv = slice->input(0).node();
  if (conv->type() != "Conv2DBackpropInput") return;
  const Ints64 own = OwnPadding(*conv);
  const Tensor *begin = ConstantOf(slice->input(1)), *sizes = ConstantOf(conv->input(0));
  const PartialShape& out = slice->output_shape(0);
  if (own.size() != 8 || begin == nullptr || sizes == nullptr || begin->num_elements() != 4 ||
      sizes->num_elements() != 4 || !out.fully_known() || out.rank() != 4) {
    return;
  }
  const Ints64 first = begin->AsInt64s(), full = sizes->AsInt64s();
  Ints64 cut;
  for (int i = 0; i < 4; ++i) cut.insert(cut.end(), {first[i], full[i] - first[i] - out[i]});
  if (SpatialPadding(cut, conv->attr<std::string>("data_format")).empty()) return;
  NodeSpec spec;
  spec.op = &conv->op();
  spec.attrs = conv->attrs();
  ImageLayouts nodes(graph, 1);
  spec.inputs = {nodes.Ints(*slice, {out[0], out[1], out[2], out[3]}), conv->input(1),
                 conv->input(2)};
  spec.control_inputs.assign(slice->control_inputs().begin(), slice->control_inputs().end());
  graph.Replace(slice, std::move(spec));
  SetPadding(graph, slice, own, cut);
}

}  // namespace

void FoldPadding(Graph& graph, const Device&) {
  if (!AnyOfType(graph, "Conv2D")) return;
  for (Node* node : TopologicalOrder(graph)) {
    if (node->type() == "Conv2D" || node->type() == "Conv2DBackpropFilter") FoldPad(graph, node);
    if (node->type() == "Slice") FoldSlice(graph, node);
  }
}

}  // namespace sextant
