#include "sextant/runtime/task_session.h"

#include "sextant/runtime/cluster_ids.h"

namespace sextant {

TaskSession::TaskSession(ResourceManager& shared, RemoteTasks& tasks)
    : id_(NewClusterId()), tasks_(tasks), resources_(&shared) {}

}  // namespace sextant
