#include "sextant/dist/training_options.h"

namespace sextant::dist {

uint64_t ClusterHash(const ClusterTaskOptions& options) {
  if (options.dynamic) return 0;
  std::string text;
  for (const auto& [job, addresses] : options.jobs) {
    text += job + "|";
    for (const std::string& address : addresses) text += address + ";";
  }
  return std::hash<std::string>()(text) | 1;
}

std::shared_ptr<const CoordinatorOptions> OptionsOfCoordinator(const ClusterTaskOptions& options) {
  CoordinatorOptions coordinator;
  coordinator.lease = options.lease;
  coordinator.trainers.clear();
  for (const auto& [job, index] : options.trainers) coordinator.trainers.push_back({job, index});
  coordinator.num_ps = options.num_ps;
  coordinator.cluster = ClusterHash(options);
  coordinator.max_steps = options.max_steps;
  coordinator.input_seed = options.input_seed;
  if (options.staleness.beyond == StaleUpdates::kBlock)
    coordinator.most_lead = options.staleness.most;
  return std::make_shared<const CoordinatorOptions>(std::move(coordinator));
}

}  // namespace sextant::dist
