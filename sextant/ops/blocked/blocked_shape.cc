#include "sextant/ops/blocked/blocked_shape.h"

namespace sextant {

ImageShape ImageShape::OfPlain(const Shape& shape, const std::string& data_format) {
  if (data_format == "NCHW") return {shape[0], shape[2], shape[3], shape[1]};
  return {shape[0], shape[1], shape[2], shape[3]};
}

ImageShape ImageShape::OfBlocked(const Shape& shape) {
  return {shape[0], shape[2], shape[3], shape[1] * shape[4]};
}

Shape ImageShape::Plain(const std::string& data_format) const {
  return data_format == "NCHW" ? Shape{n, c, h, w} : Shape{n, h, w, c};
}

Shape ImageShape::Blocked(int64_t block) const { return {n, c / block, h, w, block}; }

PartialShape BlockedForm(const PartialShape& plain, const std::string& data_format, int64_t block) {
  if (plain.rank() != 4) return PartialShape{-1, -1, -1, -1, block};
  const bool nchw = data_format == "NCHW";
  const int64_t c = plain[nchw ? 1 : 3];
  return {plain[0], c < 0 ? c : c / block, plain[nchw ? 2 : 1], plain[nchw ? 3 : 2], block};
}

PartialShape PlainForm(const PartialShape& blocked, const std::string& data_format) {
  const int64_t c = blocked[1] < 0 || blocked[4] < 0 ? -1 : blocked[1] * blocked[4];
  if (data_format == "NCHW") return {blocked[0], c, blocked[2], blocked[3]};
  return {blocked[0], blocked[2], blocked[3], c};
}

}  // namespace sextant
