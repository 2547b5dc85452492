// What the attributes of a pooling op say, and the shapes that follow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/graph/graph.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/nn/window_geometry.h"

namespace sextant {

// Window, strides and padding of a pooling op over tensors of some rank (4 or 5).
struct PoolWindow {
  std::vector<int64_t> ksize, strides, explicit_paddings;
  std::string padding;
  DataFormat format;

  // Reads the attributes that the op has. Throws INVALID_ARGUMENT on wrong lengths or values that
  // are not positive.
  static PoolWindow OfNode(const Node& node, int rank);
  // Throws INVALID_ARGUMENT on what OfNode would refuse; for windows given as tensors.
  void Check(int rank) const;
  WindowSpec spec(int dim) const;
};

// The shape that pooling makes of "input"; unknown sizes stay unknown.
PartialShape PooledShape(const PartialShape& input, const PoolWindow& window);
// The same for a known shape. Throws UNIMPLEMENTED when the window spans several images.
Shape PooledShape(const Shape& input, const PoolWindow& window);

// Shape functions: output 0 is the pooled input 0; like input 0, of this rank; given by the vector
// at input 0.
ShapeFunction PooledShapeFunction(int rank);
ShapeFunction PoolGradShapeFunction(int rank);
ShapeFunction PoolGradFromSizesShapeFunction(int rank);

}  // namespace sextant
