#include "sextant/serving/model_config.h"

#include <set>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/printable.h"
#include "sextant/formats/message_text.h"
#include "sextant/proto/serving_config.pb.h"

namespace sextant::serving {
namespace {

template <typename Message>
Message ReadTextFile(const std::string& path) {
  Message message;
  ParseMessageText(FileSystem::ForPath(path).ReadFile(path), path, &message);
  return message;
}

VersionPolicy PolicyFrom(const proto::ServableVersionPolicy& policy) {
  switch (policy.policy_choice_case()) {
    case proto::ServableVersionPolicy::kAll:
      return {.kind = VersionPolicy::Kind::kAll};
    case proto::ServableVersionPolicy::kSpecific:
      return {
          .kind = VersionPolicy::Kind::kSpecific,
          .versions = {policy.specific().versions().begin(), policy.specific().versions().end()}};
    default:
      return {.latest = std::max<int64_t>(1, policy.latest().num_versions())};
  }
}

int64_t AtLeast(int64_t least, int64_t value, const char* name, const std::string& path) {
  if (value >= least) return value;
  throw InvalidArgument("{}: {} is {}, but must be at least {}", path, name, value, least);
}

}  // namespace

void CheckModelConfigs(const std::vector<ModelConfig>& models) {
  std::set<std::string> names;
  for (const ModelConfig& model : models) {
    const std::string shown = ShownName(model.name);
    if (model.name.empty()) throw InvalidArgument("a model has no name");
    if (model.name.find_first_of("/:") != std::string::npos) {
      throw InvalidArgument("model '{}': a name has no '/' or ':'", shown);
    }
    if (!names.insert(model.name).second) throw InvalidArgument("model '{}' is there twice", shown);
    if (model.base_path.empty()) throw InvalidArgument("model '{}' has no base_path", shown);
    if (model.policy.kind == VersionPolicy::Kind::kSpecific && model.policy.versions.empty()) {
      throw InvalidArgument("model '{}': the policy 'specific' names no versions", shown);
    }
    uint64_t weight = 0;
    for (const TrafficShare& share : model.traffic) weight += share.weight;
    if (!model.traffic.empty() && weight == 0) {
      throw InvalidArgument("model '{}': the weights of its traffic add up to 0", shown);
    }
    if (!(model.log_sampling >= 0 && model.log_sampling <= 1)) {
      throw InvalidArgument("model '{}': sampling_rate must be from 0 to 1", shown);
    }
  }
}

std::vector<ModelConfig> ModelConfigsFrom(const proto::ModelServerConfig& config) {
  if (config.has_custom_model_config()) {
    throw InvalidArgument(
        "custom_model_config is for programs that extend TensorFlow Serving; "
        "use model_config_list");
  }
  std::vector<ModelConfig> models;
  for (const proto::ModelConfig& entry : config.model_config_list().config()) {
    if (!entry.model_platform().empty() && entry.model_platform() != "tensorflow") {
      throw InvalidArgument("model '{}': model_platform must be \"tensorflow\", not \"{}\"",
                            ShownName(entry.name()), ShownName(entry.model_platform()));
    }
    ModelConfig model{.name = entry.name(),
                      .base_path = entry.base_path(),
                      .policy = PolicyFrom(entry.model_version_policy()),
                      .labels = {entry.version_labels().begin(), entry.version_labels().end()},
                      .latency_target_ms = entry.latency_target_ms(),
                      .log_prefix = entry.logging_config().log_collector_config().filename_prefix(),
                      .log_sampling = entry.logging_config().sampling_config().sampling_rate()};
    for (const proto::Traffic& share : entry.traffic()) {
      model.traffic.push_back({share.version(), share.weight()});
    }
    models.push_back(std::move(model));
  }
  CheckModelConfigs(models);
  return models;
}

std::vector<ModelConfig> ReadModelConfigFile(const std::string& path) {
  const auto config = ReadTextFile<proto::ModelServerConfig>(path);
  try {
    return ModelConfigsFrom(config);
  } catch (const Error& error) {
    throw error.WithPrefix(path + ": ");
  }
}

BatchingConfig ReadBatchingFile(const std::string& path) {
  const auto file = ReadTextFile<proto::BatchingParameters>(path);
  BatchingConfig config{.enabled = true};
  if (file.has_max_batch_size()) {
    config.max_batch_size = AtLeast(1, file.max_batch_size().value(), "max_batch_size", path);
  }
  if (file.has_batch_timeout_micros()) {
    config.timeout_micros =
        AtLeast(0, file.batch_timeout_micros().value(), "batch_timeout_micros", path);
  }
  if (file.has_max_enqueued_batches()) {
    config.max_enqueued_batches =
        AtLeast(1, file.max_enqueued_batches().value(), "max_enqueued_batches", path);
  }
  if (file.has_num_batch_threads()) {
    config.threads = AtLeast(1, file.num_batch_threads().value(), "num_batch_threads", path);
  }
  for (const int64_t size : file.allowed_batch_sizes()) {
    const int64_t before = config.allowed_sizes.empty() ? 0 : config.allowed_sizes.back();
    config.allowed_sizes.push_back(
        AtLeast(before + 1, size, "an entry of allowed_batch_sizes", path));
  }
  config.pad_variable_length_inputs = file.pad_variable_length_inputs();
  if (file.has_enable_large_batch_splitting()) {
    config.split_large = file.enable_large_batch_splitting().value();
  }
  const char* limit = "max_batch_size";
  if (file.has_max_execution_batch_size()) {  // then max_batch_size is that of requests
    limit = "max_execution_batch_size";
    const int64_t size = AtLeast(1, file.max_execution_batch_size().value(), limit, path);
    if (!config.split_large) {
      throw InvalidArgument("{}: {} needs enable_large_batch_splitting", path, limit);
    }
    if (file.has_max_batch_size()) {
      config.max_request_rows = AtLeast(size, config.max_batch_size, "max_batch_size", path);
    }
    config.max_batch_size = size;
  }
  if (!config.allowed_sizes.empty() && config.allowed_sizes.back() != config.max_batch_size) {
    throw InvalidArgument("{}: the last of allowed_batch_sizes is {}, but {} is {}", path,
                          config.allowed_sizes.back(), limit, config.max_batch_size);
  }
  return config;
}

TlsFiles ReadTlsFile(const std::string& path) {
  const auto file = ReadTextFile<proto::SSLConfig>(path);
  if (file.server_key().empty() || file.server_cert().empty()) {
    throw InvalidArgument("{}: server_key and server_cert are needed, as PEM texts", path);
  }
  return {file.server_key(), file.server_cert(), file.custom_ca(), file.client_verify()};
}

MonitoringOptions ReadMonitoringFile(const std::string& path) {
  const auto file = ReadTextFile<proto::MonitoringConfig>(path);
  MonitoringOptions options{.enabled = file.prometheus_config().enable()};
  if (!file.prometheus_config().path().empty()) options.path = file.prometheus_config().path();
  if (!options.path.starts_with("/")) {
    throw InvalidArgument("{}: the path of prometheus_config must begin with '/'", path);
  }
  return options;
}

}  // namespace sextant::serving
