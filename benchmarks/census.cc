// The census program through the Estimator: what peers/census_tf.py measures of tf.estimator.
#include <fmt/format.h>

#include "benchmarks/census_job.h"
#include "benchmarks/op_profile.h"
#include "benchmarks/report.h"
#include "benchmarks/step_timer.h"
#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/estimator/train_and_evaluate.h"

namespace sextant::bench {
namespace {

// Traces every tenth step.
class Tracer : public train::Hook {
 public:
  void BeforeRun(train::RunContext& run) override {
    if (++count_ > 100 && count_ % 10 == 0) run.Trace();
    start_ = StepTrace::Now();
  }
  void AfterRun(train::RunContext& run) override {
    if (run.trace() != nullptr) profile_.Add(*run.trace(), StepTrace::Now() - start_);
  }
  void End(Session&) override { profile_.Print(); }

 private:
  OpProfile profile_;
  int64_t count_ = 0, start_ = 0;
};

void MeasureTraining(const Options& options, const CensusFiles& files, int64_t batch,
                     const std::string& style) {
  const int64_t steps = std::max<int64_t>(50, 160000 / batch);
  const auto timer =
      std::make_shared<StepTimer>(std::max(20, options.warmup), steps, options.repeats);
  std::vector<train::HookRef> hooks = {timer};
  if (options.profile) hooks.push_back(std::make_shared<Tracer>());
  CensusEstimator(fmt::format("{}/train-{}-{}", files.folder(), style, batch), options.threads)
      .Train([&] { return CensusInput(files.train(), batch, true, style); }, {.hooks = hooks});
  std::vector<double> rates;
  for (const double span : timer->spans())
    rates.push_back(static_cast<double>(steps * batch) / span);
  Emit("census", "examples/s", rates, false,
       {{"batch", std::to_string(batch)},
        {"mode", Quote(fmt::format("estimator train, {} parse", style))},
        {"threads", std::to_string(options.threads)},
        {"rss_mb", fmt::format("{:.1f}", PeakMegabytes())}});
}

void MeasureInputAlone(const Options& options, const CensusFiles& files, int64_t batch,
                       const std::string& style) {
  const auto iterator = CensusInput(files.train(), batch, true, style).dataset().MakeIterator();
  data::Element element;
  std::vector<double> rates = Repeat([&] { iterator->Next(&element); }, options);
  for (double& rate : rates) rate *= static_cast<double>(batch);
  Emit("census", "examples/s", rates, false,
       {{"batch", std::to_string(batch)},
        {"mode", Quote(fmt::format("input pipeline only, {} parse", style))},
        {"threads", std::to_string(options.threads)}});
}

void MeasureWholeJob(const Options& options, const CensusFiles& files, int64_t batch) {
  constexpr int64_t kSteps = 1000, kEvalSteps = 100;
  std::vector<double> seconds;
  EvalResult metrics;
  for (int i = 0; i < options.repeats; ++i) {
    const auto start = StepTimer::Clock::now();
    const Estimator estimator =
        CensusEstimator(fmt::format("{}/job-{}", files.folder(), i), options.threads);
    metrics = TrainAndEvaluate(
                  estimator,
                  {.input_fn = [&] { return CensusInput(files.train(), batch, true, "line"); },
                   .max_steps = kSteps},
                  {.input_fn = [&] { return CensusInput(files.test(), batch, false, "line"); },
                   .steps = kEvalSteps,
                   .name = "census-eval",
                   .exporters = {FinalExporter("census", CensusReceiver())}})
                  .metrics;
    seconds.push_back(StepTimer::SecondsSince(start));
  }
  Emit("census", "seconds", seconds, true,
       {{"batch", std::to_string(batch)},
        {"mode", Quote(fmt::format("train_and_evaluate, {} steps, eval of {} rows, export", kSteps,
                                   kEvalSteps * batch))},
        {"threads", std::to_string(options.threads)},
        {"accuracy", fmt::format("{:.4g}", metrics.at("accuracy"))},
        {"auc", fmt::format("{:.4g}", metrics.at("auc"))},
        {"rss_mb", fmt::format("{:.1f}", PeakMegabytes())}});
}

}  // namespace

void MeasureCensus(const Options& options, const CensusOptions& census) {
  if (census.data.empty()) {
    throw InvalidArgument("the census workload needs --data DIR, with adult.data and adult.test");
  }
  SetLogLevel(LogLevel::kWarning);
  const CensusFiles files(census.data);
  for (const std::string& mode : census.modes) {
    if (mode == "train_and_evaluate") {
      MeasureWholeJob(options, files, options.batches.front());
      continue;
    }
    if (mode != "train" && mode != "input") {
      throw InvalidArgument("census has the modes train, train_and_evaluate and input, not '{}'",
                            mode);
    }
    for (const std::string& style : census.styles) {
      for (const int64_t batch : options.batches) {
        (mode == "train" ? MeasureTraining : MeasureInputAlone)(options, files, batch, style);
      }
    }
  }
}

}  // namespace sextant::bench
