// Benchmark records: what ran where, and the metrics it measured, as JSON objects.
//
// On the console they follow "Benchmark run: " and "Benchmark metric: "; in a directory they are
// benchmark_run.log (the newest run) and the lines of metric.log. Fields and names are those of
// TensorFlow's official models, so that tools that read theirs read these.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "boilerplate/flags/core.h"

namespace boilerplate {

class BenchmarkLogger {
 public:
  using Extras = std::vector<std::pair<std::string, std::string>>;

  virtual ~BenchmarkLogger() = default;
  // Numbers that are not finite are left out, with a warning.
  void LogMetric(const std::string& name, double value, const std::string& unit,
                 int64_t global_step, const Extras& extras = {});
  void LogRun(const std::string& model, const std::string& dataset, const RunParameters& parameters,
              const std::string& test_id);
  // "success" or "failure".
  void OnFinish(const std::string& status);

 protected:
  virtual void WriteMetric(const std::string& json) = 0;
  virtual void WriteRun(const std::string& json) = 0;

 private:
  std::string run_;  // the record without its end, which is the status
};

// "BenchmarkBaseLogger" or "BenchmarkFileLogger". Throws INVALID_ARGUMENT when the directory cannot
// be made.
std::shared_ptr<BenchmarkLogger> MakeLogger(const BenchmarkFlags& flags);

}  // namespace boilerplate
