// Server: a task of a cluster. It runs parts of graphs that sessions of other tasks give it, on
// devices and variables of its own.
//
//   const dist::ClusterSpec cluster = dist::ParseClusterSpec("worker|localhost:0");
//   dist::Server server({.cluster = cluster, .job = "worker"});
//   Session session(graph, {.target = server.target()});
//   ...
//   server.Join();          // serve until another thread calls Stop
//
// It runs any graph it is given, so trusted clients only should reach it: see CredentialOptions.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/dist/cluster_spec.h"
#include "sextant/net/credential_options.h"
#include "sextant/runtime/session.h"

#pragma GCC visibility push(default)

namespace sextant {
struct StalenessLimit;
}

namespace sextant::dist {

class CoordinatorHost;
class Peers;
class StepCommit;
class TrainingTask;
struct CoordinatorOptions;
struct TrainingStamp;

struct SEXTANT_API ServerOptions {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  SessionOptions session = {};  // threads, devices and memory of what it runs
  net::CredentialOptions credentials = net::CredentialsFromEnvironment();
  // Whether graphs of other processes may run ops that open files.
  bool allow_files = false;
  // Whether frames between tasks of this host go through shared memory (shared_frames.h); the
  // environment variable SEXTANT_SHARED_FRAMES=0 switches it off too.
  bool shared_frames = true;
  // Calls and sessions of clients and tasks that have been silent for this time are ended, and what
  // is kept for them is dropped. The same for all tasks of a cluster.
  std::chrono::milliseconds lease = std::chrono::minutes(1);
  std::string bind_host = {};  // "": as BindAddress says
  // Called when the files of the credentials have been read, before a client can connect.
  std::function<void()> before_listening = {};
  // Of a task that trains in a cluster (training_task.h): what its calls carry, and, where it is
  // the one that coordinates, whom it coordinates.
  std::shared_ptr<const TrainingStamp> training = {};
  std::shared_ptr<const CoordinatorOptions> coordinator = {};
  // How the parts of synchronous updates here agree to run (step_commit.h).
  std::shared_ptr<StepCommit> commit = {};
  std::shared_ptr<const StalenessLimit> staleness = {};  // of updates; none: there is no limit
};

class SEXTANT_API Server {
 public:
  // Listens. Throws INVALID_ARGUMENT for a task that is not in the cluster and for credentials that
  // are incomplete, as a CA without a certificate; UNAVAILABLE, naming the address, when it cannot
  // be listened at.
  explicit Server(const ServerOptions& options);
  // Stops. Sessions of this process that run here must have been destroyed.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "grpc://localhost:2500": what sessions name to run here.
  const std::string& target() const;
  // The port it listens at, also where the system chose it.
  int port() const;
  // "/job:worker/replica:0/task:0"
  const std::string& task() const;

  // Waits until Stop has ended.
  void Join();
  // Refuses new calls, lets those that run end and cancels those that go on for two seconds. May be
  // called from any thread; when it returns, or Join does, no thread stops the server any more.
  void Stop();

  // For sessions of this process that run on the task. Valid as long as the server.
  SessionEnvironment environment() const;
  // The server of this process with that target, or null.
  static Server* Find(const std::string& target);

 private:
  friend class TrainingTask;
  Peers& peers();
  uint64_t incarnation() const;
  CoordinatorHost* coordinator();

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::dist

#pragma GCC visibility pop
