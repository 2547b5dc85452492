// LocalCluster: tasks that run fragments inside this process, to test how graphs are cut and run
// without a network.
//
//   LocalCluster cluster({"/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0"});
//   Session session(graph, {}, cluster.environment(0));      // runs on the first, calls the second
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sextant/device/remote_task.h"
#include "sextant/runtime/session_environment.h"

namespace sextant {

class LocalCluster : public RemoteTasks {
 public:
  explicit LocalCluster(const std::vector<std::string>& tasks, int devices_per_task = 1);
  ~LocalCluster() override;

  SessionEnvironment environment(size_t task);
  RemoteTask& Find(std::string_view task) override;
  std::vector<Device*> Devices(std::string_view task) override;
  void EndSession(uint64_t session) noexcept override;

  // Calls made so far, those under way, and the bytes of all tensors that went to a task, came back
  // or went from one to another.
  int calls() const { return calls_; }
  int running() const { return running_; }
  int64_t bytes() const { return bytes_; }
  // Runs of which a task keeps tensors, fragments that it has been given, and Plans made for them.
  size_t kept_runs(size_t task) const;
  size_t sessions(size_t task) const;  // of which a task keeps state
  size_t fragments(size_t task) const;
  int plans(size_t task) const;

  // As a process that ends and is started again: variables and fragments are gone.
  void Restart(size_t task);
  // Called by every call before it runs, on its own thread.
  void set_on_call(std::function<void(const Fragment&, CancellationToken&)> on_call) {
    on_call_ = std::move(on_call);
  }

 private:
  class Task;
  class Call;

  std::vector<std::unique_ptr<Task>> tasks_;
  std::function<void(const Fragment&, CancellationToken&)> on_call_;
  std::atomic<int> calls_ = 0, running_ = 0;
  std::atomic<int64_t> bytes_ = 0;
};

}  // namespace sextant
