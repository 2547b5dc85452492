// ExampleSpec: which features of a tf.train.Example become tensors, of which type and shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sextant/tensor/dtype.h"
#include "sextant/tensor/tensor.h"

namespace sextant::data {

struct FeatureSpec {
  std::string name;
  DType dtype = DType::kInvalid;    // kFloat, kInt64 or kString
  std::vector<int64_t> shape;       // of one example; a first dimension of -1: padded to the longest
  std::optional<Tensor> by_default;  // for examples without the feature; none: they are an error
  // For one string feature of a fixed number of bytes: its bytes as elements of this type (uint8, …)
  // and of "shape".
  DType decode_raw = DType::kInvalid;
};
using ExampleSpec = std::vector<FeatureSpec>;

}  // namespace sextant::data
