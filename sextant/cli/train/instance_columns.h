// Values of instances collected by input, with defaults for those that are missing.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sextant/formats/csv.h"
#include "sextant/runtime/saved_model.h"

namespace sextant::cli {

using DefaultTexts = std::map<std::string, std::string>;  // by input or column

// The inputs of one batch.
class InstanceColumns {
 public:
  InstanceColumns(const Signature& signature, const DefaultTexts& defaults)
      : signature_(signature), defaults_(defaults) {}

  void Add(const std::string& key, nlohmann::json value);
  // An instance without a value for the input takes the default (instance_value.h). Throws
  // INVALID_ARGUMENT, naming the place, where there is none.
  void AddMissing(const std::string& key, const SignatureTensor& input, const std::string& place);
  // [batch, ...] for every input. One that no instance has a value for is left out.
  NamedTensors Tensors(const std::vector<std::string>& places) const;

 private:
  const Signature& signature_;
  const DefaultTexts& defaults_;
  std::map<std::string, std::vector<nlohmann::json>> values_;
};

// Puts defaults in the place of empty fields of lines of CSV.
class CsvDefaultFiller {
 public:
  // Throws INVALID_ARGUMENT for a default of a column that there is not.
  CsvDefaultFiller(std::vector<std::string> columns, DefaultTexts defaults);
  std::string Fill(const std::string& line, const std::string& place);

 private:
  const std::vector<std::string> columns_;
  const DefaultTexts defaults_;
  CsvSplitter splitter_{{}};
};

}  // namespace sextant::cli
