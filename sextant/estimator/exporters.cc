#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/base/directory_name.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/estimator/exporter.h"
#include "sextant/estimator/ledger.h"
#include "sextant/estimator/model_graph.h"
#include "sextant/estimator/warm_up_requests.h"

namespace sextant {
namespace {

constexpr int64_t kMostWarmUpRequests = 1000;

class ModelExporter : public Exporter {
 public:
  ModelExporter(std::string name, ServingInputFn receiver, const ExporterOptions& options)
      : name_(std::move(name)), receiver_(std::move(receiver)), options_(options) {
    if (name_.empty()) throw InvalidArgument("an exporter needs a name");
    CheckDirectoryName("the name of an exporter", name_);
    if (options_.exports_to_keep < 0) {
      throw InvalidArgument("exports_to_keep of exporter {} must not be negative", name_);
    }
    if (options_.warmup_requests < 0 || options_.warmup_requests > kMostWarmUpRequests) {
      throw InvalidArgument("warmup_requests of exporter {} must be from 0 to {}", name_,
                            kMostWarmUpRequests);
    }
  }
  const std::string& name() const override { return name_; }

 protected:
  // Once for every step: the ledger tells where before the export is there.
  std::string ExportOnce(const ExportRequest& request) const {
    const std::string& model_dir = request.estimator.model_dir();
    FileSystem& files = FileSystem::ForPath(model_dir);
    const Ledger::Export* noted = request.ledger.FindExport(name_, request.global_step);
    std::string path = noted ? JoinPath(model_dir, noted->path) : "";
    if (noted != nullptr && files.Exists(path)) return path;
    const bool still_newest = noted != nullptr && IsNewestExport(path);
    return ExportToNew(still_newest ? path : "", request.export_path, [&](const std::string& to) {
      request.ledger.AddExport({name_, request.global_step, to.substr(model_dir.size() + 1)});
      ExportTo(request.estimator.state(), to, receiver_,
               {.assets_extra = options_.assets_extra,
                .as_text = options_.as_text,
                .checkpoint_path = request.checkpoint_path},
               WarmUpRowsOf(request));
    });
  }
  // Deletes the oldest that are too many.
  void DeleteOld(const ExportRequest& request) const {
    if (options_.exports_to_keep == 0) return;
    std::vector<Ledger::Export> mine;
    for (const Ledger::Export& entry : request.ledger.exports()) {
      if (entry.exporter == name_) mine.push_back(entry);
    }
    const size_t keep = static_cast<size_t>(options_.exports_to_keep);
    for (size_t i = 0; i + keep < mine.size(); ++i) {
      const std::string path = JoinPath(request.estimator.model_dir(), mine[i].path);
      DeleteExport(path);
      request.ledger.RemoveExport(mine[i].path);
    }
  }

 private:
  // None, with a line in the log, where the input of the evaluation gives none.
  std::vector<data::Element> WarmUpRowsOf(const ExportRequest& request) const try {
    if (options_.warmup_requests == 0 || request.eval_input == nullptr) return {};
    return WarmUpRows(*request.eval_input, options_.warmup_requests);
  } catch (const Error& e) {
    LogWarning("Exporter {} makes no warm-up requests: {}", name_, e.message());
    return {};
  }
  // Another evaluator may be at it too.
  static void DeleteExport(const std::string& path) try {
    FileSystem& files = FileSystem::ForPath(path);
    if (files.Exists(path)) files.DeleteRecursively(path);
  } catch (const Error& e) {
    if (e.code() != Code::kNotFound) throw;
  }

  const std::string name_;
  const ServingInputFn receiver_;
  const ExporterOptions options_;
};

class Latest : public ModelExporter {
 public:
  using ModelExporter::ModelExporter;
  std::string Export(const ExportRequest& request) override {
    std::string path = ExportOnce(request);
    DeleteOld(request);
    return path;
  }
};

class Final : public ModelExporter {
 public:
  using ModelExporter::ModelExporter;
  std::string Export(const ExportRequest& request) override {
    if (!request.is_final) return "";
    LogInfo("Performing the final export in the end of training.");
    return ExportOnce(request);
  }
};

class Best : public ModelExporter {
 public:
  Best(std::string name, ServingInputFn receiver, BetterFn better, const ExporterOptions& options)
      : ModelExporter(std::move(name), std::move(receiver), options),
        better_(better ? std::move(better) : Smaller("loss")) {}
  std::string Export(const ExportRequest& request) override {
    // An export of this step that is noted was decided on before the process was killed.
    const bool decided = request.ledger.FindExport(name(), request.global_step) != nullptr;
    if (!decided && !BetterThanNoted(request)) return "";
    LogInfo("Performing best model export.");
    std::string path = ExportOnce(request);
    request.ledger.SetNote(Key(), MetricsText(request.result));
    DeleteOld(request);
    return path;
  }

 private:
  std::string Key() const { return "best/" + name(); }
  // Than what every writer of the ledger has noted: there may be several evaluators.
  bool BetterThanNoted(const ExportRequest& request) const {
    if (!IsBest(better_, request.result, nullptr)) return false;
    for (const auto& [writer, note] : request.ledger.Notes(Key())) {
      const EvalResult best = ParseMetrics(note);
      if (!IsBest(better_, request.result, &best)) return false;
    }
    return true;
  }

  const BetterFn better_;
};

double MetricOf(const EvalResult& result, const std::string& name) {
  const auto it = result.find(name);
  if (it == result.end()) throw NotFound("the evaluation gives no metric '{}'", name);
  return it->second;
}

EvalResult AllSetTo(double value, EvalResult result) {
  for (auto& [name, metric] : result) metric = value;
  return result;
}

// Whether the metrics that `better` looks at are numbers: one that is not is better than nothing,
// neither than the smallest number nor than the largest.
bool IsComparable(const BetterFn& better, const EvalResult& result) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const bool all_numbers = std::none_of(result.begin(), result.end(),
                                        [](const auto& entry) { return std::isnan(entry.second); });
  return all_numbers || better(result, AllSetTo(kLargest, result)) ||
         better(result, AllSetTo(-kLargest, result));
}

}  // namespace

bool IsBest(const BetterFn& better, const EvalResult& current, const EvalResult* best) {
  if (!IsComparable(better, current)) return false;
  return best == nullptr || !IsComparable(better, *best) || better(current, *best);
}

BetterFn Smaller(std::string metric) {
  return [metric = std::move(metric)](const EvalResult& current, const EvalResult& best) {
    return MetricOf(current, metric) < MetricOf(best, metric);
  };
}

BetterFn Larger(std::string metric) {
  return [metric = std::move(metric)](const EvalResult& current, const EvalResult& best) {
    return MetricOf(current, metric) > MetricOf(best, metric);
  };
}

ExporterRef LatestExporter(std::string name, ServingInputFn receiver,
                           const ExporterOptions& options) {
  return std::make_shared<Latest>(std::move(name), std::move(receiver), options);
}

ExporterRef FinalExporter(std::string name, ServingInputFn receiver,
                          const ExporterOptions& options) {
  return std::make_shared<Final>(std::move(name), std::move(receiver), options);
}

ExporterRef BestExporter(std::string name, ServingInputFn receiver, BetterFn better,
                         const ExporterOptions& options) {
  return std::make_shared<Best>(std::move(name), std::move(receiver), std::move(better), options);
}

}  // namespace sextant
