// How the tasks of a cluster share out the training data: RunConfig::cluster.input_sharding.
//
//   leases   in blocks that the coordinator gives to the workers, each record once per epoch
//            (data/block_leases.h); blocks of a worker that dies go to others
//   fixed    in blocks assigned by rank
//   none     every worker reads all of it, in an order of its own
#pragma once

#include <memory>

#include "sextant/estimator/input_fn.h"
#include "sextant/estimator/run_config.h"
#include "sextant/runtime/cluster.h"

namespace sextant {

// What this task reads of the data that `input_fn` gives. Input that is made of nodes is left as it
// is.
InputFn ShareOutInput(const InputFn& input_fn, const RunConfig& config,
                      const std::shared_ptr<Cluster>& cluster);

}  // namespace sextant
