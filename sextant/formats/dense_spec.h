// DenseSpec: the checked form of a feature that has values of one shape in every Example, as the
// parsing ops and data::Dataset::ParseExamples are asked for it; and its values, decoded.
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/formats/example_wire.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

// Features are float, int64 or string. Throws INVALID_ARGUMENT, beginning with `what`, for other
// types.
FeatureKind FeatureKindOf(DType dtype, std::string_view what = "a feature");

struct DenseSpec {
  FeatureKind kind = FeatureKind::kNone;
  bool variable = false;  // examples have different numbers of rows
  Shape shape;            // of one example; of one row where variable

  // A first size that is unknown makes it variable. Throws INVALID_ARGUMENT, beginning with `what`
  // ("feature 'x'"), when another size is unknown or a row, of which the number is to be counted,
  // has no elements.
  DenseSpec(DType dtype, const PartialShape& shape, std::string_view what);

  // Values of an example; of a row where variable.
  int64_t elements() const { return shape.num_elements(); }
  // Of this many values: whether they make an example, or a number of rows.
  bool Accepts(int64_t count) const {
    return variable ? count % elements() == 0 : count == elements();
  }
};

// Decodes a list of values to elements [offset, offset + count) of "dst", whose type is the kind's.
// REQUIRES: the list has that many.
void ReadFeature(FeatureKind kind, std::string_view list, void* dst, int64_t offset, int64_t count);
// Copies the first "count" elements of "value" there, or repeats its only one.
void FillFeature(const Tensor& value, void* dst, int64_t offset, int64_t count);
// Zeros or empty strings there.
void ZeroFeature(FeatureKind kind, void* dst, int64_t offset, int64_t count);

}  // namespace sextant
