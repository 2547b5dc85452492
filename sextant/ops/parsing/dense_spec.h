// The checked form of a dense feature's shape and default.
#pragma once

#include <string>
#include <vector>

#include "sextant/formats/example_wire.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

// Kernels read features of these types only; the signatures allow no others.
FeatureKind KindOf(DType dtype);

struct DenseSpec {
  FeatureKind kind = FeatureKind::kNone;
  bool variable = false;  // examples have different numbers of rows
  Shape shape;            // of one example; of one row where variable

  // Throws INVALID_ARGUMENT, naming "position", when the shape is not known but for its first size.
  // A row without elements cannot be counted.
  DenseSpec(DType dtype, const PartialShape& shape, size_t position);

  int64_t elements() const { return shape.num_elements(); }
  // Throws INVALID_ARGUMENT when the tensor does not fit as default or padding.
  void CheckDefault(const Tensor& value, const std::string& key) const;
};

// Reads a feature's values to elements [offset, offset + count) of "dst", whose type is the kind's.
void ReadTo(FeatureKind kind, std::string_view list, void* dst, int64_t offset, int64_t count);
// Copies "value" there, or repeats its only element.
void FillWith(FeatureKind kind, const Tensor& value, void* dst, int64_t offset, int64_t count);
// Zeros or empty strings there.
void FillZero(FeatureKind kind, void* dst, int64_t offset, int64_t count);

}  // namespace sextant
