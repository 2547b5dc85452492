// TaskSession: what a session has in a cluster beside its graph: the number that other tasks know
// it by, and what it does not share with other sessions of its own task.
#pragma once

#include <cstdint>

#include "sextant/base/export.h"
#include "sextant/device/remote_task.h"
#include "sextant/device/resource_manager.h"

namespace sextant {

class SEXTANT_API TaskSession {
 public:
  // "shared", of the task that the session runs on, and "tasks" outlive it.
  TaskSession(ResourceManager& shared, RemoteTasks& tasks);
  // The other tasks forget what they keep for the session.
  ~TaskSession() { tasks_.EndSession(id_); }
  TaskSession(const TaskSession&) = delete;
  TaskSession& operator=(const TaskSession&) = delete;

  uint64_t id() const { return id_; }
  ResourceManager& resources() { return resources_; }

 private:
  const uint64_t id_;
  RemoteTasks& tasks_;
  ResourceManager resources_;
};

}  // namespace sextant
