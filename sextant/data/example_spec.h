// ExampleSpec: which features of a tf.train.Example become tensors, of which type and shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/tensor/dtype.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant::data {

struct SEXTANT_API FeatureSpec {
  std::string name;               // of the feature
  DType dtype = DType::kInvalid;  // kFloat, kInt64 or kString
  // Of one example. A first dimension of -1: as many as it has; in a batch of records as many as
  // the longest has, filled up with default_value (or 0, "").
  std::vector<int64_t> shape = {};
  // For examples without the feature: one value for all, or of "shape". None: they are an error.
  std::optional<Tensor> default_value = {};
  // Of a string feature: the bytes of its one value as elements of this type (uint8, …; numbers are
  // little-endian) and of "shape".
  DType decode_raw = DType::kInvalid;
};
using ExampleSpec = std::vector<FeatureSpec>;

}  // namespace sextant::data

#pragma GCC visibility pop
