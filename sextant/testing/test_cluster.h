// For tests: servers of one cluster in this process, and fragments made by hand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sextant/device/remote_task.h"
#include "sextant/dist/peer.h"
#include "sextant/dist/server.h"
#include "sextant/sextant.h"

namespace sextant::dist {

class TestCluster {
 public:
  // A cluster with "tasks" tasks of the job "ps", at ports assigned by the system.
  explicit TestCluster(int tasks, const ServerOptions& options = {});

  Server& server(int task) { return *servers_[static_cast<size_t>(task)]; }
  int port(int task) const { return ports_[static_cast<size_t>(task)]; }
  const ClusterSpec& spec() const { return options_.cluster; }
  // As a process that ends and is started again, at the same port.
  void Stop(int task) { servers_[static_cast<size_t>(task)].reset(); }
  void Start(int task);
  // A caller of its own for the task; through another address when one is given.
  std::shared_ptr<Peer> NewPeer(int task, const std::string& address = "") const;

 private:
  ServerOptions options_;
  std::vector<int> ports_;
  std::vector<std::unique_ptr<Server>> servers_;
};

// What the graph computes, for a task of the job "ps". Each has a fingerprint of its own, so that a
// test may still change it before the first call.
std::shared_ptr<Fragment> MakeFragment(const Graph& graph, int task,
                                       const std::vector<Output>& feeds,
                                       const std::vector<Output>& fetches,
                                       const std::vector<Operation>& targets = {});

// Of a fragment with one output.
Tensor Call(Peer& peer, const std::shared_ptr<const Fragment>& fragment,
            std::vector<Tensor> inputs = {}, CancellationToken* cancellation = nullptr);

// A variable "w" of the task, 0 at the start: "init" sets it, "add" adds one and gives the new
// value.
struct CounterFragments {
  explicit CounterFragments(int task);
  Graph graph;
  std::shared_ptr<Fragment> init, add, read;
};

}  // namespace sextant::dist
