#include "sextant/estimator/restart_count.h"

#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/exit_code.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"

namespace sextant {
namespace {

using CountJson = nlohmann::json;

// A file that cannot be read counts from anew: it decides only when to give up.
int CountStart(const std::string& path, const std::string& newest) {
  FileSystem& files = FileSystem::ForPath(path);
  if (!files.Exists(path)) return 0;
  const CountJson json =
      CountJson::parse(files.ReadFile(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("checkpoint", CountJson()) != CountJson(newest)) return 1;
  const CountJson restarts = json.value("restarts", CountJson());
  return restarts.is_number_integer() ? restarts.get<int>() + 1 : 1;
}

}  // namespace

RestartCount::RestartCount(const std::string& model_dir, const std::string& newest)
    : path_(JoinPath(model_dir, "sextant_restarts.json")), newest_(newest) {
  restarts_ = CountStart(path_, newest_);
  if (restarts_ > kRestartsInVain) {
    NoteExitCode(kExitNoProgress);
    throw FailedPrecondition(
        "this training was started again {} times and has saved no checkpoint since {}: the log of "
        "an earlier start says what ended it. Delete {} to try again",
        kRestartsInVain, newest_.empty() ? "it began" : newest_, path_);
  }
  Write(restarts_);
}

void RestartCount::TakeBack() { Write(restarts_ - 1); }

// A disk that is full keeps nobody from training.
void RestartCount::Write(int restarts) const {
  try {
    FileSystem& files = FileSystem::ForPath(path_);
    files.CreateDirectories(path_.substr(0, path_.rfind('/')));
    files.WriteFileAtomically(
        path_, CountJson{{"checkpoint", newest_}, {"restarts", restarts}}.dump() + "\n");
  } catch (const Error& e) {
    LogWarning("the starts of this training cannot be counted: {}", e.message());
  }
}

}  // namespace sextant
