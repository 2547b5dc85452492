// For tests: elements as text, and pipelines of every transformation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sextant/data/dataset.h"

namespace sextant::data {

// "x=[[1] [2]] y=3": every field with its values; type and shape are part of it.
std::string Text(const Element& element);

// The next element as text, "error: ..." or "end".
std::string NextText(Iterator& iterator);
// All that follow, errors included, up to `limit`.
std::vector<std::string> Rest(Iterator& iterator, int limit = 1000);
std::vector<std::string> ElementTexts(const Dataset& dataset, int limit = 1000);

// The int64 values of a field of every element, one after another.
std::vector<int64_t> Values(const Dataset& dataset, const std::string& field = "value");

struct Pipeline {
  std::string name;
  std::function<Dataset()> make;
  bool ordered = true;
};
// Finite ones with each transformation in each of its forms. Files go to `folder`.
std::vector<Pipeline> AllPipelines(const std::string& folder);
// The number-th composition of random transformations.
Pipeline RandomPipeline(int number);

}  // namespace sextant::data
