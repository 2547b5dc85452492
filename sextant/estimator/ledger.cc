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
// Invariant: a file is replaced atomically (temporary file, sync, rename) by every change, so a
// reader, also in another process, sees a state that was true at some moment. Each file has one
// writer, so that none loses what another one has written; a reader joins them. A training that
// goes on from an earlier checkpoint first forgets what the ledger says of later steps
// (ForgetAfter). It cannot remove what is in the files of others: it numbers its returns, entries
// say how many their writer had read of, and those of later steps that do not know of a return do
// not count.
//
// Example: killed after the evaluation of step 20 was noted and before its export. The next process
// restores checkpoint 20, finds the evaluation, takes its metrics from here and only exports.
#include "sextant/estimator/ledger.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;

std::atomic<int64_t> changes_of_process{0};

constexpr const char* kPrefix = "sextant_ledger";
constexpr const char* kSuffix = ".json";

double LedgerSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Of the files in a directory, "" first.
std::vector<std::string> WritersIn(FileSystem& files, const std::string& model_dir) {
  std::vector<std::string> writers;
  if (!files.Exists(model_dir)) return writers;
  for (const std::string& name : files.ListDirectory(model_dir)) {
    std::string_view rest = name;
    if (!rest.starts_with(kPrefix) || !rest.ends_with(kSuffix)) continue;
    rest = rest.substr(std::strlen(kPrefix),
                       rest.size() - std::strlen(kPrefix) - std::strlen(kSuffix));
    if (!rest.empty() && !rest.starts_with('.')) continue;
    writers.emplace_back(rest.empty() ? rest : rest.substr(1));
  }
  std::sort(writers.begin(), writers.end());
  return writers;
}

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

std::string Ledger::PathIn(const std::string& model_dir, const std::string& writer) {
  return JoinPath(model_dir, kPrefix + (writer.empty() ? "" : "." + writer) + kSuffix);
}
int64_t Ledger::changes() { return changes_of_process.load(); }

std::string Ledger::FilesText(const std::string& model_dir) {
  std::string text;
  FileSystem& files = FileSystem::ForPath(model_dir);
  for (const std::string& writer : WritersIn(files, model_dir)) {
    try {
      const FileInfo info = files.Stat(PathIn(model_dir, writer));
      text += fmt::format("{}:{}:{} ", writer, info.mtime_ns, info.size);
    } catch (const Error& e) {
      if (e.code() != Code::kNotFound) throw;
    }
  }
  return text;
}

Ledger::Ledger(std::string model_dir, std::string writer)
    : model_dir_(std::move(model_dir)), writer_(std::move(writer)) {
  const std::string path = PathIn(model_dir_, writer_);
  if (FileSystem::ForPath(path).Exists(path)) own_ = Read(path);
  Refresh();
}

void Ledger::Refresh() {
  others_.clear();
  for (const std::string& writer : WritersIn(FileSystem::ForPath(model_dir_), model_dir_)) {
    if (writer != writer_) others_[writer] = Read(PathIn(model_dir_, writer));
  }
  Join();
}

Ledger::Contents Ledger::Read(const std::string& path) {
  Contents contents;
  try {
    const Json json = Json::parse(FileSystem::ForPath(path).ReadFile(path));
    if (json.at("version").get<int>() != kVersion) {
      throw FailedPrecondition("{} is of another version of Sextant; delete it to begin anew",
                               path);
    }
    for (const Json& entry : json.at("evaluations")) {
      contents.evaluations.push_back({entry.at("name"), entry.at("step"), entry.at("time"),
                                      MetricsOf(entry.at("metrics")),
                                      entry.value("returns", int64_t{-1})});
    }
    for (const Json& entry : json.at("exports")) {
      contents.exports.push_back({entry.at("exporter"), entry.at("step"), entry.at("path"),
                                  entry.value("time", 0.0), entry.value("returns", int64_t{-1})});
    }
    contents.notes = json.at("notes").get<std::map<std::string, std::string>>();
    if (!json.at("done").is_null()) contents.done = json.at("done").get<int64_t>();
    for (const Json& entry : json.value("forgotten", Json::array())) {
      contents.forgotten.push_back(
          {entry.at("step"), entry.at("time"), entry.value("number", int64_t{0})});
    }
  } catch (const Json::exception& e) {
    throw DataLoss("{} is not a ledger of a model_dir ({}); delete it to begin without its history",
                   path, e.what());
  }
  return contents;
}

int64_t Ledger::Contents::Returns() const {
  int64_t returns = 0;
  for (const Forgotten& entry : forgotten) returns = std::max(returns, entry.number);
  return returns;
}

const Ledger::Contents* Ledger::Trainer() const {
  if (writer_.empty()) return &own_;
  const auto trainer = others_.find("");
  return trainer == others_.end() ? nullptr : &trainer->second;
}

int64_t Ledger::KnownReturns() const {
  const Contents* trainer = Trainer();
  return trainer == nullptr ? 0 : trainer->Returns();
}

