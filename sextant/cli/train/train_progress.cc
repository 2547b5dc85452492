#include "sextant/cli/train/train_progress.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sextant/base/progress.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/summaries.h"

namespace sextant::cli {
namespace {

using Clock = std::chrono::steady_clock;
using OrderedJson = nlohmann::ordered_json;

// Paths need not be UTF-8.
std::string LineOf(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson NumberOrText(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

std::string DurationText(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

// What the model reports as its loss.
Output FindLoss(const Graph& graph) {
  for (const Output& summary : graph.Collection(kSummaries)) {
    const Node& node = *summary.node();
    const bool is_loss = node.name() == "loss" || node.name().starts_with("loss/");
    if (is_loss && node.type() == "ScalarSummary") return node.input(1);
  }
  return {};
}

class ProgressHook : public train::Hook {
 public:
  explicit ProgressHook(const TrainProgressOptions& options)
      : options_(options), line_("", options.last_step, "steps") {}

  void Begin() override { loss_ = FindLoss(CurrentGraph()); }
  void AfterCreateSession(Session&) override { start_ = last_ = Clock::now(); }
  void BeforeRun(train::RunContext& run) override {
    if (loss_) run.Fetch(loss_);
  }
  void AfterRun(train::RunContext& run) override {
    ++steps_;
    const int64_t step = run.global_step();
    const double loss = loss_ ? run.Value(loss_).AsDouble() : std::nan("");
    const double rate = PerSecond(steps_, start_);
    line_.Show([&] {
      return TrainProgressLine(step, options_.last_step, loss, rate, options_.batch_size);
    });
    if (options_.json != nullptr && (steps_ == 1 || step % options_.json_steps == 0)) {
      Report(step, loss);
    }
  }
  void End(Session&) override { line_.Clear(); }

 private:
  static double PerSecond(int64_t steps, Clock::time_point since) {
    const double seconds = std::chrono::duration<double>(Clock::now() - since).count();
    return seconds > 0 ? static_cast<double>(steps) / seconds : 0;
  }

  void Report(int64_t step, double loss) {
    OrderedJson line = {{"event", "train"}, {"step", step}};
    if (loss_) line["loss"] = NumberOrText(loss);
    line["examples_per_sec"] = NumberOrText(PerSecond(steps_ - reported_, last_) *
                                            static_cast<double>(options_.batch_size));
    reported_ = steps_;
    last_ = Clock::now();
    *options_.json << LineOf(line) << std::endl;
  }

  const TrainProgressOptions options_;
  Progress line_;
  Output loss_;
  int64_t steps_ = 0, reported_ = 0;
  Clock::time_point start_, last_;
};

class Reporter : public Exporter {
 public:
  explicit Reporter(std::ostream& json) : json_(json) {}
  const std::string& name() const override { return name_; }
  std::string Export(const ExportRequest& request) override {
    PrintEvaluation(request.result, "", json_);
    return "";
  }

 private:
  const std::string name_ = "report";
  std::ostream& json_;
};

}  // namespace

train::HookRef TrainProgress(const TrainProgressOptions& options) {
  return std::make_shared<ProgressHook>(options);
}

ExporterRef ReportEvaluations(std::ostream& json) { return std::make_shared<Reporter>(json); }

std::string TrainProgressLine(int64_t step, int64_t last_step, double loss, double steps_per_second,
                              int64_t batch_size) {
  std::string line = fmt::format("step {}", step);
  if (last_step > 0) line += fmt::format(" of {}", last_step);
  if (!std::isnan(loss)) line += fmt::format(", loss {:.4g}", loss);
  if (steps_per_second > 0) {
    line += fmt::format(", {:.0f} examples/s", steps_per_second * static_cast<double>(batch_size));
    if (last_step > step) {
      line += fmt::format(", {} left",
                          DurationText(static_cast<double>(last_step - step) / steps_per_second));
    }
  }
  return line;
}

void PrintDone(const TrainAndEvaluateResult& result, const std::string& model_dir,
               std::ostream& json) {
  for (const std::string& path : result.exports) {
    json << LineOf({{"event", "export"}, {"path", path}}) << "\n";
  }
  const OrderedJson done = {
      {"event", "done"}, {"step", result.global_step}, {"model_dir", model_dir}};
  json << LineOf(done) << std::endl;
}

void PrintEvaluation(const EvalResult& metrics, const std::string& name, std::ostream& json) {
  OrderedJson line = {{"event", "eval"}};
  if (!name.empty()) line["name"] = name;
  const auto step = metrics.find("global_step");
  if (step != metrics.end()) line["step"] = static_cast<int64_t>(step->second);
  for (const auto& [key, value] : metrics) line["metrics"][key] = NumberOrText(value);
  json << LineOf(line) << std::endl;
}

}  // namespace sextant::cli
