// What an input function gives: batches for a training, an evaluation or a prediction.
//
//   InputFn train = [] { return data::Mnist("train").Shuffle(10000).Repeat().Batch(128); };
//   InputFn census = [] { return Input(data::Census("train").Batch(40), {"income_bracket"}); };
//
// Fields of the Dataset's elements are features by their names, apart from the labels.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/data/dataset.h"
#include "sextant/nn/features.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API Input {
 public:
  using Tensors = std::pair<Features, Features>;  // features, labels

  // Fields named in "labels" that the elements do not have are left out.
  Input(data::Dataset dataset, std::vector<std::string> labels = {"label"})  // NOLINT: as a Dataset
      : dataset_(std::move(dataset)), labels_(std::move(labels)) {}
  // From nodes: the function builds in the graph of the model, e.g. queues and readers
  // (train/input.h), whose threads are started and stopped. Such input begins anew when a training
  // is resumed.
  explicit Input(std::function<Tensors()> build) : build_(std::move(build)) {}

  const data::Dataset& dataset() const { return dataset_; }
  const std::vector<std::string>& labels() const { return labels_; }
  const std::function<Tensors()>& build() const { return build_; }

 private:
  data::Dataset dataset_;
  std::vector<std::string> labels_;
  std::function<Tensors()> build_;
};

using InputFn = std::function<Input()>;

}  // namespace sextant

#pragma GCC visibility pop
