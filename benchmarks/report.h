// Timing and the one JSON line per measurement that the peers' scripts print too
// (benchmarks/README.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sextant::bench {

struct Options {
  int threads = 0;       // 0 = all cores
  double seconds = 1.0;  // of one repeat
  int repeats = 5;
  int warmup = 50;
  std::vector<int64_t> batches;  // of the models
  bool profile = false;          // of the models: print where the time goes instead of the rate
};

// Calls step() in options.repeats timed groups; returns the calls per second of each group.
std::vector<double> Repeat(const std::function<void()>& step, const Options& options);

// Further keys of a line, values as JSON text.
using Extra = std::vector<std::pair<std::string, std::string>>;

// Prints the median and the best of the values.
void Emit(const std::string& workload, const std::string& metric, std::vector<double> values,
          bool lower_is_better, const Extra& extra = {});

// "text" as a JSON string.
std::string Quote(const std::string& text);

struct InputOptions {
  int megabytes = 200;    // of records
  std::string data = {};  // folder with adult.data; without it rows of CSV are left out
  int copies = 3;         // of adult.data in the file that is read
  bool csv_only = false;
};

// The workloads.
// Of the checkpoint workload.
struct CheckpointOptions {
  int megabytes = 1000;
  int variables = 20;
  std::string folder;  // where to write; empty: the folder of temporary files
};
void MeasureCheckpoint(const Options& options, const CheckpointOptions& checkpoint);
struct CensusOptions {
  std::string data = {};  // folder with adult.data and adult.test
  std::vector<std::string> modes = {"train", "train_and_evaluate", "input"};
  std::vector<std::string> styles = {"line", "batched"};
};
void MeasureCensus(const Options& options, const CensusOptions& census);
void MeasureStartup(const Options& options, const std::string& data);
// The process that MeasureStartup starts.
void StartupChild(const std::string& data);
void MeasureServing(const Options& options, const std::string& data, int count);
void MeasureInput(const Options& options, const InputOptions& input);
void Peak(const Options& options);
void SessionOverhead(const Options& options, int chain);
// Of the ops workload: the tables below the folder, cases whose text contains the filter.
struct OpsOptions {
  std::string folder = SEXTANT_SOURCE_DIR "/sextant/ops";
  std::string filter = {};
};
void MeasureOps(const Options& options, const OpsOptions& ops);
void Matmul(const Options& options, const std::vector<int>& sizes);
void MeasureGruSeq2Seq(const Options& options);
void MeasureMnistConvnet(const Options& options);
void MeasureResnet44(const Options& options);
void MeasureResnet44Estimator(const Options& options);
void MeasureResnet44Inference(const Options& options);

}  // namespace sextant::bench
