#include "tests/conformance/file_cases.h"

#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "tests/conformance/json_values.h"

namespace sextant::conformance {
namespace {

using nlohmann::json;

Counts RunKind(const std::string& directory, const std::string& index_path) {
  const json index = ReadJson(index_path);
  if (index.contains("files") && index.contains("corrupted")) return RunTFRecordFiles(directory);
  if (index.contains("tensors")) return RunCheckpointFiles(directory);
  if (!index.is_object() || index.empty()) {
    throw InvalidArgument("{} is not an index of recorded files", index_path);
  }
  const std::string name = index.begin().key();
  const json& first = index.begin().value();
  if (first.is_array() && name.find("tfevents") != std::string::npos) {
    return RunEventFiles(directory);
  }
  if (first.is_object() && first.contains("tensors")) return RunCheckpointFiles(directory);
  throw InvalidArgument("{} is an index of an unknown kind; its first entry is '{}'", index_path,
                        name);
}

}  // namespace

Counts RunFileCases(const std::string& directory) {
  FileSystem& fs = FileSystem::ForPath(directory);
  const std::string own_index = JoinPath(directory, "index.json");
  if (fs.Exists(own_index)) return RunKind(directory, own_index);
  Counts total;
  bool found = false;
  for (const std::string& name : fs.ListDirectory(directory)) {
    const std::string below = JoinPath(directory, name);
    const std::string index = JoinPath(below, "index.json");
    if (!fs.Stat(below).is_directory || !fs.Exists(index)) continue;
    found = true;
    total += RunKind(below, index);
  }
  if (!found) throw NotFound("{}: no index.json there or in the directories below", directory);
  return total;
}

}  // namespace sextant::conformance
