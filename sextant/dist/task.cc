#include "sextant/dist/task.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/parse_number.h"

namespace sextant::dist {
namespace {

using Json = nlohmann::json;

// The member, or a null of the whole program when it is missing.
const Json& Member(const Json& object, const char* key) {
  static const Json null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

const Json& ObjectOrNull(const Json& config, const char* key) {
  const Json& value = Member(config, key);
  if (!value.is_null() && !value.is_object()) {
    throw InvalidArgument("\"{}\" of TF_CONFIG must be a JSON object, not {}", key, value.dump());
  }
  return value;
}

std::string TextOrEmpty(const Json& object, const std::string& key, const char* member) {
  const Json& value = Member(object, member);
  if (value.is_null()) return "";
  if (!value.is_string()) {
    throw InvalidArgument("\"{}\" of TF_CONFIG must be a text, not {}", key, value.dump());
  }
  return value.get<std::string>();
}

ClusterSpec ParseCluster(const Json& json) {
  ClusterSpec cluster;
  if (json.is_null()) return cluster;
  for (const auto& [job, tasks] : json.items()) {
    const bool texts =
        tasks.is_array() && std::all_of(tasks.begin(), tasks.end(), [](const Json& t) {
          return t.is_string() && !t.get_ref<const std::string&>().empty();
        });
    if (!texts) {
      throw InvalidArgument(
          "job \"{}\" of the cluster of TF_CONFIG must be a list of addresses [\"host:port\", "
          "...], "
          "not {}",
          job, tasks.dump());
    }
    cluster[job] = tasks.get<std::vector<std::string>>();
  }
  return cluster;
}

// Nothing when the task has no index.
std::optional<int> ParseIndex(const Json& task) {
  const Json& json = Member(task, "index");
  if (json.is_null()) return std::nullopt;
  int32_t index = -1;
  const bool number =
      json.is_number_integer()
          ? ParseNumber(json.dump(), &index)
          : json.is_string() && ParseNumber(json.get_ref<const std::string&>(), &index);
  if (!number || index < 0) {
    throw InvalidArgument("the task index of TF_CONFIG must be an integer of at least 0, not {}",
                          json.dump());
  }
  return index;
}

int CountOf(const ClusterSpec& cluster, const std::string& job) {
  const auto found = cluster.find(job);
  return found == cluster.end() ? 0 : static_cast<int>(found->second.size());
}

std::string JobNames(const ClusterSpec& cluster) {
  std::string names;
  for (const auto& [job, tasks] : cluster) {
    names += (names.empty() ? "" : ", ") + job + " (" + std::to_string(tasks.size()) + ")";
  }
  return names;
}

int GlobalId(const Task& task, const std::string& chief) {
  int id = 0;
  const auto passed = [&](const std::string& job) {
    if (job == task.type) return true;
    id += CountOf(task.cluster, job);
    return false;
  };
  if (passed(chief)) return task.index;
  for (const auto& [job, tasks] : task.cluster) {
    if (job != chief && job != "ps" && passed(job)) return id + task.index;
  }
  return id + task.index;
}

// The task of a process on its own.
void CheckLocal(const Task& task) {
  if (task.type != "worker" || task.index != 0) {
    throw InvalidArgument(
        "TF_CONFIG names task {} {} but no cluster; add \"cluster\", or leave \"task\" out to run "
        "in "
        "one process",
        task.type, task.index);
  }
}

void CheckChief(const Task& task, const std::string& chief) {
  if (task.cluster.contains("chief") && task.cluster.contains("master")) {
    throw InvalidArgument(
        "the cluster of TF_CONFIG has both a \"chief\" and a \"master\"; keep one");
  }
  const int chiefs = CountOf(task.cluster, chief);
  if (chief == "worker" ? chiefs == 0 : chiefs != 1) {
    throw InvalidArgument(
        "the cluster of TF_CONFIG must have exactly one \"chief\" (or \"master\"), but has the "
        "jobs "
        "{}{}",
        JobNames(task.cluster),
        chiefs == 0
            ? "; name one of its workers chief, or set \"environment\" to \"local\" to make "
              "worker 0 the chief"
            : "");
  }
}

void CheckTask(const Task& task) {
  if (task.type == "evaluator" && task.cluster.contains("master")) {
    throw InvalidArgument(
        "TF_CONFIG names an evaluator, but a cluster with a \"master\" evaluates there; name it "
        "\"chief\" to have evaluators");
  }
  if (task.type == "evaluator") return;
  if (!task.cluster.contains(task.type)) {
    throw InvalidArgument("task type \"{}\" of TF_CONFIG is not a job of its cluster, which has {}",
                          task.type, JobNames(task.cluster));
  }
  if (task.index >= CountOf(task.cluster, task.type)) {
    throw InvalidArgument("task index {} of TF_CONFIG is out of range: its cluster has {}",
                          task.index, JobNames(task.cluster));
  }
}

std::string MasterOf(const Task& task) {
  if (task.cluster.size() == 1 && task.cluster.begin()->second.size() == 1) return "";
  return "grpc://" + task.cluster.at(task.type)[task.index];
}

void FillInCluster(Task& task, const std::string& session_master, bool rules_of_2017) {
  const bool cloud = task.environment == "cloud" || task.cluster.contains("master");
  const std::string chief = rules_of_2017                     ? (cloud ? "master" : "worker")
                            : task.cluster.contains("master") ? "master"
                                                              : "chief";
  CheckChief(task, chief);
  CheckTask(task);
  if (task.type == "evaluator") {
    task.cluster.clear();
    task.num_ps = task.num_workers = 0;
    task.is_chief = false;
    task.global_id.reset();
    return;
  }
  task.master = session_master.empty() ? MasterOf(task) : session_master;
  task.evaluation_master.clear();
  task.num_ps = CountOf(task.cluster, "ps");
  task.num_workers = CountOf(task.cluster, "worker");
  if (!rules_of_2017) task.num_workers += CountOf(task.cluster, chief);
  if (rules_of_2017 && task.num_workers == 0) task.num_workers = 1;
  task.is_chief = task.type == chief && task.index == 0;
  task.global_id = GlobalId(task, chief);
}

}  // namespace

Task TaskFromTfConfig(std::string_view text) {
  const Json config = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) {
    throw InvalidArgument(
        "TF_CONFIG must be a JSON object like {{\"cluster\": ..., \"task\": ...}}, not '{}'; unset "
        "it "
        "to run in one process",
        text.substr(0, 80));
  }
  Task task;
  task.cluster = ParseCluster(ObjectOrNull(config, "cluster"));
  ObjectOrNull(config, "service");
  const Json& spec = ObjectOrNull(config, "task");
  const std::string type = spec.is_null() ? "" : TextOrEmpty(spec, "task.type", "type");
  const std::optional<int> index = spec.is_null() ? std::nullopt : ParseIndex(spec);
  const std::string environment = TextOrEmpty(config, "environment", "environment");
  if (!environment.empty()) task.environment = environment;
  task.model_dir = TextOrEmpty(config, "model_dir", "model_dir");
  if (task.model_dir.empty() && Member(config, "model_dir").is_string()) {
    throw InvalidArgument("\"model_dir\" of TF_CONFIG is empty; name a directory or leave it out");
  }
  const std::string session_master = TextOrEmpty(config, "session_master", "session_master");
  task.evaluation_master = TextOrEmpty(config, "eval_session_master", "eval_session_master");

  if (!type.empty()) task.type = type;
  task.index = index.value_or(0);
  if (task.cluster.empty()) {
    CheckLocal(task);
    task.master = session_master;
    return task;
  }
  const bool rules_of_2017 =
      (environment == "cloud" || environment == "local") && !task.cluster.contains("chief");
  if (type.empty() || (!index && !rules_of_2017)) {
    throw InvalidArgument(
        "TF_CONFIG has a cluster ({}) but no task {}; add \"task\": {{\"type\": ..., \"index\": "
        "...}}",
        JobNames(task.cluster), type.empty() ? "type" : "index");
  }
  FillInCluster(task, session_master, rules_of_2017);
  return task;
}

Task TaskFromEnvironment() {
  const char* text = std::getenv("TF_CONFIG");
  return text == nullptr ? Task() : TaskFromTfConfig(text);
}

}  // namespace sextant::dist
