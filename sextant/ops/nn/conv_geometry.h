// The geometry of convolutions: what their attributes say (ConvAttrs) and what follows for inputs
// of given shapes (ConvGeometry), for one to three spatial axes, full, grouped and depthwise.
//
// Everything that does not fit together throws INVALID_ARGUMENT with the values; strides and
// dilations over images or channels UNIMPLEMENTED.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sextant/graph/graph.h"
#include "sextant/tensor/shape.h"

namespace sextant {

// One spatial axis: output position o sees, for f in [0, filter), the input position
// o * stride - pad_before + f * dilation, which is zero outside [0, in).
struct ConvAxis {
  int64_t in = 1;
  int64_t filter = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;
  int64_t pad_after = 0;
  int64_t out = 1;

  // How far the dilated filter reaches.
  int64_t extent() const { return (filter - 1) * dilation + 1; }
  // The input index that tap "f" of output index "o" reads; may be outside.
  int64_t InputIndex(int64_t o, int64_t f) const { return o * stride - pad_before + f * dilation; }
  // The output index whose tap "f" reads input index "i", or -1.
  int64_t OutputIndex(int64_t i, int64_t f) const {
    const int64_t scaled = i + pad_before - f * dilation;
    if (scaled < 0 || scaled % stride != 0 || scaled / stride >= out) return -1;
    return scaled / stride;
  }
  bool operator==(const ConvAxis&) const = default;
};

// Sizes of a convolution. 2-D convolutions have depth == ConvAxis().
// The filter is [(depth,) height, width, filter_c, out_c]; that of a depthwise convolution
// [height, width, in_c, out_c / in_c], where groups == in_c and filter_c == 1.
struct ConvGeometry {
  int64_t batch = 0;
  int64_t in_c = 0;
  int64_t out_c = 0;
  int64_t filter_c = 0;  // input channels that one output channel sees
  int64_t groups = 1;    // in_c / filter_c; 0 when there are no input channels
  ConvAxis depth, height, width;
  bool channels_first = false;  // NCHW, NCDHW

  int64_t in_pixels() const { return depth.in * height.in * width.in; }
  int64_t out_pixels() const { return depth.out * height.out * width.out; }
  int64_t filter_pixels() const { return depth.filter * height.filter * width.filter; }
  bool operator==(const ConvGeometry&) const = default;
};

// The attributes of a node with "dims" spatial axes (2 or 3), checked.
class ConvAttrs {
 public:
  // Reads strides, dilations (or what the op calls them), padding, explicit_paddings, data_format;
  // those the op does not have are taken for their usual defaults.
  ConvAttrs(const Node& node, int dims, const char* dilations = "dilations");

  int dims() const { return dims_; }
  bool channels_first() const { return channels_first_; }
  const std::string& padding() const { return padding_; }  // "SAME", "VALID" or "EXPLICIT"
  int64_t stride(int axis) const { return stride_[axis]; }
  int64_t dilation(int axis) const { return dilation_[axis]; }
  // Where the channels and spatial axis "axis" are in shapes of inputs and outputs.
  int channel_index() const { return channels_first_ ? 1 : dims_ + 1; }
  int spatial_index(int axis) const { return channels_first_ ? axis + 2 : axis + 1; }

  // What happens along one axis, with padding and output size.
  ConvAxis Axis(int axis, int64_t in, int64_t filter) const;
  // The same for sizes that may be PartialShape::kUnknown: the output size, or kUnknown.
  int64_t OutputSize(int axis, int64_t in, int64_t filter) const;

  // A convolution of input and filter. A filter without elements is refused where there is output.
  ConvGeometry Convolution(const Shape& input, const Shape& filter) const;
  ConvGeometry Depthwise(const Shape& input, const Shape& filter) const;
  // The same, when out_backprop is said to be a gradient of its output: must have that shape.
  ConvGeometry Backprop(const Shape& input, const Shape& filter, const Shape& out_backprop) const;
  ConvGeometry DepthwiseBackprop(const Shape& input, const Shape& filter,
                                 const Shape& out_backprop) const;

  Shape OutputShape(const ConvGeometry& geometry) const;

 private:
  ConvGeometry SpatialPart(const Shape& input, const Shape& filter) const;
  ConvGeometry Grouped(const Shape& input, const Shape& filter) const;
  void CheckOutput(const ConvGeometry& geometry, const Shape& input, const Shape& filter,
                   const Shape& out_backprop) const;
  void ReadPaddings(const Node& node);

  int dims_;
  bool channels_first_ = false;
  std::string padding_;
  std::array<int64_t, 3> stride_{1, 1, 1}, dilation_{1, 1, 1};
  std::array<int64_t, 3> pad_before_{}, pad_after_{};  // when explicit
};

}  // namespace sextant
