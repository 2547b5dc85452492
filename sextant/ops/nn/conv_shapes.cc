#include "sextant/ops/nn/conv_shapes.h"

#include <vector>

#include "sextant/base/error.h"
#include "sextant/ops/nn/conv_geometry.h"

namespace sextant::shapes {
namespace {

// Output sizes but for the channels.
PartialShape Positions(const ConvAttrs& attrs, const PartialShape& input,
                       const PartialShape& filter) {
  PartialShape out = PartialShape::UnknownOfRank(attrs.dims() + 2);
  out.set_dim(0, input[0]);
  for (int i = 0; i < attrs.dims(); ++i) {
    const int at = attrs.spatial_index(i);
    out.set_dim(at, attrs.OutputSize(i, input[at], filter[i]));
  }
  return out;
}

void CheckGroups(int64_t in_c, int64_t filter_c, int64_t out_c) {
  if (in_c == PartialShape::kUnknown || filter_c == PartialShape::kUnknown) return;
  if (filter_c == 0 || in_c % filter_c != 0) {
    throw InvalidArgument("Depth of input ({}) is not a multiple of input depth of filter ({})",
                          in_c, filter_c);
  }
  const int64_t groups = in_c / filter_c;
  if (groups > 0 && out_c != PartialShape::kUnknown && out_c % groups != 0) {
    throw InvalidArgument("Depth of output ({}) is not a multiple of the number of groups ({})",
                          out_c, groups);
  }
}

// What input i says of a shape with this rank.
PartialShape SizesInput(const ShapeContext& c, int i, int rank) {
  const PartialShape count = c.InputOfRank(i, 1);
  if (count[0] != PartialShape::kUnknown && count[0] != rank) {
    throw InvalidArgument("{} requires the sizes to contain {} values, but got: {}",
                          c.node().op().name(), rank, count[0]);
  }
  return PartialShape::UnknownOfRank(rank).MergeWith(c.InputAsShape(i));
}

}  // namespace

void Convolution(ShapeContext& c, int dims) {
  const ConvAttrs attrs(c.node(), dims);
  const PartialShape input = c.InputOfRank(0, dims + 2), filter = c.InputOfRank(1, dims + 2);
  PartialShape out = Positions(attrs, input, filter);
  CheckGroups(input[attrs.channel_index()], filter[dims], filter[dims + 1]);
  out.set_dim(attrs.channel_index(), filter[dims + 1]);
  c.set_output(0, out);
}

void DepthwiseConvolution(ShapeContext& c) {
  const ConvAttrs attrs(c.node(), 2);
  const PartialShape input = c.InputOfRank(0, 4), filter = c.InputOfRank(1, 4);
  PartialShape out = Positions(attrs, input, filter);
  const int64_t in_c =
      PartialShape{input[attrs.channel_index()]}.MergeWith(PartialShape{filter[2]})[0];
  if (in_c != PartialShape::kUnknown && filter[3] != PartialShape::kUnknown) {
    out.set_dim(attrs.channel_index(), PartialShape{in_c, filter[3]}.num_elements());
  }
  c.set_output(0, out);
}

void ConvolutionBackpropInput(ShapeContext& c, int dims) {
  const ConvAttrs attrs(c.node(), dims);
  const int rank = dims + 2;
  const PartialShape count = c.InputOfRank(0, 1), filter = c.InputOfRank(1, rank);
  const PartialShape out_backprop = c.InputOfRank(2, rank);
  PartialShape input = PartialShape::UnknownOfRank(rank);
  if (dims == 2 && count[0] == 2) {  // height and width
    const PartialShape sizes = c.InputAsShape(0);
    input.set_dim(0, out_backprop[0]);
    input.set_dim(attrs.channel_index(), filter[2]);
    for (int i = 0; sizes.rank_known() && i < 2; ++i)
      input.set_dim(attrs.spatial_index(i), sizes[i]);
    return c.set_output(0, input);
  }
  if (count[0] != PartialShape::kUnknown || dims != 2) {
    input = SizesInput(c, 0, rank);
    CheckGroups(input[attrs.channel_index()], filter[dims], filter[dims + 1]);
  }
  if (input[0] == PartialShape::kUnknown) input.set_dim(0, out_backprop[0]);
  c.set_output(0, input);
}

void DepthwiseBackpropInput(ShapeContext& c) {
  c.InputOfRank(1, 4);
  c.InputOfRank(2, 4);
  c.set_output(0, SizesInput(c, 0, 4));
}

void ConvolutionBackpropFilter(ShapeContext& c, int dims) {
  c.InputOfRank(0, dims + 2);
  c.InputOfRank(2, dims + 2);
  c.set_output(0, SizesInput(c, 1, dims + 2));
}

}  // namespace sextant::shapes
