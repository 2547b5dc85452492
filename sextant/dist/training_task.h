// TrainingTask: a task of a cluster that trains, as train and estimator see it (runtime/cluster.h):
// a server, a line to the coordinator, and the shards on all parameter servers.
#pragma once

#include "sextant/runtime/cluster.h"

namespace sextant::dist {

std::unique_ptr<Cluster> OpenTrainingTask(const ClusterTaskOptions& options);

}  // namespace sextant::dist
