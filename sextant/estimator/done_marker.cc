#include "sextant/estimator/done_marker.h"

#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant {
namespace {

using MarkerJson = nlohmann::json;

std::string DonePath(const std::string& model_dir) { return JoinPath(model_dir, "DONE"); }

}  // namespace

void WriteDoneMarker(const std::string& model_dir, const DoneMarker& marker) {
  const MarkerJson json = {
      {"step", marker.step},
      {"max_steps", marker.max_steps ? MarkerJson(*marker.max_steps) : MarkerJson(nullptr)},
      {"reason", marker.reason}};
  const std::string path = DonePath(model_dir);
  FileSystem::ForPath(path).WriteFileAtomically(path, json.dump() + "\n");
}

std::optional<DoneMarker> ReadDoneMarker(const std::string& model_dir) {
  const std::string path = DonePath(model_dir);
  FileSystem& files = FileSystem::ForPath(path);
  if (!files.Exists(path)) return std::nullopt;
  try {
    const MarkerJson json = MarkerJson::parse(files.ReadFile(path));
    DoneMarker marker{.step = json.at("step").get<int64_t>(), .reason = json.at("reason")};
    if (!json.at("max_steps").is_null()) marker.max_steps = json.at("max_steps").get<int64_t>();
    return marker;
  } catch (const MarkerJson::exception& e) {
    throw DataLoss("{} does not say where a training ended ({}); delete it to train on", path,
                   e.what());
  } catch (const Error& e) {
    if (e.code() == Code::kNotFound) return std::nullopt;  // removed in between
    throw;
  }
}

void RemoveDoneMarker(const std::string& model_dir) {
  const std::string path = DonePath(model_dir);
  FileSystem& files = FileSystem::ForPath(path);
  if (files.Exists(path)) files.Delete(path);
}

bool IsDone(const std::string& model_dir, std::optional<int64_t> max_steps) {
  const auto marker = ReadDoneMarker(model_dir);
  if (!marker) return false;
  if (!max_steps) return true;
  return *max_steps <= std::max(marker->step, marker->max_steps.value_or(0));
}

}  // namespace sextant
