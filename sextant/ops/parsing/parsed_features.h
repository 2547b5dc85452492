// Requested features and results of the parsing ops.
#pragma once

#include <string>
#include <vector>

#include "sextant/graph/output.h"
#include "sextant/ops/sparse/sparse_tensor.h"

namespace sextant {

// Values of this shape (Shape() is a scalar's) in every example. The first size may be unknown:
// then examples have different numbers of rows, and in a batch the shorter ones are padded with the
// default.
struct DenseFeature {
  std::string key;
  PartialShape shape;
  // Stands for a missing feature and gives the type: float, int64 or string. Of the shape above, or
  // a vector without elements when the feature may not be missing; the padding, of one element,
  // where the first size is unknown.
  Output default_value;
};
// Any number of values in each example.
struct SparseFeature {
  std::string key;
  DType dtype;
};
struct RaggedFeature {
  std::string key;
  DType dtype;
  DType split_type = DType::kInt64;  // or kInt32
};
struct FeatureSpecs {
  std::vector<SparseFeature> sparse;
  std::vector<DenseFeature> dense;
  std::vector<RaggedFeature> ragged;
};

// The keys of features of one kind, in order.
template <typename Features>
std::vector<std::string> KeysOf(const Features& features) {
  std::vector<std::string> keys;
  for (const auto& feature : features) keys.push_back(feature.key);
  return keys;
}

// The values of all rows in turn; row i has values[row_splits[i]] to values[row_splits[i + 1] - 1].
struct RaggedTensor {
  Output values;
  Output row_splits;
};
// In the order of the FeatureSpecs.
struct ParsedFeatures {
  std::vector<SparseTensor> sparse;
  std::vector<Output> dense;
  std::vector<RaggedTensor> ragged;
};

}  // namespace sextant
