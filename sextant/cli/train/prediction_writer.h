// Predictions as text: a table, lines of JSON, or CSV.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/runtime/saved_model.h"

namespace sextant::cli {

enum class PredictionFormat { kTable, kJson, kCsv };
// "table", "json" or "csv". Throws INVALID_ARGUMENT for others.
PredictionFormat PredictionFormatByName(const std::string& name);

// Used by one thread at a time.
class PredictionWriter {
 public:
  // `keys`: the outputs wanted, in this order; none: all, sorted. Text goes to `sink`.
  PredictionWriter(PredictionFormat format, std::vector<std::string> keys,
                   std::function<void(std::string_view)> sink);

  // The outputs of `count` instances. Outputs that have not one row for each are left out; asked
  // for by key, they are an INVALID_ARGUMENT, as are keys that are not there.
  void Write(const NamedTensors& outputs, int64_t count);

 private:
  void Begin(const NamedTensors& outputs, int64_t count);

  const PredictionFormat format_;
  std::vector<std::string> keys_;
  const std::function<void(std::string_view)> sink_;
  bool begun_ = false;
  std::vector<size_t> widths_;  // of the table's columns
};

}  // namespace sextant::cli
