// ParseExample, ParseExampleV2, ParseSingleExample: serialized tf.train.Examples as tensors.
#pragma once

#include "sextant/ops/parsing/parsed_features.h"

namespace sextant {

// The features of a vector of serialized Examples, with the number of examples as first size:
// dense tensors [n] + shape, sparse matrices [n, most values]; of a scalar, those of the one
// example, without that size. An example that lacks a required feature, or has it in another type
// or number, is an error.
ParsedFeatures ParseExample(Output serialized, const FeatureSpecs& features);
// The same of one serialized Example; there are no ragged features.
ParsedFeatures ParseSingleExample(Output serialized, const FeatureSpecs& features);

}  // namespace sextant
