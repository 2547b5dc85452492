#include "sextant/runtime/passes/image_layouts.h"

#include "sextant/graph/passes/rewriting.h"

namespace sextant {
namespace {

PartialShape BlockedShape(const PartialShape& plain, const std::string& data_format,
                          int64_t block) {
  return {plain[0], plain[ChannelIndex(data_format)] / block, plain[SpatialIndex(data_format, 0)],
          plain[SpatialIndex(data_format, 1)], block};
}

}  // namespace

bool AnyOfType(const Graph& graph, std::string_view prefix) {
  for (int id = 0; id < graph.num_nodes(); ++id) {
    if (graph.node(id)->type().starts_with(prefix)) return true;
  }
  return false;
}

const Tensor* ConstantOf(Output output) {
  return output.node()->type() == "Const" ? &output.node()->attr<Tensor>("value") : nullptr;
}

const BlockedImage* ImageLayouts::Find(Output plain) const {
  const auto found = blocked_.find(plain);
  return found == blocked_.end() ? nullptr : &found->second;
}

Output ImageLayouts::Current(Output plain) const {
  const auto found = moved_.find(plain);
  return found == moved_.end() ? plain : found->second;
}

void ImageLayouts::SetBlocked(Output plain, Output blocked, std::string data_format) {
  blocked_[plain] = {blocked, std::move(data_format)};
}

bool ImageLayouts::CanBlock(Output plain, const std::string& data_format) const {
  const PartialShape& shape = plain.shape();
  if (plain.dtype() != DType::kFloat || shape.rank() != 4 || !shape.fully_known()) return false;
  return shape.num_elements() > 0 && shape[ChannelIndex(data_format)] % block_ == 0;
}

Output ImageLayouts::Blocked(Output plain, const std::string& data_format) {
  if (const BlockedImage* image = Find(plain); image && image->data_format == data_format) {
    return image->tensor;
  }
  Output& converted = converted_[plain];
  if (!converted) converted = BlockedSpread(plain, data_format);
  if (!converted) {
    converted = Add(*plain.node(), "_ToBlocked", {Plain(plain)},
                    {{"block", block_}, {"data_format", data_format}});
  }
  return converted;
}

Output ImageLayouts::BlockedSpread(Output plain, const std::string& data_format) {
  const Node& node = *plain.node();
  const std::string& type = node.type();
  if (type == "RealDiv" || type == "Mul") {
    const Output image = node.input(0), factor = node.input(1);
    if (image.shape() != plain.shape() || factor.shape().num_elements() != 1) return {};
    const Output spread = BlockedSpread(image, data_format);
    if (!spread) return {};
    return Add(node, type, {spread, Current(factor)}, {{"T", DType::kFloat}});
  }
  if (type != "BroadcastTo" && type != "Tile") return {};
  const PartialShape& from = node.input(0).shape();
  const int channel = ChannelIndex(data_format);
  if (from.rank() != 4 || !from.fully_known() || from[channel] != plain.shape()[channel] ||
      from[SpatialIndex(data_format, 0)] != 1 || from[SpatialIndex(data_format, 1)] != 1) {
    return {};
  }
  const PartialShape shape = BlockedShape(plain.shape(), data_format, block_);
  const Output small = Reshape(node, Plain(node.input(0)), BlockedShape(from, data_format, block_));
  return Add(node, "BroadcastTo",
             {small, Ints(node, {shape[0], shape[1], shape[2], shape[3], shape[4]})},
             {{"T", DType::kFloat}, {"Tidx", DType::kInt32}});
}

Output ImageLayouts::Plain(Output plain) {
  const BlockedImage* image = Find(plain);
  if (image == nullptr) return Current(plain);
  Output& again = plain_again_[plain];
  if (!again) {
    again = Add(*plain.node(), "_FromBlocked", {image->tensor},
                {{"block", block_}, {"data_format", image->data_format}});
  }
  return again;
}

Node* ImageLayouts::AddNode(const Node& like, std::string_view op, std::vector<Output> inputs,
                            AttrMap attrs) {
  NodeSpec spec;
  spec.name = FreshName(graph_, like.name() + "/" + std::string(op));
  spec.op = RequireOp(graph_, op);
  spec.inputs = std::move(inputs);
  spec.control_inputs.assign(like.control_inputs().begin(), like.control_inputs().end());
  spec.attrs = std::move(attrs);
  spec.device = like.device();
  return graph_.AddNode(std::move(spec));
}

Output ImageLayouts::Add(const Node& like, std::string_view op, std::vector<Output> inputs,
                         AttrMap attrs) {
  return AddNode(like, op, std::move(inputs), std::move(attrs))->output(0);
}

Output ImageLayouts::Ints(const Node& like, const std::vector<int64_t>& values) {
  Tensor tensor(DType::kInt32, Shape{static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    tensor.data<int32_t>()[i] = static_cast<int32_t>(values[i]);
  return Add(like, "Const", {}, {{"value", tensor}, {"dtype", DType::kInt32}});
}

Output ImageLayouts::Reshape(const Node& like, Output x, const PartialShape& shape) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  const Output y =
      Add(like, "Reshape", {x, Ints(like, sizes)}, {{"T", x.dtype()}, {"Tshape", DType::kInt32}});
  y.node()->set_output_shape(0, shape);
  return y;
}

Output ImageLayouts::AsChannelsLast(const Node& like, Output blocked) {
  const PartialShape& s = blocked.shape();
  return Reshape(like, blocked, {s[0] * s[1], s[2], s[3], s[4]});
}

Output ImageLayouts::FromChannelsLast(const Node& like, Output images, int64_t n) {
  const PartialShape& s = images.shape();
  return Reshape(like, images, {n, s[0] / n, s[1], s[2], s[3]});
}

Output ImageLayouts::ChannelVector(const Node& like, Output vector, int64_t channels) {
  return Reshape(like, vector, {1, channels / block_, 1, 1, block_});
}

}  // namespace sextant
