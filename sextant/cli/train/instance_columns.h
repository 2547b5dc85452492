// Fields of text as values of inputs, with defaults for those that are missing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sextant/formats/csv.h"
#include "sextant/formats/json_request.h"
#include "sextant/runtime/saved_model.h"

namespace sextant::cli {

using DefaultTexts = std::map<std::string, std::string>;  // by input or column

// What a signature takes, sorted by name.
std::vector<JsonInput> JsonInputsOf(const Signature& signature);

// A field of CSV as a value of the input. Throws INVALID_ARGUMENT, naming the place.
void AppendField(const std::string& key, const SignatureTensor& input, const std::string& field,
                 const std::string& place, JsonTensorBuilder* builder);
// The default of the input, given by the user or by the model itself, as its value. False when it
// has none and needs none. Throws INVALID_ARGUMENT when it has none.
bool AppendDefault(const std::string& key, const SignatureTensor& input,
                   const DefaultTexts& defaults, JsonTensorBuilder* builder);

// The inputs of one batch, from fields of CSV.
class InstanceColumns {
 public:
  InstanceColumns(const Signature& signature, const DefaultTexts& defaults);

  // REQUIRES: the signature has the input.
  void Add(const std::string& key, const std::string& field, const std::string& place);
  // [batch, ...] for every input. One that no instance has a value for is left out.
  NamedTensors Take(const std::vector<std::string>& places);

 private:
  const Signature& signature_;
  const DefaultTexts& defaults_;
  std::map<std::string, JsonTensorBuilder> builders_;
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
