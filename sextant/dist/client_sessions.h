// ClientSessions: the sessions of clients that are no task, by handle. A session is kept by its
// client: one that has been silent for a lease is gone, and its session is closed. Variables are
// the task's and stay.
//
// A lease is counted in looks, not in seconds: time in which this process was stopped, and could
// hear nobody, does not count. Thread-safe. Knows no gRPC.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sextant/proto/cluster.pb.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/runtime/session_environment.h"

namespace sextant::dist {

// The length of a lease, in looks.
inline constexpr int kLooksPerLease = 12;

class ClientSession {
 public:
  // "options" and "environment" are those of the task.
  ClientSession(proto::GraphDef graph, SessionOptions options, SessionEnvironment environment);
  ~ClientSession();

  // Nodes that the client's graph has got. Those whose number is not above that of the last
  // extension have come twice, or too late.
  void Extend(uint64_t number, int nodes_before, const proto::GraphDef& added);
  std::vector<Tensor> Run(const NamedFeeds& feeds, const std::vector<std::string>& fetches,
                          const std::vector<std::string>& targets, CancellationToken& cancellation,
                          StepTrace* trace);
  // Ends the runs with that status.
  void Close(const Status& why) { closed_.Cancel(why); }

  std::vector<const Device*> devices() const;
  void FillStatus(ClientSessionStatus* status) const;

 private:
  struct Version;
  std::shared_ptr<Version> version() const;

  const SessionOptions options_;
  SessionEnvironment environment_;  // in which all versions are one session
  const std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
  CancellationToken closed_;
  std::atomic<uint32_t> running_ = 0;
  mutable std::mutex mutex_;
  proto::GraphDef graph_;
  std::shared_ptr<Version> version_;
  uint64_t extended_ = 0;  // number of the last extension
};

class ClientSessions {
 public:
  // False where there is one of that handle.
  bool Add(const std::string& handle, std::shared_ptr<ClientSession> session);
  // The session, whose lease begins anew; null where there is none.
  std::shared_ptr<ClientSession> Find(const std::string& handle);
  void Close(const std::string& handle);
  // Called at regular intervals: closes sessions whose lease has ended. Gives their handles.
  std::vector<std::string> Look();
  void FillStatus(StatusReply* reply) const;

 private:
  struct Entry {
    std::shared_ptr<ClientSession> session;
    int silent = 0;  // looks since its client was heard
  };
  mutable std::mutex mutex_;
  std::map<std::string, Entry> sessions_;
};

}  // namespace sextant::dist
