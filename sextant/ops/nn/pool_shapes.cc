#include "sextant/ops/nn/pool_shapes.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant {
namespace {

template <typename T>
T AttrOr(const Node& node, const char* name, T fallback) {
  const Attr* attr = node.FindAttr(name);
  return attr == nullptr ? fallback : attr->Get<T>();
}

}  // namespace

PoolWindow PoolWindow::OfNode(const Node& node, int rank) {
  PoolWindow window;
  window.padding = node.attr<std::string>("padding");
  window.format = DataFormat::Parse(AttrOr<std::string>(node, "data_format", "NHWC"));
  window.explicit_paddings = AttrOr<std::vector<int64_t>>(node, "explicit_paddings", {});
  if (node.FindAttr("ksize") == nullptr) return window;
  window.ksize = node.attr<std::vector<int64_t>>("ksize");
  window.strides = node.attr<std::vector<int64_t>>("strides");
  window.Check(rank);
  return window;
}

void PoolWindow::Check(int rank) const {
  const auto check = [&](const std::vector<int64_t>& values, const char* what) {
    if (static_cast<int>(values.size()) != rank) {
      throw InvalidArgument("Sliding window {} field must specify {} dimensions, got [{}]", what,
                            rank, fmt::join(values, ","));
    }
    if (std::ranges::any_of(values, [](int64_t v) { return v <= 0; })) {
      throw InvalidArgument("Sliding window {} must be positive, got [{}]", what,
                            fmt::join(values, ","));
    }
  };
  check(ksize, "ksize");
  check(strides, "strides");
  const auto& pads = explicit_paddings;
  if (padding != "EXPLICIT") return;
  if (static_cast<int>(pads.size()) != 2 * rank) {
    throw InvalidArgument("explicit_paddings attribute must contain {} values, but got: {}",
                          2 * rank, pads.size());
  }
  const int channel = format.channel(rank);
  for (int dim : {0, channel}) {
    if (pads[2 * dim] != 0 || pads[2 * dim + 1] != 0) {
      throw InvalidArgument(
          "Nonzero explicit padding in the batch or depth dimensions is not "
          "supported: [{}]",
          fmt::join(pads, ","));
    }
  }
}

WindowSpec PoolWindow::spec(int dim) const {
  WindowSpec spec{.window = ksize[dim], .stride = strides[dim]};
  if (padding == "EXPLICIT") {
    spec.pad_before = explicit_paddings[2 * dim];
    spec.pad_after = explicit_paddings[2 * dim + 1];
  }
  return spec;
}

PartialShape PooledShape(const PartialShape& input, const PoolWindow& window) {
  PartialShape result = input;
  for (int i = 0; i < input.rank(); ++i) {
    result.set_dim(i, SlidePositions(input[i], window.spec(i), window.padding));
  }
  return result;
}

Shape PooledShape(const Shape& input, const PoolWindow& window) {
  if (window.ksize[0] != 1 || window.strides[0] != 1) {
    throw Unimplemented("Pooling is not yet supported on the batch dimension.");
  }
  return PooledShape(PartialShape(input), window).AsShape();
}

ShapeFunction PooledShapeFunction(int rank) {
  return [rank](ShapeContext& c) {
    const PartialShape input = c.InputOfRank(0, rank);
    PoolWindow window = PoolWindow::OfNode(c.node(), rank);
    if (window.ksize.empty()) {  // the window is given by inputs 1 and 2
      const auto ksize = c.InputInts(1), strides = c.InputInts(2);
      if (!ksize || !strides) return c.set_output(0, PartialShape::UnknownOfRank(rank));
      window.ksize = *ksize;
      window.strides = *strides;
      window.Check(rank);
    }
    const PartialShape pooled = PooledShape(input, window);
    for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, pooled);
  };
}

ShapeFunction PoolGradShapeFunction(int rank) {
  return [rank](ShapeContext& c) { c.set_output(0, c.InputOfRank(0, rank)); };
}

ShapeFunction PoolGradFromSizesShapeFunction(int rank) {
  return [rank](ShapeContext& c) {
    c.set_output(0, c.InputAsShape(0).MergeWith(PartialShape::UnknownOfRank(rank)));
  };
}

}  // namespace sextant
