// SessionEnvironment: what a Session runs in. A Session of its own has devices and variables that
// go with it; one of a task in a cluster shares those of the task and reaches the other tasks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "sextant/graph/output.h"

namespace sextant {

class Device;
class Graph;
class RemoteTasks;
class ResourceManager;
class TaskSession;

// What it points to must outlive the sessions that run in it.
struct SessionEnvironment {
  std::string task;              // "/job:worker/replica:0/task:0"
  std::vector<Device*> devices;  // of this task; the first is where nodes go by default
  std::vector<Device*>
      remote_devices;  // the first of each other task: only names and types are used
  ResourceManager* resources = nullptr;  // of the task: variables and what has a shared name
  RemoteTasks* tasks = nullptr;          // null: there are none, and all resources are the task's
  // Of several Sessions that follow each other and are one to their user; null: it has its own.
  std::shared_ptr<TaskSession> session = {};
  // What is fetched may share buffers with variables: its receiver only reads it.
  bool shares_fetches = false;
  // Feeds that are planned with the shapes that the graph gives them, not with those of a run.
  std::unordered_set<Output> varying_feeds = {};
  // Throws for a graph that may not run here. It is shown what this task is to run, before any of
  // it does: each Plan's nodes, without those of other tasks, and bodies when they are planned.
  std::function<void(const Graph&)> check_graph = {};
};

}  // namespace sextant
