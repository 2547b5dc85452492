// Instances to predict, read from a file in batches: rows of CSV, lines of JSON or serialized
// Examples, as the inputs of a signature.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sextant/runtime/saved_model.h"

namespace sextant::cli {

enum class InstanceFormat { kCsv, kJson, kExamples };
// "csv", "json", "example". Throws INVALID_ARGUMENT for others.
InstanceFormat InstanceFormatByName(const std::string& name);
// By the ending (.csv; .json, .jsonl, .ndjson) or the content (TFRecord files). Throws
// INVALID_ARGUMENT, asking for --format, when neither tells.
InstanceFormat FormatOfFile(const std::string& path);

struct InstanceOptions {
  InstanceFormat format = InstanceFormat::kCsv;
  int64_t batch = 128;
  bool header = false;  // CSV: the first line names the columns
  // CSV of a model that takes columns by name: their names in order, where there is no header.
  std::vector<std::string> columns = {};
  // What an empty field of CSV, or a key that a JSON object lacks, stands for: by column or key.
  // Without one, the default that the signature itself has.
  std::map<std::string, std::string> defaults = {};
};
// "age=0" as such a default. Throws INVALID_ARGUMENT.
void AddDefault(const std::string& text, InstanceOptions* options);

// Used by one thread at a time. Errors name the file and the line or record.
class InstanceReader {
 public:
  virtual ~InstanceReader() = default;
  // The next batch by input key; its number of instances, 0 at the end.
  virtual int64_t Next(NamedTensors* inputs) = 0;
};

// Throws NOT_FOUND when the file is not there, INVALID_ARGUMENT when the signature cannot be asked
// in this format; the message says how to export the model so that it can.
std::unique_ptr<InstanceReader> OpenInstances(const std::string& path, const Signature& signature,
                                              const InstanceOptions& options);

}  // namespace sextant::cli
