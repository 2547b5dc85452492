// ParseSequenceExample, ParseSingleSequenceExample: serialized tf.train.SequenceExamples as
// tensors.
#pragma once

#include <string>
#include <vector>

#include "sextant/ops/parsing/parsed_features.h"

namespace sextant {

// A list of features with values of this shape, its rows in the output.
struct DenseListFeature {
  std::string key;
  PartialShape shape;
  DType dtype;
  bool may_miss = false;  // a missing list counts as empty; else it is an error
};
struct SequenceSpecs {
  FeatureSpecs context;
  std::vector<SparseFeature> sparse_lists;
  std::vector<DenseListFeature> dense_lists;
  std::vector<RaggedFeature> ragged_lists;
};

// A list of rows of any length in each example: example i has the rows outer_splits[i] to
// outer_splits[i + 1] - 1, row k the values inner_splits[k] to inner_splits[k + 1] - 1.
struct RaggedRows {
  Output values;
  Output outer_splits;
  Output inner_splits;
};
// In the order of the SequenceSpecs.
struct ParsedSequences {
  ParsedFeatures context;
  std::vector<SparseTensor> sparse_lists;  // [examples, rows, values]
  std::vector<Output> dense_lists;         // [examples, rows] + shape, padded with zeros
  std::vector<Output> dense_lengths;       // rows of each example; none from the single op
  std::vector<RaggedRows> ragged_lists;
};

// Of a vector of serialized SequenceExamples, or of one, without the first dimension.
ParsedSequences ParseSequenceExample(Output serialized, const SequenceSpecs& specs);
// Of one, given as a scalar; without ragged features and lists.
ParsedSequences ParseSingleSequenceExample(Output serialized, const SequenceSpecs& specs);

}  // namespace sextant
