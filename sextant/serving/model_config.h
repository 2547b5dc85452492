// Which models are served, and how: TensorFlow Serving's configuration files as structures.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::serving {

// Which of the versions in the base path are served.
struct SEXTANT_API VersionPolicy {
  // The newest ones, every one, or those that are named.
  enum class Kind { kLatest, kAll, kSpecific };
  Kind kind = Kind::kLatest;
  int64_t latest = 1;                  // kLatest: how many
  std::vector<int64_t> versions = {};  // kSpecific: these
  bool operator==(const VersionPolicy&) const = default;
};

struct SEXTANT_API TrafficShare {
  int64_t version = 0;
  uint32_t weight = 0;
  bool operator==(const TrafficShare&) const = default;
};

struct SEXTANT_API ModelConfig {
  std::string name;       // any characters but '/' and ':'
  std::string base_path;  // holds a directory per version, by number
  VersionPolicy policy = {};
  std::map<std::string, int64_t> labels = {};
  // Of requests that name no version: how they are shared among versions. Empty: the newest.
  std::vector<TrafficShare> traffic = {};
  double latency_target_ms = 0;  // 0: none
  std::string log_prefix = {};   // of the request log; "": none is kept
  double log_sampling = 0;       // the share of requests logged, 0 to 1
  bool operator==(const ModelConfig&) const = default;
};

// Throws INVALID_ARGUMENT, naming the model, for a configuration that contradicts itself.
void CheckModelConfigs(const std::vector<ModelConfig>& models);

// "model_config_list { config { name: ... base_path: ... } }". Throws INVALID_ARGUMENT with path,
// line and column, NOT_FOUND when there is no such file.
std::vector<ModelConfig> ReadModelConfigFile(const std::string& path);

struct SEXTANT_API BatchingConfig {
  bool enabled = false;
  int64_t max_batch_size = 64;  // rows of a run
  int64_t timeout_micros = 0;   // how long the first request waits for others
  int64_t max_enqueued_batches = 100;
  int64_t threads = 0;                      // 0: one per core
  std::vector<int64_t> allowed_sizes = {};  // batches are padded to one of them
  bool pad_variable_length_inputs = false;
  bool split_large = true;       // requests of more rows are run in parts
  int64_t max_request_rows = 0;  // with split_large: larger ones are refused; 0: none
};
// Throws as ReadModelConfigFile. An empty file means the defaults.
BatchingConfig ReadBatchingFile(const std::string& path);

struct SEXTANT_API TlsFiles {
  std::string private_key, certificate, client_ca;  // PEM texts
  bool verify_client = false;
};
TlsFiles ReadTlsFile(const std::string& path);

struct SEXTANT_API MonitoringOptions {
  bool enabled = false;
  std::string path = "/monitoring/prometheus/metrics";
};
MonitoringOptions ReadMonitoringFile(const std::string& path);

}  // namespace sextant::serving

#pragma GCC visibility pop

namespace sextant::proto {
class ModelServerConfig;
}  // namespace sextant::proto

namespace sextant::serving {

// Not exported. Throws as CheckModelConfigs.
std::vector<ModelConfig> ModelConfigsFrom(const proto::ModelServerConfig& config);

}  // namespace sextant::serving
