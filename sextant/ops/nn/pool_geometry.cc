#include "sextant/ops/nn/pool_geometry.h"

#include "sextant/base/error.h"

namespace sextant {
namespace {

PoolAxis AxisOf(int64_t in, const WindowSpec& spec, const std::string& padding) {
  const WindowSlide slide = SlideWindow(in, spec, padding);
  if (slide.pad_before >= spec.window && slide.output > 0) {
    throw InvalidArgument("Padding {} needs to be smaller than the window size {}",
                          slide.pad_before, spec.window);
  }
  if (slide.pad_after >= spec.window && slide.output > 0 && padding == "EXPLICIT") {
    throw InvalidArgument("Padding {} needs to be smaller than the window size {}", slide.pad_after,
                          spec.window);
  }
  return {in, slide.output, spec.window, spec.stride, slide.pad_before};
}

void CheckChannelWindow(const Shape& input, const PoolWindow& window, int channel) {
  for (int i = 1; i < input.rank(); ++i) {
    if (i != channel && (window.ksize[i] != 1 || window.strides[i] != 1)) {
      throw Unimplemented(
          "MaxPooling supports exactly one of pooling across depth or pooling across "
          "width/height.");
    }
  }
  if (window.ksize[channel] != window.strides[channel]) {
    throw Unimplemented(
        "Depthwise max pooling requires the depth window to equal the depth stride: {} and {}",
        window.ksize[channel], window.strides[channel]);
  }
  if (input[channel] % window.ksize[channel] != 0) {
    throw Unimplemented(
        "Depthwise max pooling requires the depth window {} to evenly divide the input depth {}",
        window.ksize[channel], input[channel]);
  }
}

}  // namespace

PoolGeometry::PoolGeometry(const Shape& input, int rank, const PoolWindow& window) {
  if (input.rank() != rank) {
    throw InvalidArgument("pooling needs an input of {} dimensions, got {}", rank,
                          input.ToString());
  }
  output = PooledShape(input, window);
  const int channel = window.format.channel(rank);
  batch = input[0];
  channels = input[channel];
  PoolAxis* const axes[3] = {&depth, &height, &width};
  for (int i = 0; i < rank - 2; ++i) {
    const int dim = window.format.spatial(i);
    *axes[5 - rank + i] = AxisOf(input[dim], window.spec(dim), window.padding);
  }
  if (in_pixels() >= int64_t{1} << 31) {
    throw InvalidArgument("pooling of images of 2^31 or more pixels: {}", input.ToString());
  }
  if (window.ksize[channel] != 1 || window.strides[channel] != 1) {
    CheckChannelWindow(input, window, channel);
    if (window.format.channels_first) {
      throw Unimplemented("Pooling across channels that come first is not supported");
    }
    batch *= height.out * width.out * depth.out;
    depth = height = PoolAxis();
    width = AxisOf(channels, window.spec(channel), "VALID");
    channels = 1;
  } else if (window.format.channels_first) {
    batch *= channels;
    channels = 1;
  }
}

void PoolGeometry::CheckOutput(const Shape& shape, const char* name) const {
  if (shape == output) return;
  throw InvalidArgument("Expected {} shape to be {}, but got {}", name, output.ToString(),
                        shape.ToString());
}

}  // namespace sextant
