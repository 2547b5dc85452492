#include "boilerplate/logger/logger.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>

#include "boilerplate/logger/machine.h"
#include "boilerplate/utils/distribution_utils.h"

namespace sx = sextant;

namespace boilerplate {
namespace {

// In quotes, escaped.
std::string Quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string Now() {
  const auto now = std::chrono::system_clock::now();
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), micros % 1000000);
}

// Numbers, texts and truth values have fields of their own.
std::string Parameter(const std::string& name, const sx::HParams::Value& value) {
  std::string typed;
  if (const auto* text = std::get_if<std::string>(&value)) {
    typed = "\"string_value\": " + Quoted(*text);
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    typed = fmt::format("\"long_value\": {}", *number);
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    typed = fmt::format("\"bool_value\": \"{}\"", *truth ? "True" : "False");
  } else if (const auto* real = std::get_if<double>(&value)) {
    typed = fmt::format("\"float_value\": {}", *real);
  }
  return fmt::format("{{\"name\": {}, {}}}", Quoted(name), typed);
}

class ConsoleLogger : public BenchmarkLogger {
 protected:
  void WriteMetric(const std::string& json) override { sx::LogInfo("Benchmark metric: {}", json); }
  void WriteRun(const std::string& json) override { sx::LogInfo("Benchmark run: {}", json); }
};

class FileLogger : public BenchmarkLogger {
 public:
  explicit FileLogger(std::string directory) : directory_(std::move(directory)) {
    sx::FileSystem::ForPath(directory_).CreateDirectories(directory_);
  }

 protected:
  void WriteMetric(const std::string& json) override {
    const std::string path = sx::JoinPath(directory_, "metric.log");
    std::ofstream file(path, std::ios::app);
    file << json << "\n";
    if (!file.flush()) throw sx::DataLoss("{}: cannot be written", path);
  }
  void WriteRun(const std::string& json) override {
    const std::string path = sx::JoinPath(directory_, "benchmark_run.log");
    sx::FileSystem::ForPath(path).WriteFileAtomically(path, json + "\n");
  }

 private:
  const std::string directory_;
};

}  // namespace

void BenchmarkLogger::LogMetric(const std::string& name, double value, const std::string& unit,
                                int64_t global_step, const Extras& extras) {
  if (!std::isfinite(value)) {
    sx::LogWarning("metric {} is {}; it is not recorded", name, value);
    return;
  }
  std::vector<std::string> pairs;
  for (const auto& [key, text] : extras) {
    pairs.push_back(fmt::format("{{\"name\": {}, \"value\": {}}}", Quoted(key), Quoted(text)));
  }
  WriteMetric(
      fmt::format("{{\"name\": {}, \"value\": {}, \"unit\": {}, \"global_step\": {}, "
                  "\"timestamp\": \"{}\", \"extras\": [{}]}}",
                  Quoted(name), value, unit.empty() ? "null" : Quoted(unit), global_step, Now(),
                  fmt::join(pairs, ", ")));
}

void BenchmarkLogger::LogRun(const std::string& model, const std::string& dataset,
                             const RunParameters& parameters, const std::string& test_id) {
  std::vector<std::string> texts, variables;
  for (const auto& [name, value] : parameters) texts.push_back(Parameter(name, value));
  for (const auto& [name, value] : EnvironmentWith("TF_")) {
    variables.push_back(
        fmt::format("{{\"name\": {}, \"value\": {}}}", Quoted(name), Quoted(value)));
  }
  const Machine machine = ThisMachine();
  run_ = fmt::format(
      "{{\"model_name\": {}, \"dataset\": {{\"name\": {}}}, \"machine_config\": {{\"cpu_info\": "
      "{{\"num_cores\": {}, \"cpu_info\": {}, \"mhz_per_cpu\": {}}}, \"gpu_info\": {{\"count\": "
      "{}, "
      "\"model\": \"\"}}, \"memory_total\": {}, \"memory_available\": {}}}, \"test_id\": {}, "
      "\"run_date\": \"{}\", \"tensorflow_version\": {{\"version\": \"sextant " SEXTANT_VERSION
      "\", \"git_hash\": \"\"}}, \"tensorflow_environment_variables\": [{}], \"run_parameters\": "
      "[{}]",
      Quoted(model), Quoted(dataset), machine.num_cores, Quoted(machine.cpu), machine.mhz_per_cpu,
      CountDevices(-1, "GPU"), machine.memory_total, machine.memory_available,
      test_id.empty() ? "null" : Quoted(test_id), Now(), fmt::join(variables, ", "),
      fmt::join(texts, ", "));
  WriteRun(run_ + ", \"status\": \"running\"}");
}

void BenchmarkLogger::OnFinish(const std::string& status) {
  WriteRun(fmt::format("{}, \"status\": {}}}", run_, Quoted(status)));
}

std::shared_ptr<BenchmarkLogger> MakeLogger(const BenchmarkFlags& flags) {
  if (flags.benchmark_logger_type == "BenchmarkFileLogger") {
    return std::make_shared<FileLogger>(flags.benchmark_log_dir);
  }
  return std::make_shared<ConsoleLogger>();
}

}  // namespace boilerplate
