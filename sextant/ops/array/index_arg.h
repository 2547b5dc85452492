// IndexArg: an integer operand of a builder (shape, axes, sizes), given as a tensor or as numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Reshape(x, shape_tensor), Reshape(x, {-1, 28, 28, 1}), ExpandDims(x, 0).
class SEXTANT_API IndexArg {
 public:
  IndexArg(Output value) : output_(value) {}                             // NOLINT
  IndexArg(std::initializer_list<int64_t> values) : values_(values) {}   // NOLINT
  IndexArg(std::vector<int64_t> values) : values_(std::move(values)) {}  // NOLINT
  IndexArg(int64_t value) : values_({value}), scalar_(true) {}           // NOLINT
  IndexArg(int value) : IndexArg(static_cast<int64_t>(value)) {}         // NOLINT

  // The tensor's type, or the one its numbers need: int32, else int64.
  DType dtype() const;
  // The tensor, or a constant of this type made in the current graph. Throws INVALID_ARGUMENT when
  // the tensor has another type. kInvalid means dtype().
  Output ToOutput(DType dtype = DType::kInvalid) const;
  // The same where a vector is needed: a number becomes a vector of one element.
  Output ToVector(DType dtype = DType::kInvalid) const;
  // The type that suits all of them: that of the tensors among them, else of the widest numbers.
  static DType CommonType(std::span<const IndexArg* const> args);

 private:
  Output output_;
  std::vector<int64_t> values_;
  bool scalar_ = false;
};

}  // namespace sextant

#pragma GCC visibility pop
