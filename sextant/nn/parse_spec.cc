#include "sextant/nn/parse_spec.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/parsing/example_parsing.h"

namespace sextant {

void AddParseFeature(ParseSpec& spec, ParseFeature feature) {
  for (const ParseFeature& old : spec) {
    if (old.key != feature.key) continue;
    if (old == feature) return;
    throw InvalidArgument("two columns parse feature '{}' in different ways", feature.key);
  }
  spec.push_back(std::move(feature));
}

Features ParseExamples(Output serialized, const ParseSpec& spec) {
  const NameScope scope("ParseExample");
  ParseSpec sorted = spec;
  std::sort(sorted.begin(), sorted.end(),
            [](const ParseFeature& a, const ParseFeature& b) { return a.key < b.key; });
  FeatureSpecs specs;
  for (const ParseFeature& feature : sorted) {
    if (feature.sparse) {
      specs.sparse.push_back({feature.key, feature.dtype});
      continue;
    }
    const Shape shape(feature.shape);
    Tensor otherwise(feature.dtype, Shape{0});
    if (feature.default_value) {
      otherwise = feature.default_value->num_elements() == shape.num_elements()
                      ? feature.default_value->Reshaped(shape)
                      : *feature.default_value;
    }
    specs.dense.push_back({feature.key, PartialShape(shape), Const(otherwise)});
  }
  const ParsedFeatures parsed = ParseExample(serialized, specs);
  Features features;
  for (size_t i = 0; i < specs.sparse.size(); ++i)
    features.Set(specs.sparse[i].key, parsed.sparse[i]);
  for (size_t i = 0; i < specs.dense.size(); ++i) features.Set(specs.dense[i].key, parsed.dense[i]);
  return features;
}

}  // namespace sextant
