#include "sextant/ops/nn/conv_geometry.h"

#include <algorithm>
#include <limits>

#include "sextant/base/error.h"
#include "sextant/ops/nn/window_geometry.h"

namespace sextant {
namespace {

// Keeps sums and products of a few sizes inside int64.
constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();

void CheckSize(int64_t value, const char* what) {
  if (value > kMaxSize) throw InvalidArgument("{} too large: {}", what, value);
}

// Reads a list with one entry for each dimension, of which batch and channels must be 1.
void ReadList(const Node& node, const char* attr, const char* what, const ConvAttrs& attrs,
              std::array<int64_t, 3>& values) {
  const Attr* found = node.FindAttr(attr);
  if (found == nullptr) return;
  const auto& list = found->Get<std::vector<int64_t>>();
  const int dims = attrs.dims();
  if (static_cast<int>(list.size()) != dims + 2) {
    throw InvalidArgument("{} requires the {} attribute to contain {} values, but got: {}",
                          node.op().name(), what, dims + 2, list.size());
  }
  if (list[0] != 1 || list[attrs.channel_index()] != 1) {
    throw Unimplemented("{}s in the batch and channel dimensions are not supported: [{}]", what,
                        fmt::join(list, ","));
  }
  for (int i = 0; i < dims; ++i) {
    values[i] = list[attrs.spatial_index(i)];
    if (values[i] <= 0) {
      throw InvalidArgument("{}s should be larger than 0: [{}]", what, fmt::join(list, ","));
    }
    CheckSize(values[i], what);
  }
}

}  // namespace

ConvAttrs::ConvAttrs(const Node& node, int dims, const char* dilations) : dims_(dims) {
  if (const Attr* format = node.FindAttr("data_format")) {
    const std::string& name = format->Get<std::string>();
    channels_first_ = name.size() > 1 && name[1] == 'C';
  }
  ReadList(node, "strides", "stride", *this, stride_);
  ReadList(node, dilations, "dilation", *this, dilation_);
  ReadPaddings(node);
}

void ConvAttrs::ReadPaddings(const Node& node) {
  padding_ = node.attr<std::string>("padding");
  const Attr* found = node.FindAttr("explicit_paddings");
  static const std::vector<int64_t> kNone;
  const auto& list = found ? found->Get<std::vector<int64_t>>() : kNone;
  if (padding_ != "EXPLICIT") {
    if (list.empty()) return;
    throw InvalidArgument(
        "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT: [{}]",
        fmt::join(list, ","));
  }
  if (static_cast<int>(list.size()) != 2 * (dims_ + 2)) {
    throw InvalidArgument("explicit_paddings attribute must contain {} values, but got: {}",
                          2 * (dims_ + 2), list.size());
  }
  for (int64_t value : list) {
    if (value < 0) {
      throw InvalidArgument("All elements of explicit_paddings must be nonnegative, got: [{}]",
                            fmt::join(list, ","));
    }
    CheckSize(value, "explicit padding");
  }
  const int c = channel_index();
  if (list[0] != 0 || list[1] != 0 || list[2 * c] != 0 || list[2 * c + 1] != 0) {
    throw InvalidArgument(
        "Nonzero explicit padding in the batch or depth dimensions is not supported: [{}]",
        fmt::join(list, ","));
  }
  for (int i = 0; i < dims_; ++i) {
    pad_before_[i] = list[2 * spatial_index(i)];
    pad_after_[i] = list[2 * spatial_index(i) + 1];
  }
}

ConvAxis ConvAttrs::Axis(int axis, int64_t in, int64_t filter) const {
  ConvAxis a{.in = in, .filter = filter, .stride = stride_[axis], .dilation = dilation_[axis]};
  CheckSize(in, "input size");
  CheckSize(filter, "filter size");
  if (filter > 1 && a.dilation > kMaxSize / (filter - 1)) {
    throw InvalidArgument("dilated filter too large: {} elements at distance {}", filter,
                          a.dilation);
  }
  const WindowSlide slide = SlideWindow(in,
                                        {.window = filter,
                                         .stride = a.stride,
                                         .dilation = a.dilation,
                                         .pad_before = pad_before_[axis],
                                         .pad_after = pad_after_[axis]},
                                        padding_);
  a.pad_before = slide.pad_before;
  a.pad_after = slide.pad_after;
  a.out = slide.output;
  return a;
}

int64_t ConvAttrs::OutputSize(int axis, int64_t in, int64_t filter) const {
  if (in == PartialShape::kUnknown) return PartialShape::kUnknown;
  if (filter == PartialShape::kUnknown && padding_ != "SAME") {
    return PartialShape::kUnknown;
  }
  return Axis(axis, in, std::max<int64_t>(filter, 0)).out;
}

ConvGeometry ConvAttrs::SpatialPart(const Shape& input, const Shape& filter) const {
  if (input.rank() != dims_ + 2) {
    throw InvalidArgument("input must be {}-dimensional: {}", dims_ + 2, input.ToString());
  }
  if (filter.rank() != dims_ + 2) {
    throw InvalidArgument("filter must be {}-dimensional: {}", dims_ + 2, filter.ToString());
  }
  for (int64_t size : input.dims()) CheckSize(size, "input size");
  for (int64_t size : filter.dims()) CheckSize(size, "filter size");
  ConvGeometry g;
  g.channels_first = channels_first_;
  g.batch = input[0];
  g.in_c = input[channel_index()];
  ConvAxis* const axes[3] = {&g.depth, &g.height, &g.width};
  for (int i = 0; i < dims_; ++i) {
    *axes[3 - dims_ + i] = Axis(i, input[spatial_index(i)], filter[i]);
  }
  return g;
}

ConvGeometry ConvAttrs::Grouped(const Shape& input, const Shape& filter) const {
  ConvGeometry g = SpatialPart(input, filter);
  g.filter_c = filter[dims_];
  g.out_c = filter[dims_ + 1];
  if (g.filter_c == 0)
    throw InvalidArgument("filter depth must be positive: {}", filter.ToString());
  if (g.in_c % g.filter_c != 0) {
    throw InvalidArgument("input depth must be evenly divisible by filter depth: {} vs {}", g.in_c,
                          g.filter_c);
  }
  g.groups = g.in_c / g.filter_c;
  if (g.groups > 0 && g.out_c % g.groups != 0) {
    throw InvalidArgument("output depth must be evenly divisible by number of groups: {} vs {}",
                          g.out_c, g.groups);
  }
  return g;
}

ConvGeometry ConvAttrs::Convolution(const Shape& input, const Shape& filter) const {
  const ConvGeometry g = Grouped(input, filter);
  if (filter.num_elements() == 0 && OutputShape(g).num_elements() > 0) {
    throw InvalidArgument(
        "filter must not have zero elements (i.e. all dimensions must be non-zero): {}",
        filter.ToString());
  }
  return g;
}

ConvGeometry ConvAttrs::Depthwise(const Shape& input, const Shape& filter) const {
  ConvGeometry g = SpatialPart(input, filter);
  if (g.in_c != filter[dims_]) {
    throw InvalidArgument("input and filter must have the same depth: {} vs {}", g.in_c,
                          filter[dims_]);
  }
  g.filter_c = 1;
  g.groups = g.in_c;
  g.out_c = g.in_c * filter[dims_ + 1];
  return g;
}

Shape ConvAttrs::OutputShape(const ConvGeometry& g) const {
  const ConvAxis* const axes[3] = {&g.depth, &g.height, &g.width};
  int64_t sizes[5] = {g.batch};
  sizes[channel_index()] = g.out_c;
  for (int i = 0; i < dims_; ++i) sizes[spatial_index(i)] = axes[3 - dims_ + i]->out;
  return Shape(std::span<const int64_t>(sizes, dims_ + 2));
}

void ConvAttrs::CheckOutput(const ConvGeometry& geometry, const Shape& input, const Shape& filter,
                            const Shape& out_backprop) const {
  const Shape expected = OutputShape(geometry);
  if (out_backprop == expected) return;
  throw InvalidArgument(
      "out_backprop must have the shape of the output: {} for input {} and filter {}, got {}",
      expected.ToString(), input.ToString(), filter.ToString(), out_backprop.ToString());
}

ConvGeometry ConvAttrs::Backprop(const Shape& input, const Shape& filter,
                                 const Shape& out_backprop) const {
  const ConvGeometry geometry = Grouped(input, filter);
  CheckOutput(geometry, input, filter, out_backprop);
  return geometry;
}

ConvGeometry ConvAttrs::DepthwiseBackprop(const Shape& input, const Shape& filter,
                                          const Shape& out_backprop) const {
  const ConvGeometry geometry = Depthwise(input, filter);
  CheckOutput(geometry, input, filter, out_backprop);
  return geometry;
}

}  // namespace sextant
