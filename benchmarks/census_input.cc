#include "benchmarks/census_input.h"

#include "sextant/data/census.h"
#include "sextant/data/sources.h"
#include "sextant/models/census_columns.h"

namespace sextant::bench {
namespace {

// 1 where the label is the second class.
data::Element WithLabels(data::Element batch) {
  const Tensor words = batch[models::kCensusLabel];
  Tensor labels(DType::kInt64, words.shape());
  const std::string& second = models::CensusClasses()[1];
  for (int64_t i = 0; i < words.num_elements(); ++i) {
    labels.data<int64_t>()[i] = words.flat<std::string>()[i] == second;
  }
  batch.Set(models::kCensusLabel, std::move(labels));
  return batch;
}

}  // namespace

Input CensusInput(const std::string& path, int64_t batch, bool shuffle, const std::string& style) {
  data::CsvFileOptions options{.columns = data::CensusColumns()};
  for (const data::CsvColumn& column : options.columns) {
    if (column.name != "fnlwgt") options.select.push_back(column.name);
  }
  data::Dataset rows;
  if (style == "line") {
    rows = data::Csv({path}, options);
    if (shuffle) rows = rows.Shuffle(10 * batch);
    rows = rows.Repeat();
  } else {
    rows = data::TextLines({path});
    if (shuffle) rows = rows.Shuffle(10 * batch);
    rows = data::ParseCsv(rows.Repeat(), options);
  }
  return {rows.Batch(batch).Map(WithLabels).Prefetch(), {models::kCensusLabel}};
}

}  // namespace sextant::bench
