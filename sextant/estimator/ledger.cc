// Why a file of its own: checkpoints say where the model is, but not what has been done with it. A
// training that is killed between two effects (an evaluation's events, an export) must, when it is
// run again, do the one that is missing and not repeat the other. The ledger records effects:
//
//   evaluations   after their events are flushed: one that is not there is made again
//   exports       before they are put in place: one that is noted and not there is made again, in
//                 the directory that was noted
//   notes         texts of exporters, e.g. the metrics of the best evaluation so far
//   done          the step at which the training ended
//
// Invariant: the file is replaced atomically (temporary file, sync, rename) by every change, so a
// reader, also in another process, sees a state that was true at some moment. A training that goes
// on from an earlier checkpoint first forgets what the ledger says of later steps (ForgetAfter).
//
// Example: killed after the evaluation of step 20 was noted and before its export. The next process
// restores checkpoint 20, finds the evaluation, takes its metrics from here and only exports.
#include "sextant/estimator/ledger.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;

std::atomic<int64_t> changes_of_process{0};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Json NumberJson(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

double NumberOf(const Json& json) {
  if (json == "Infinity") return kInfinity;
  if (json == "-Infinity") return -kInfinity;
  if (json == "NaN" || json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  return json.get<double>();
}

Json MetricsJson(const std::map<std::string, double>& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics) json[name] = NumberJson(value);
  return json;
}

std::map<std::string, double> MetricsOf(const Json& json) {
  std::map<std::string, double> metrics;
  for (const auto& [name, value] : json.items()) metrics[name] = NumberOf(value);
  return metrics;
}

}  // namespace

std::string MetricsText(const std::map<std::string, double>& metrics) {
  return MetricsJson(metrics).dump();
}

std::map<std::string, double> ParseMetrics(const std::string& text) try {
  return MetricsOf(Json::parse(text));
} catch (const Json::exception& e) {
  throw DataLoss("'{}' are no metrics: {}", text, e.what());
}

std::string Ledger::PathIn(const std::string& model_dir) {
  return model_dir + "/sextant_ledger.json";
}
int64_t Ledger::changes() { return changes_of_process.load(); }

Ledger::Ledger(std::string model_dir) : model_dir_(std::move(model_dir)) {
  const std::string path = PathIn(model_dir_);
  FileSystem& files = FileSystem::ForPath(path);
  if (!files.Exists(path)) return;
  try {
    const Json json = Json::parse(files.ReadFile(path));
    if (json.at("version").get<int>() != kVersion) {
      throw FailedPrecondition("{} is of another version of Sextant; delete it to begin anew",
                               path);
    }
    for (const Json& entry : json.at("evaluations")) {
      evaluations_.push_back(
          {entry.at("name"), entry.at("step"), entry.at("time"), MetricsOf(entry.at("metrics"))});
    }
    for (const Json& entry : json.at("exports")) {
      exports_.push_back({entry.at("exporter"), entry.at("step"), entry.at("path")});
    }
    notes_ = json.at("notes").get<std::map<std::string, std::string>>();
    if (!json.at("done").is_null()) done_ = json.at("done").get<int64_t>();
  } catch (const Json::exception& e) {
    throw DataLoss("{} is not a ledger of a model_dir ({}); delete it to begin without its history",
                   path, e.what());
  }
}

const Ledger::Evaluation* Ledger::FindEvaluation(const std::string& name, int64_t step) const {
  for (const Evaluation& evaluation : evaluations_) {
    if (evaluation.name == name && evaluation.step == step) return &evaluation;
  }
  return nullptr;
}

void Ledger::AddEvaluation(Evaluation evaluation) {
  std::erase_if(evaluations_, [&](const Evaluation& other) {
    return other.name == evaluation.name && other.step >= evaluation.step;
  });
  evaluations_.push_back(std::move(evaluation));
  Write();
}

const Ledger::Export* Ledger::FindExport(const std::string& exporter, int64_t step) const {
  for (const Export& entry : exports_) {
    if (entry.exporter == exporter && entry.step == step) return &entry;
  }
  return nullptr;
}

void Ledger::AddExport(Export entry) {
  std::erase_if(exports_, [&](const Export& other) {
    return other.exporter == entry.exporter && other.step >= entry.step;
  });
  exports_.push_back(std::move(entry));
  Write();
}

void Ledger::RemoveExport(const std::string& path) {
  if (std::erase_if(exports_, [&](const Export& entry) { return entry.path == path; }) > 0) Write();
}

void Ledger::ForgetAfter(int64_t step) {
  const auto later = [step](const auto& entry) { return entry.step > step; };
  if (std::erase_if(evaluations_, later) + std::erase_if(exports_, later) > 0) Write();
}

std::optional<std::string> Ledger::Note(const std::string& key) const {
  const auto it = notes_.find(key);
  if (it == notes_.end()) return std::nullopt;
  return it->second;
}

void Ledger::SetNote(const std::string& key, std::string value) {
  notes_[key] = std::move(value);
  Write();
}

void Ledger::SetDone(std::optional<int64_t> step) {
  if (done_ == step) return;
  done_ = step;
  Write();
}

void Ledger::Write() const {
  Json json = {{"version", kVersion}, {"evaluations", Json::array()}, {"exports", Json::array()}};
  for (const Evaluation& evaluation : evaluations_) {
    json["evaluations"].push_back({{"name", evaluation.name},
                                   {"step", evaluation.step},
                                   {"time", evaluation.time},
                                   {"metrics", MetricsJson(evaluation.metrics)}});
  }
  for (const Export& entry : exports_) {
    json["exports"].push_back(
        {{"exporter", entry.exporter}, {"step", entry.step}, {"path", entry.path}});
  }
  json["notes"] = notes_;
  json["done"] = done_ ? Json(*done_) : Json(nullptr);
  const std::string path = PathIn(model_dir_);
  FileSystem::ForPath(path).WriteFileAtomically(path, json.dump(1) + "\n");
  changes_of_process.fetch_add(1);
}

}  // namespace sextant