void Ledger::Join() {
  const auto add = [&](const Contents& from, const Contents* trainer) {
    const auto counts = [&](const auto& entry) {
      return trainer == nullptr ||
             std::none_of(trainer->forgotten.begin(), trainer->forgotten.end(),
                          [&](const Forgotten& forgotten) { return forgotten.Covers(entry); });
    };
    for (const Evaluation& entry : from.evaluations) {
      if (counts(entry) && !FindEvaluation(entry.name, entry.step)) evaluations_.push_back(entry);
    }
    for (const Export& entry : from.exports) {
      if (counts(entry) && !FindExport(entry.exporter, entry.step)) exports_.push_back(entry);
    }
  };
  evaluations_.clear();
  exports_.clear();
  add(own_, writer_.empty() ? nullptr : Trainer());
  for (const auto& [writer, contents] : others_) {
    add(contents, writer.empty() ? nullptr : Trainer());
  }
  if (others_.empty()) return;
  const auto by_step = [](const auto& a, const auto& b) { return a.step < b.step; };
  std::stable_sort(evaluations_.begin(), evaluations_.end(), by_step);
  std::stable_sort(exports_.begin(), exports_.end(), by_step);
}

const Ledger::Evaluation* Ledger::FindEvaluation(const std::string& name, int64_t step) const {
  for (const Evaluation& evaluation : evaluations_) {
    if (evaluation.name == name && evaluation.step == step) return &evaluation;
  }
  return nullptr;
}

void Ledger::AddEvaluation(Evaluation evaluation) {
  std::erase_if(own_.evaluations, [&](const Evaluation& other) {
    return other.name == evaluation.name && other.step >= evaluation.step;
  });
  if (evaluation.returns < 0) evaluation.returns = KnownReturns();
  own_.evaluations.push_back(std::move(evaluation));
  Write();
}

const Ledger::Export* Ledger::FindExport(const std::string& exporter, int64_t step) const {
  for (const Export& entry : exports_) {
    if (entry.exporter == exporter && entry.step == step) return &entry;
  }
  return nullptr;
}

void Ledger::AddExport(Export entry) {
  std::erase_if(own_.exports, [&](const Export& other) {
    return other.exporter == entry.exporter && other.step >= entry.step;
  });
  if (entry.time == 0) entry.time = LedgerSeconds();
  if (entry.returns < 0) entry.returns = KnownReturns();
  own_.exports.push_back(std::move(entry));
  Write();
}

void Ledger::RemoveExport(const std::string& path) {
  const auto removed = [&](const Export& entry) { return entry.path == path; };
  if (std::erase_if(own_.exports, removed) > 0) Write();
}

void Ledger::ForgetAfter(int64_t step) {
  const auto later = [step](const auto& entry) { return entry.step > step; };
  auto changed = std::erase_if(own_.evaluations, later) + std::erase_if(own_.exports, later);
  if (changed > 0) Join();
  if (std::any_of(evaluations_.begin(), evaluations_.end(), later) ||
      std::any_of(exports_.begin(), exports_.end(), later)) {
    const int64_t number = own_.Returns() + 1;
    std::erase_if(own_.forgotten, [step](const Forgotten& entry) { return entry.step >= step; });
    own_.forgotten.push_back({step, LedgerSeconds(), number});
    ++changed;
  }
  if (changed > 0) Write();
}

std::optional<std::string> Ledger::Note(const std::string& key) const {
  if (const auto it = own_.notes.find(key); it != own_.notes.end()) return it->second;
  for (const auto& [writer, contents] : others_) {
    if (const auto it = contents.notes.find(key); it != contents.notes.end()) return it->second;
  }
  return std::nullopt;
}

std::map<std::string, std::string> Ledger::Notes(const std::string& key) const {
  std::map<std::string, std::string> notes;
  const auto add = [&](const std::string& writer, const Contents& contents) {
    if (const auto it = contents.notes.find(key); it != contents.notes.end()) {
      notes[writer] = it->second;
    }
  };
  add(writer_, own_);
  for (const auto& [writer, contents] : others_) add(writer, contents);
  return notes;
}

void Ledger::SetNote(const std::string& key, std::string value) {
  own_.notes[key] = std::move(value);
  Write();
}

std::optional<int64_t> Ledger::done() const {
  const Contents* trainer = Trainer();
  return trainer == nullptr ? std::nullopt : trainer->done;
}

void Ledger::SetDone(std::optional<int64_t> step) {
  if (own_.done == step) return;
  own_.done = step;
  Write();
}

void Ledger::Write() {
  Json json = {{"version", kVersion}, {"evaluations", Json::array()}, {"exports", Json::array()}};
  for (const Evaluation& evaluation : own_.evaluations) {
    json["evaluations"].push_back({{"name", evaluation.name},
                                   {"step", evaluation.step},
                                   {"time", evaluation.time},
                                   {"metrics", MetricsJson(evaluation.metrics)},
                                   {"returns", evaluation.returns}});
  }
  for (const Export& entry : own_.exports) {
    json["exports"].push_back({{"exporter", entry.exporter},
                               {"step", entry.step},
                               {"path", entry.path},
                               {"time", entry.time},
                               {"returns", entry.returns}});
  }
  json["notes"] = own_.notes;
  json["done"] = own_.done ? Json(*own_.done) : Json(nullptr);
  for (const Forgotten& entry : own_.forgotten) {
    json["forgotten"].push_back(
        {{"step", entry.step}, {"time", entry.time}, {"number", entry.number}});
  }
  const std::string path = PathIn(model_dir_, writer_);
  FileSystem::ForPath(path).WriteFileAtomically(path, json.dump(1) + "\n");
  changes_of_process.fetch_add(1);
  Join();
}

}  // namespace sextant
