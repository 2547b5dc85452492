#include "sextant/models/census_input.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/data/census.h"
#include "sextant/models/census_columns.h"

namespace sextant::models {
namespace {

data::Element WithClasses(data::Element batch) {
  const Tensor words = batch[kCensusLabel];
  Tensor classes(DType::kInt32, words.shape());
  const std::vector<std::string>& known = CensusClasses();
  for (int64_t i = 0; i < words.num_elements(); ++i) {
    const std::string& word = words.flat<std::string>()[i];
    const auto found = std::find(known.begin(), known.end(), word);
    if (found == known.end()) {
      throw InvalidArgument("label '{}' in column {} is neither '{}' nor '{}'", word, kCensusLabel,
                            known[0], known[1]);
    }
    classes.data<int32_t>()[i] = static_cast<int32_t>(found - known.begin());
  }
  batch.Set(kCensusLabel, std::move(classes));
  return batch;
}

}  // namespace

data::CsvFileOptions CensusRowOptions() {
  data::CsvFileOptions options{.columns = data::CensusColumns()};
  for (const data::CsvColumn& column : CensusRequestColumns()) {
    options.select.push_back(column.name);
  }
  options.select.push_back(kCensusLabel);
  return options;
}

Input CensusInput(const data::Dataset& batches) {
  data::ElementSpec spec = batches.Spec();
  for (data::FieldSpec& field : spec) {
    if (field.name == kCensusLabel) field.dtype = DType::kInt32;
  }
  return {batches.Map(WithClasses, {.spec = std::move(spec)}).Prefetch(), {kCensusLabel}};
}

}  // namespace sextant::models
