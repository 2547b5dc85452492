#include "tests/faults/run_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "sextant/base/error.h"
#include "sextant/estimator/ledger.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/event_reader.h"
#include "sextant/formats/event_summary.h"
#include "sextant/formats/histogram.h"
#include "sextant/proto/event.pb.h"
#include "sextant/proto/summary.pb.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

struct Point {
  int64_t step;
  std::string value;
};

std::string ValueText(const SummaryData& data) {
  if (data.tag == "global_step/sec") return "";
  if (data.kind == SummaryKind::kScalar) return fmt::format("{:.9g}", data.scalar);
  if (data.kind != SummaryKind::kHistogram) return "";
  std::string text;
  for (const SummaryBucket& bucket : data.buckets) text += fmt::format("{:g} ", bucket.count);
  return text;
}

std::vector<std::string> EventFiles(const fs::path& directory) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (IsEventFileName(entry.path().string())) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool IsLeftover(const std::string& name) {
  for (const char* mark : {"temp", ".tmp-", ".journal", "lock"}) {
    if (name.find(mark) != std::string::npos) return true;
  }
  return false;
}

bool HasGraphEvent(const std::string& model_dir) {
  for (const std::string& file : EventFiles(model_dir)) {
    EventReader reader(file);
    proto::Event event;
    try {
      while (reader.Next(&event)) {
        if (!event.graph_def().empty()) return true;
      }
    } catch (const Error& e) {
      if (e.code() != Code::kDataLoss) throw;  // the writer was killed in the middle of a record
    }
  }
  return false;
}

// A SessionLog START at a step takes away what was written for that step and later ones.
std::map<std::string, std::vector<Point>> ReadEvents(const fs::path& directory) {
  std::map<std::string, std::vector<Point>> points;
  SummaryReader summaries;
  for (const std::string& file : EventFiles(directory)) {
    EventReader reader(file);
    proto::Event event;
    try {
      while (reader.Next(&event)) {
        if (event.session_log().status() == proto::SessionLog::START) {
          for (auto& [tag, list] : points) {
            std::erase_if(list, [&](const Point& p) { return p.step >= event.step(); });
          }
        }
        for (const auto& value : event.summary().value()) {
          const SummaryData data = summaries.Read(value);
          points[data.tag].push_back({event.step(), ValueText(data)});
        }
      }
    } catch (const Error& e) {
      if (e.code() != Code::kDataLoss) throw;  // the writer was killed in the middle of a record
    }
  }
  return points;
}

}  // namespace

RunHistory ReadHistory(const std::string& model_dir) {
  RunHistory history;
  for (const char* name : {"", "eval"}) {
    for (const auto& [tag, points] : ReadEvents(fs::path(model_dir) / name)) {
      auto& list = history.events[std::string(name) + ": " + tag];
      for (const Point& point : points) {
        list.push_back(fmt::format("{}: {}", point.step, point.value));
      }
    }
  }
  const Ledger ledger(model_dir);
  for (const auto& evaluation : ledger.evaluations()) {
    std::string text = fmt::format("{}:", evaluation.step);
    for (const auto& [name, value] : evaluation.metrics) text += fmt::format(" {}={}", name, value);
    history.evaluations.push_back(text);
  }
  std::set<std::string> listed;
  if (const auto state = ReadCheckpointState(model_dir)) {
    for (const std::string& prefix : state->all) listed.insert(fs::path(prefix).filename());
  }
  for (const auto& entry : fs::recursive_directory_iterator(model_dir)) {
    const std::string name = entry.path().filename().string();
    if (name == "saved_model.pb") {
      history.exports[entry.path().parent_path().parent_path().filename().string()] += 1;
    }
    if (IsLeftover(name) || (name.ends_with(".index") && name.starts_with("model.ckpt") &&
                             !listed.contains(name.substr(0, name.size() - 6)))) {
      history.leftovers.push_back(entry.path().string());
    }
  }
  history.has_graph = fs::exists(model_dir + "/graph.pbtxt") && HasGraphEvent(model_dir);
  return history;
}

}  // namespace sextant
