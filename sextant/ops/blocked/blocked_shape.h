// Shapes of the blocked layout: [n, c / block, h, w, block], where channels of one block lie
// together.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/graph/shape_context.h"
#include "sextant/tensor/shape.h"

namespace sextant {

// The images [n, h, w, c] or [n, c, h, w] as one says with data_format.
struct ImageShape {
  int64_t n = 0, h = 0, w = 0, c = 0;
  static ImageShape OfPlain(const Shape& shape, const std::string& data_format);
  // REQUIRES: rank 5.
  static ImageShape OfBlocked(const Shape& shape);
  Shape Plain(const std::string& data_format) const;
  Shape Blocked(int64_t block) const;
};

// For shape functions: the blocked form of a plain partial shape and the other way round.
PartialShape BlockedForm(const PartialShape& plain, const std::string& data_format, int64_t block);
PartialShape PlainForm(const PartialShape& blocked, const std::string& data_format);

}  // namespace sextant
