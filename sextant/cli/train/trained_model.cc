#include "sextant/cli/train/trained_model.h"

#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/checkpoint_state.h"

namespace sextant::cli {
namespace {

using Json = nlohmann::json;

std::string NotePath(const std::string& model_dir) {
  return JoinPath(model_dir, "sextant_model.json");
}

// Null when there is none. `advice` is what to do about one that is damaged.
Json ReadNote(const std::string& model_dir, const std::string& advice) {
  const std::string path = NotePath(model_dir);
  FileSystem& files = FileSystem::ForPath(path);
  if (!files.Exists(path)) return nullptr;
  Json note = Json::parse(files.ReadFile(path), nullptr, /*allow_exceptions=*/false);
  if (!note.is_object() || !note.value("model", Json()).is_string() ||
      !note.value("params", Json()).is_object()) {
    throw DataLoss("{} does not say which model this is; {}", path, advice);
  }
  return note;
}

// A training that failed before its first checkpoint binds nobody.
Json NoteOfTraining(const std::string& model_dir) {
  if (!LatestCheckpoint(model_dir)) return nullptr;
  return ReadNote(model_dir,
                  "delete it to go on with the model and the parameters of this command, or choose "
                  "another --model_dir");
}

// Those of the note that the model still has.
void TakeParams(const Json& note, HParams& params) {
  Json known = Json::object();
  for (const auto& [name, value] : note["params"].items()) {
    if (params.Has(name)) known[name] = value;
  }
  params.ParseJson(known.dump());
}

Json MakeNote(const TrainedModel& trained) {
  Json note = {{"model", trained.model->name}, {"params", Json::parse(trained.params.ToJson())}};
  if (trained.seed) note["seed"] = *trained.seed;
  return note;
}

void CheckNote(const Json& old, const Json& note, const std::string& model_dir) {
  if (old.is_null()) return;
  if (old["model"] != note["model"]) {
    throw FailedPrecondition(
        "{} holds model '{}', not '{}'; choose another --model_dir, or delete it to begin anew",
        model_dir, old["model"].get<std::string>(), note["model"].get<std::string>());
  }
  if (old.value("seed", Json()) != note.value("seed", Json())) {
    throw FailedPrecondition(
        "the training in {} has {}; leave --seed out to go on with it, or choose another "
        "--model_dir",
        model_dir, old.contains("seed") ? "seed " + old["seed"].dump() : "no seed");
  }
}

class NoteHook : public train::Hook {
 public:
  NoteHook(std::string model_dir, TrainedModel trained)
      : model_dir_(std::move(model_dir)), trained_(std::move(trained)) {}
  void AfterCreateSession(Session&) override {
    const Json old = NoteOfTraining(model_dir_), note = MakeNote(trained_);
    CheckNote(old, note, model_dir_);
    if (note == old) return;
    const std::string path = NotePath(model_dir_);
    FileSystem::ForPath(path).WriteFileAtomically(path, note.dump(1) + "\n");
  }

 private:
  const std::string model_dir_;
  const TrainedModel trained_;
};

}  // namespace

std::optional<int64_t> SeedOfTraining(const std::string& model_dir) {
  const Json note = NoteOfTraining(model_dir);
  if (note.is_null() || !note.value("seed", Json()).is_number_integer()) return std::nullopt;
  return note["seed"].get<int64_t>();
}

void CheckTrainedModel(const std::string& model_dir, const TrainedModel& trained) {
  CheckNote(NoteOfTraining(model_dir), MakeNote(trained), model_dir);
}

train::HookRef NoteTrainedModel(std::string model_dir, TrainedModel trained) {
  return std::make_shared<NoteHook>(std::move(model_dir), std::move(trained));
}

TrainedModel ReadTrainedModel(const std::string& model_dir, const std::string& name,
                              const std::string& hparams) {
  if (!FileSystem::ForPath(model_dir).Exists(model_dir)) {
    throw NotFound("there is no model_dir {}; `sextant train` makes one", model_dir);
  }
  const Json note = ReadNote(model_dir, "name it with --model_name");
  if (note.is_null() && name.empty() && !LatestCheckpoint(model_dir)) {
    throw FailedPrecondition("{} holds no checkpoint; train a model there first", model_dir);
  }
  if (note.is_null() && name.empty()) {
    throw FailedPrecondition(
        "{} does not say which model it holds; name it with --model_name, and parameters that "
        "differ from the defaults with --hparams",
        model_dir);
  }
  const std::string model_name = name.empty() ? note["model"].get<std::string>() : name;
  TrainedModel trained{.model = &models::FindModel(model_name)};
  trained.params = models::DefaultParams(*trained.model);
  if (!note.is_null() && note["model"] == model_name) TakeParams(note, trained.params);
  trained.params.Parse(hparams);
  models::CheckParams(*trained.model, trained.params);
  return trained;
}

void SetParam(HParams& params, const std::string& name, const std::string& text) {
  const HParams::Value& value = params.values().find(name)->second;
  if (std::holds_alternative<std::string>(value)) {
    params.Set(name, text);
  } else if (value.index() > 3) {  // lists
    params.Parse(name + "=[" + text + "]");
  } else {
    params.Parse(name + "=" + text);
  }
}

}  // namespace sextant::cli
