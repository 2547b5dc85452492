// What is different in a training (training.h) whose process is a task of a cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sextant/estimator/run_config.h"
#include "sextant/graph/graph.h"
#include "sextant/nn/get_variable.h"
#include "sextant/runtime/cluster.h"

namespace sextant::train {
class MonitoredSession;
}

namespace sextant {

// This process as the task that RunConfig::task says. Throws UNIMPLEMENTED, naming it, for what
// does not work in a cluster, and what OpenCluster throws.
std::shared_ptr<Cluster> OpenClusterOf(const RunConfig& config, std::optional<int64_t> max_steps);

// How layers cut their variables (RunConfig::cluster.partition_bytes); none: not at all.
Partitioner PartitionerOf(const RunConfig& config);

// Puts the variables of the model on the parameter servers.
void PlaceInCluster(Graph& graph, const RunConfig& config);

// The steps of this task are done. Workers just leave. The chief waits until the others are done
// too, saving checkpoints that are due meanwhile.
void EndInCluster(Cluster& cluster, train::MonitoredSession& session, bool data_ended);

}  // namespace sextant
