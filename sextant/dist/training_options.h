// What the options of a training task (runtime/cluster.h) mean for its coordinator.
#pragma once

#include <cstdint>
#include <memory>

#include "sextant/dist/coordinator.h"
#include "sextant/runtime/cluster.h"

namespace sextant::dist {

// The same for tasks that mean the same cluster.
uint64_t ClusterHash(const ClusterTaskOptions& options);
std::shared_ptr<const CoordinatorOptions> OptionsOfCoordinator(const ClusterTaskOptions& options);

}  // namespace sextant::dist
