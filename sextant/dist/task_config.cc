#include "sextant/dist/task_config.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sextant/base/error.h"
#include "sextant/base/parse_number.h"

namespace sextant::dist {
namespace {

using Json = nlohmann::json;

constexpr int kMostTasks = 100000;  // of a job: an index in an object makes a list of that length

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The member, or a null of the whole program when it is missing.
const Json& Member(const Json& object, const char* key) {
  static const Json null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

// Reads the JSON of one variable.
class ConfigParser {
 public:
  explicit ConfigParser(std::string source) : source_(std::move(source)) {}

  TaskConfig Parse(const Json& json) {
    TaskConfig config;
    config.source = source_;
    const char* key = Member(json, "cluster").is_null() ? "sparseCluster" : "cluster";
    ParseCluster(ObjectOrNull(json, key), &config);
    ObjectOrNull(json, "service");
    const Json& task = ObjectOrNull(json, "task");
    if (!task.is_null()) {
      config.type = LowerCase(TextOrEmpty(task, "task.type", "type"));
      config.index = ParseIndex(Member(task, "index"));
    }
    config.environment = TextOrEmpty(json, "environment", "environment");
    config.model_dir = TextOrEmpty(json, "model_dir", "model_dir");
    if (config.model_dir.empty() && Member(json, "model_dir").is_string()) {
      throw InvalidArgument("\"model_dir\" of {} is empty; name a directory or leave it out",
                            source_);
    }
    config.session_master = TextOrEmpty(json, "session_master", "session_master");
    config.evaluation_master = TextOrEmpty(json, "eval_session_master", "eval_session_master");
    return config;
  }

  void ParseCluster(const Json& json, TaskConfig* config) {
    if (json.is_null()) return;
    std::map<std::string, std::string> taken;  // address → task
    for (const auto& [name, tasks] : json.items()) {
      const std::string job = LowerCase(name);
      if (config->cluster.contains(job)) {
        throw InvalidArgument("the cluster of {} has the job \"{}\" twice", source_, job);
      }
      std::vector<std::string> addresses =
          tasks.is_object() ? Sparse(job, tasks) : List(job, tasks);
      config->dynamic = config->dynamic || tasks.is_object();
      for (size_t i = 0; i < addresses.size(); ++i) {
        if (addresses[i].empty()) continue;
        CheckAddress(job, addresses[i]);
        const std::string task = job + " " + std::to_string(i);
        const auto [other, is_new] = taken.emplace(addresses[i], task);
        if (!is_new && job != "evaluator") {
          throw InvalidArgument("{} and {} of the cluster of {} have the same address {}",
                                other->second, task, source_, addresses[i]);
        }
      }
      if (!addresses.empty()) config->cluster[job] = std::move(addresses);
    }
  }

 private:
  const Json& ObjectOrNull(const Json& json, const char* key) const {
    const Json& value = Member(json, key);
    if (!value.is_null() && !value.is_object()) {
      throw InvalidArgument("\"{}\" of {} must be a JSON object, not {}", key, source_,
                            value.dump().substr(0, 80));
    }
    return value;
  }

  std::string TextOrEmpty(const Json& object, const char* key, const char* member) const {
    const Json& value = Member(object, member);
    if (value.is_null()) return "";
    if (!value.is_string()) {
      throw InvalidArgument("\"{}\" of {} must be a text, not {}", key, source_,
                            value.dump().substr(0, 80));
    }
    return value.get<std::string>();
  }

  // Nothing when the task has no index.
  std::optional<int> ParseIndex(const Json& json) const {
    if (json.is_null()) return std::nullopt;
    int32_t index = -1;
    const bool number =
        json.is_number_integer()
            ? ParseNumber(json.dump(), &index)
            : json.is_string() && ParseNumber(json.get_ref<const std::string&>(), &index);
    if (!number || index < 0 || index >= kMostTasks) {
      throw InvalidArgument("the task index of {} must be an integer of at least 0, not {}",
                            source_, json.dump().substr(0, 80));
    }
    return index;
  }

  [[noreturn]] void ThrowNoAddresses(const std::string& job, const Json& tasks) const {
    throw InvalidArgument(
        "job \"{}\" of the cluster of {} must be a list of addresses [\"host:port\", ...], not {}",
        job, source_, tasks.dump().substr(0, 80));
  }

  std::vector<std::string> List(const std::string& job, const Json& tasks) const {
    if (!tasks.is_array()) ThrowNoAddresses(job, tasks);
    std::vector<std::string> addresses;
    for (const Json& task : tasks) {
      if (!task.is_string()) ThrowNoAddresses(job, tasks);
      if (!task.get_ref<const std::string&>().empty()) addresses.push_back(task);
    }
    return addresses;
  }

  std::vector<std::string> Sparse(const std::string& job, const Json& tasks) const {
    std::vector<std::string> addresses;
    for (const auto& [key, task] : tasks.items()) {
      int32_t index = -1;
      if (!ParseNumber(key, &index) || index < 0 || index >= kMostTasks || !task.is_string()) {
        throw InvalidArgument(
            "job \"{}\" of the cluster of {} must be an object like {{\"0\": \"host:port\"}}, not "
            "{}",
            job, source_, tasks.dump().substr(0, 80));
      }
      if (static_cast<size_t>(index) >= addresses.size()) addresses.resize(index + 1);
      addresses[index] = task;
    }
    return addresses;
  }

  void CheckAddress(const std::string& job, const std::string& address) const {
    try {
      ParseAddress(address);
    } catch (const Error& e) {
      throw InvalidArgument("job \"{}\" of the cluster of {}: {}", job, source_, e.message());
    }
  }

  const std::string source_;
};

Json ParseObject(std::string_view text, const std::string& source) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    throw InvalidArgument(
        "{} must be a JSON object like {{\"cluster\": ..., \"task\": ...}}, not '{}'; unset it to "
        "run in one process",
        source, text.substr(0, 80));
  }
  return json;
}

int NumberOf(const Variables& variables, const char* name, int least) {
  const char* text = variables(name);
  int32_t number = -1;
  if (text == nullptr || !ParseNumber(text, &number) || number < least || number > kMostTasks) {
    throw InvalidArgument("{} must be an integer of at least {}, not '{}'", name, least,
                          text == nullptr ? "" : text);
  }
  return number;
}

// Vertex AI numbers its pools.
void NamePools(TaskConfig* config) {
  const std::map<std::string, std::string> roles = {{"workerpool0", "chief"},
                                                    {"workerpool1", "worker"},
                                                    {"workerpool2", "ps"},
                                                    {"workerpool3", "evaluator"}};
  for (const auto& [pool, role] : roles) {
    if (config->type == pool) config->type = role;
    auto found = config->cluster.extract(pool);
    if (found.empty()) continue;
    found.key() = role;
    config->cluster.insert(std::move(found));
  }
}

TaskConfig OfClusterSpec(const char* text, const Variables& variables) {
  const Json json = ParseObject(text, "CLUSTER_SPEC");
  if (json.contains("cluster") || variables("JOB_NAME") == nullptr) {
    TaskConfig config = ConfigParser("CLUSTER_SPEC").Parse(json);
    NamePools(&config);
    return config;
  }
  TaskConfig config;
  config.source = "CLUSTER_SPEC";
  ConfigParser("CLUSTER_SPEC").ParseCluster(json, &config);
  config.type = LowerCase(variables("JOB_NAME"));
  config.index = NumberOf(variables, "TASK_INDEX", 0);
  return config;
}

// The hosts of a TrainJob are "NAME-node-0-<rank>.NAME"; PET_MASTER_ADDR is that of rank 0.
TaskConfig OfTrainJob(const Variables& variables) {
  TaskConfig config;
  config.source = "PET_NNODES";
  const int nodes = NumberOf(variables, "PET_NNODES", 1);
  const int rank = NumberOf(variables, "PET_NODE_RANK", 0);
  if (rank >= nodes) {
    throw InvalidArgument("PET_NODE_RANK {} is out of range: PET_NNODES is {}", rank, nodes);
  }
  config.type = rank == 0 ? "chief" : "worker";
  config.index = rank == 0 ? 0 : rank - 1;
  const char* master = variables("PET_MASTER_ADDR");
  const std::string host = master == nullptr ? "" : master;
  const std::string port = ":" + std::to_string(NumberOf(variables, "PET_MASTER_PORT", 1));
  const std::string mark = "-node-0-0";
  const size_t at = host.find(mark);
  if (nodes > 1 && at == std::string::npos) {
    throw InvalidArgument(
        "PET_MASTER_ADDR '{}' is not of the form NAME-node-0-0.NAME, so the other hosts are not "
        "known; set TF_CONFIG",
        host);
  }
  config.cluster["chief"] = {host + port};
  for (int i = 1; i < nodes; ++i) {
    config.cluster["worker"].push_back(host.substr(0, at) + "-node-0-" + std::to_string(i) +
                                       host.substr(at + mark.size()) + port);
  }
  return config;
}

}  // namespace

TaskConfig ParseTaskConfig(std::string_view json, const std::string& source) {
  return ConfigParser(source).Parse(ParseObject(json, source));
}

std::optional<TaskConfig> FindTaskConfig(const Variables& variables) {
  if (const char* text = variables("TF_CONFIG")) return ParseTaskConfig(text);
  if (const char* text = variables("CLUSTER_SPEC")) return OfClusterSpec(text, variables);
  if (variables("PET_NNODES") != nullptr) return OfTrainJob(variables);
  return std::nullopt;
}

}  // namespace sextant::dist
