#include "sextant/nn/layer_variables.h"
#include "sextant/nn/layers.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/nn/lrn.h"
#include "sextant/ops/nn/pool.h"

namespace sextant::layers {
namespace {

PoolOptions OpOptions(const Pool2DOptions& options) {
  const auto in_format = [&](const Size2& size) -> std::vector<int64_t> {
    if (options.data_format == "NCHW") return {1, 1, size.height, size.width};
    return {1, size.height, size.width, 1};
  };
  std::string padding = options.padding;
  for (char& c : padding) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return {.ksize = in_format(options.pool),
          .strides = in_format(options.strides),
          .padding = padding,
          .data_format = options.data_format};
}

Pool2DOptions AsImage(const Pool1DOptions& options) {
  return {.pool = {1, options.pool}, .strides = {1, options.strides}, .padding = options.padding};
}

}  // namespace

Output MaxPool2D(Output x, const Pool2DOptions& options) {
  CheckRank(x, 4, "MaxPool2D");
  const NameScope scope(options.name.empty() ? "max_pooling2d" : options.name);
  return MaxPool(x, OpOptions(options));
}

Output AveragePool2D(Output x, const Pool2DOptions& options) {
  CheckRank(x, 4, "AveragePool2D");
  const NameScope scope(options.name.empty() ? "average_pooling2d" : options.name);
  return AvgPool(x, OpOptions(options));
}

Output MaxPool1D(Output x, const Pool1DOptions& options) {
  CheckRank(x, 3, "MaxPool1D");
  const NameScope scope(options.name.empty() ? "max_pooling1d" : options.name);
  return Squeeze(MaxPool(ExpandDims(x, 1), OpOptions(AsImage(options))), {1});
}

Output AveragePool1D(Output x, const Pool1DOptions& options) {
  CheckRank(x, 3, "AveragePool1D");
  const NameScope scope(options.name.empty() ? "average_pooling1d" : options.name);
  return Squeeze(AvgPool(ExpandDims(x, 1), OpOptions(AsImage(options))), {1});
}

Output LocalResponseNorm(Output x, const LocalResponseNormOptions& options) {
  return LRN(x, {.depth_radius = options.depth_radius,
                 .bias = options.bias,
                 .alpha = options.alpha,
                 .beta = options.beta});
}

}  // namespace sextant::layers
