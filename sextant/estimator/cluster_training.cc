#include "sextant/estimator/cluster_training.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/dist/placement.h"
#include "sextant/train/monitored_session.h"

namespace sextant {
namespace {

using ClusterClock = std::chrono::steady_clock;

// For others to end their steps when all are to stop.
constexpr std::chrono::seconds kDrainTime(30);
constexpr std::chrono::milliseconds kLookTime(100);

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

StalenessLimit LimitOf(const ClusterConfig& cluster) {
  return {.most = cluster.max_staleness,
          .beyond = cluster.stale_updates == "drop"    ? StaleUpdates::kDrop
                    : cluster.stale_updates == "scale" ? StaleUpdates::kScale
                                                       : StaleUpdates::kBlock};
}

void CheckConfig(const RunConfig& config) {
  const dist::Task& task = config.task;
  if (task.num_ps == 0) {
    throw Unimplemented(
        "TF_CONFIG names a cluster without parameter servers; add a job \"ps\" to it");
  }
  if (config.train_distribute) {
    throw Unimplemented("train_distribute does not work in a cluster; leave it out");
  }
  if (config.nan_rewinds > 0) {
    throw Unimplemented("nan_rewinds do not work in a cluster; set it to 0");
  }
}

// The tasks that train, by rank.
std::vector<std::pair<std::string, int>> TrainersOf(const dist::Task& task) {
  std::vector<std::pair<std::string, int>> trainers;
  for (const char* job : {"chief", "master", "worker"}) {
    const auto found = task.cluster.find(job);
    if (found == task.cluster.end()) continue;
    for (size_t i = 0; i < found->second.size(); ++i)
      trainers.emplace_back(job, static_cast<int>(i));
  }
  return trainers;
}

}  // namespace

std::shared_ptr<Cluster> OpenClusterOf(const RunConfig& config, std::optional<int64_t> max_steps) {
  CheckConfig(config);
  const dist::Task& task = config.task;
  ClusterTaskOptions options{.jobs = task.cluster,
                             .job = task.type,
                             .index = task.index,
                             .address = task.address,
                             .dynamic = task.dynamic,
                             .trainers = TrainersOf(task),
                             .rank = task.rank,
                             .num_ps = task.num_ps,
                             .max_steps = max_steps,
                             .input_seed = static_cast<uint64_t>(config.random_seed.value_or(0)),
                             .staleness = LimitOf(config.cluster),
                             .lease = Milliseconds(config.cluster.lease_secs),
                             .start_timeout = Milliseconds(config.session_creation_timeout_secs),
                             .peers_lost = Milliseconds(config.cluster.peers_lost_secs),
                             .session = config.session,
                             .cancellation = config.cancellation};
  return OpenCluster(options);
}

Partitioner PartitionerOf(const RunConfig& config) {
  const int64_t least = config.cluster.partition_bytes, servers = config.task.num_ps;
  if (config.task.local() || least == 0 || servers < 2) return {};
  return [least, servers](const Shape& shape, DType dtype) {
    const int64_t bytes = shape.num_elements() * static_cast<int64_t>(DTypeSize(dtype));
    if (dtype == DType::kString || bytes < least || shape.rank() == 0)
      return std::vector<int64_t>(shape.rank(), 1);
    return MinMaxPartitioner(std::min(servers, shape.dim(0)))(shape, dtype);
  };
}

void PlaceInCluster(Graph& graph, const RunConfig& config) {
  const std::vector<int64_t> bytes = dist::PlaceVariables(
      graph, {.num_ps = config.task.num_ps, .round_robin = config.cluster.round_robin});
  LogInfo("Variables are on {} parameter servers, bytes: {}.", bytes.size(),
          fmt::join(bytes, ", "));
}

void EndInCluster(Cluster& cluster, train::MonitoredSession& session, bool data_ended) {
  if (data_ended) {
    cluster.EndOfData();
  } else if (!cluster.stopping() && cluster.is_chief()) {
    cluster.RequestStop("the chief has stopped");
  }
  if (!cluster.is_chief()) return;
  std::optional<ClusterClock::time_point> stop_by;
  while (!cluster.AwaitOthers(std::chrono::milliseconds(0))) {
    if (!stop_by && cluster.stopping()) stop_by = ClusterClock::now() + kDrainTime;
    if (stop_by && ClusterClock::now() >= *stop_by) {
      LogWarning(
          "other tasks still train {} s after they were to stop; the last checkpoint is "
          "saved without them",
          kDrainTime.count());
      break;
    }
    if (!stop_by) session.SaveIfDue();
    CancellationScope::ThrowIfCancelled();
    std::this_thread::sleep_for(kLookTime);
  }
}

}  // namespace sextant
