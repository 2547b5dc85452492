#include "sextant/testing/test_cluster.h"

#include <atomic>

#include "sextant/base/error.h"
#include "sextant/base/free_ports.h"
#include "sextant/graph/graph_def.h"
#include "sextant/proto/graph.pb.h"

namespace sextant::dist {

TestCluster::TestCluster(int tasks, const ServerOptions& options) : options_(options) {
  options_.job = "ps";
  // Another process may be given a port between its choice and its use.
  for (int tries_left = 10;; --tries_left) {
    ports_ = FreePorts(tasks);
    options_.cluster.clear();
    for (const int port : ports_)
      options_.cluster["ps"].push_back("127.0.0.1:" + std::to_string(port));
    servers_.clear();
    servers_.resize(static_cast<size_t>(tasks));
    try {
      for (int task = 0; task < tasks; ++task) Start(task);
      return;
    } catch (const Error& error) {
      if (error.code() != Code::kUnavailable || tries_left == 0) throw;
    }
  }
}

void TestCluster::Start(int task) {
  ServerOptions options = options_;
  options.task = task;
  servers_[static_cast<size_t>(task)] = std::make_unique<Server>(options);
}

std::shared_ptr<Peer> TestCluster::NewPeer(int task, const std::string& address) const {
  return std::make_shared<Peer>(
      PeerOptions{.task = TaskName("ps", task),
                  .address = address.empty() ? AddressOf(spec(), "ps", task) : address,
                  .own_task = "",
                  .credentials = options_.credentials,
                  .shared_frames = options_.shared_frames});
}

std::shared_ptr<Fragment> MakeFragment(const Graph& graph, int task,
                                       const std::vector<Output>& feeds,
                                       const std::vector<Output>& fetches,
                                       const std::vector<Operation>& targets) {
  auto fragment = std::make_shared<Fragment>();
  fragment->task = TaskName("ps", task);
  fragment->graph_def = ExportGraphDef(graph).SerializeAsString();
  for (const Output& feed : feeds) fragment->feeds.push_back(feed.name());
  for (const Output& fetch : fetches) fragment->fetches.push_back(fetch.name());
  for (const Operation& target : targets) fragment->targets.emplace_back(target.name());
  static std::atomic<uint64_t> next_fingerprint = 1;
  fragment->fingerprint = next_fingerprint++;
  return fragment;
}

Tensor Call(Peer& peer, const std::shared_ptr<const Fragment>& fragment, std::vector<Tensor> inputs,
            CancellationToken* cancellation) {
  CancellationToken never;
  std::vector<Tensor> outputs(fragment->fetches.size());
  peer.Start(fragment, 1, std::move(inputs))->Wait(outputs, cancellation ? *cancellation : never);
  return outputs.empty() ? Tensor() : outputs[0];
}

CounterFragments::CounterFragments(int task) {
  const GraphScope use(graph);
  const Variable w("w", Tensor(int64_t{0}));
  const Output value = w.Read();
  const Output after = w.AssignAdd(Const(Tensor(int64_t{1})));
  init = MakeFragment(graph, task, {}, {}, {w.initializer()});
  add = MakeFragment(graph, task, {}, {after});
  read = MakeFragment(graph, task, {}, {value});
  for (Fragment* fragment : {init.get(), add.get(), read.get()}) fragment->variables = {"w"};
}

}  // namespace sextant::dist
