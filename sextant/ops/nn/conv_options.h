// Between Conv2DOptions and the attributes of nodes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/ops/nn/conv.h"

namespace sextant {

inline OpBuilder WithConvOptions(OpBuilder builder, const Conv2DOptions& options) {
  builder.Attr("strides", options.strides)
      .Attr("padding", options.padding)
      .Attr("data_format", options.data_format)
      .Attr("dilations", options.dilations)
      .Attr("explicit_paddings", options.explicit_paddings);
  return builder;
}

inline Conv2DOptions ConvOptionsOf(const Node& node) {
  return {.strides = node.attr<std::vector<int64_t>>("strides"),
          .padding = node.attr<std::string>("padding"),
          .data_format = node.attr<std::string>("data_format"),
          .dilations = node.attr<std::vector<int64_t>>("dilations"),
          .explicit_paddings = node.attr<std::vector<int64_t>>("explicit_paddings")};
}

}  // namespace sextant
