#include "census/model.h"

namespace sx = sextant;

namespace census {

sx::Estimator BuildEstimator(const sx::RunConfig& config, int64_t embedding_size,
                             std::vector<int64_t> hidden_units) {
  const sx::models::CensusFeatureColumns columns = sx::models::CensusFeatures(embedding_size);
  return sx::DNNLinearCombinedClassifier(
      {.linear_feature_columns = columns.wide,
       .dnn_feature_columns = columns.deep,
       .dnn_hidden_units = std::move(hidden_units),
       .prediction_style = sx::heads::PredictionStyle::kTensorFlow14},
      config);
}

sx::Input InputFn(const std::vector<std::string>& filenames, const InputOptions& options) {
  sx::data::Dataset lines = sx::data::TextLines(filenames).Skip(options.skip_header_lines);
  if (options.shuffle) {
    const int64_t ten_batches = 10 * options.batch_size;
    lines = lines.Shuffle(options.shuffle_buffer > 0 ? options.shuffle_buffer : ten_batches,
                          {.seed = options.seed});
  }
  // Lines are parsed last, straight into batches: a line is a tenth of the size of its tensors.
  lines = lines.Repeat(options.num_epochs.value_or(-1));
  const sx::data::Dataset rows = sx::data::ParseCsv(lines, sx::models::CensusRowOptions());
  return sx::models::CensusInput(rows.Batch(options.batch_size));
}

sx::ServingInputFn ServingInput(const std::string& format) {
  if (format == "CSV") return sx::CsvReceiver(sx::data::CensusColumns());
  if (format == "JSON") return sx::JsonReceiver(sx::models::CensusRequestColumns());
  sx::models::CensusFeatureColumns columns = sx::models::CensusFeatures();
  columns.wide.insert(columns.wide.end(), columns.deep.begin(), columns.deep.end());
  return sx::ParsingReceiver(sx::columns::MakeParseExampleSpec(columns.wide), "example_proto");
}

}  // namespace census
