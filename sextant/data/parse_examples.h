// ExampleParser: features of serialized tf.train.Examples straight to where their values belong.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/data/element.h"
#include "sextant/data/example_spec.h"
#include "sextant/data/row_batch.h"
#include "sextant/formats/dense_spec.h"
#include "sextant/formats/example_index.h"

namespace sextant::data {

// Immutable and thread-safe. What parses throws INVALID_ARGUMENT, naming the feature, when a record
// is not an Example or a feature is missing, of another kind or of another number of values.
class ExampleParser {
 public:
  // Throws INVALID_ARGUMENT when the spec contradicts itself.
  explicit ExampleParser(const ExampleSpec& spec);

  // The features of one example, in the order of the spec; sizes that differ between examples are
  // unknown.
  const ElementSpec& spec() const { return element_spec_; }
  // The same when all shapes are known, and ParseRow may be called; else none.
  const std::vector<RowField>& row_fields() const { return row_fields_; }

  // outs[f] is where the values of feature f go.
  void ParseRow(std::string_view record, std::span<void* const> outs) const;
  // One record, or a tensor of them: the shapes of the features then follow its shape.
  void Parse(const Tensor& records, Element* element) const;
  // "image: string of uint8[3,32,32], label: int64[]"
  std::string Describe() const;

 private:
  struct Feature {
    FeatureSpec spec;
    DenseSpec dense;
    DType dtype;  // of the tensor
  };
  struct Scratch;

  static Feature Checked(const FeatureSpec& spec);
  void ParseOne(std::string_view record, Element* element) const;
  // Finds the features of a record; found is where those of the first feature go.
  void Scan(std::string_view record, JoinedBytes& joined, std::span<WireFeature> found,
            std::span<int64_t> counts) const;
  // The number of values of feature f, checked.
  int64_t Count(int f, const WireFeature& found) const;
  void Fill(int f, const WireFeature& found, int64_t count, void* out) const;

  std::vector<Feature> features_;
  FeatureTable table_;
  ElementSpec element_spec_;
  std::vector<RowField> row_fields_;
};

}  // namespace sextant::data
