// CoordinatorClient: the RPC client of the coordinator in parameter server 0 (coordinator.h).
//
//   CoordinatorClient client({.member = {"worker", 1}, .rank = 2, .address = "ps0:2222", …});
//   client.Join();               // the first of many: a thread now sends a heartbeat each second
//   client.answer().state;       // as the last heartbeat was answered
//
// Questions are sent again as long as the coordinator cannot be reached, until the token is
// cancelled or it has been away for too long: then UNAVAILABLE. A task that waits is told within 5
// s, then every 30 s, for whom and why. A lease that has ended is taken again by the heartbeats.
//
// Blocks of input add their methods here: each is a message pair in proto/cluster.proto, a method
// of CoordinatorService and one line of coordinator_client.cc.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/dist/coordinator.h"
#include "sextant/net/token.h"
#include "sextant/proto/cluster.grpc.pb.h"

namespace sextant::dist {

struct CoordinatorClientOptions {
  TaskId member;
  uint64_t incarnation = 0;
  std::optional<int> rank = {};  // of tasks that train
  std::string address;           // of the coordinator
  uint64_t cluster = 0;          // hash of the cluster spec
  std::chrono::milliseconds heartbeat{1000};
  std::chrono::milliseconds lost{600'000};  // how long it may be away
  net::CredentialOptions credentials = {};
  // The token that ends waits now; must outlive the client.
  std::function<CancellationToken&()> cancellation = {};
};

// Thread-safe.
class CoordinatorClient {
 public:
  explicit CoordinatorClient(CoordinatorClientOptions options);
  // Without leaving: the lease ends by itself.
  ~CoordinatorClient();

  const TaskId& member() const { return options_.member; }
  uint64_t incarnation() const { return options_.incarnation; }

  // Asks once, and keeps the membership from then on. Throws ALREADY_EXISTS when another process is
  // this task, FAILED_PRECONDITION when the cluster specs differ.
  MemberAnswer Join();
  // Asks until the answer is not "wait". Throws DEADLINE_EXCEEDED after this time.
  MemberAnswer JoinAndWait(std::chrono::milliseconds time);
  // The last answer to a heartbeat.
  MemberAnswer answer() const;
  // Waits until the answer to a heartbeat is one that `enough` takes, but not longer. Whether it
  // is.
  bool AwaitAnswer(const std::function<bool(const MemberAnswer&)>& enough,
                   std::chrono::milliseconds time);
  // Whether the chief was a member when it answered last.
  bool has_chief() const;
  // Since when it has not answered.
  std::chrono::steady_clock::duration silence() const;
  // Throws UNAVAILABLE when the coordinator has been away for too long, ALREADY_EXISTS when another
  // process has taken the place of this one.
  void ThrowIfLost() const;
  // A global step of this epoch; of a new epoch, the largest one counts from anew.
  void SawStep(uint64_t epoch, int64_t step);
  // Tasks that are expected and not there, "worker 1, ps 0", behind the prefix; "" when there are
  // none or nobody waits for them.
  std::string missing(const std::string& prefix) const;
  // No more heartbeats.
  void Leave();
  // Questions that wait for an answer, and all later ones, are CANCELLED.
  void Close() { closed_ = true; }

  void EndOfData();
  void RequestStop(const std::string& reason);
  uint64_t BeginEpoch(uint64_t at_least);
  void CommitEpoch(uint64_t epoch, int64_t step,
                   const std::optional<TokenOptions>& synchronous = {});
  void Adopt(uint64_t epoch);
  bool MaySave();
  std::vector<TaskId> Members();
  void Finish();

  // One question each, which is answered within a second: none and false mean to ask again.
  std::optional<StepToken> TakeToken(uint64_t epoch);
  void UsedToken(uint64_t epoch, const StepToken& token, const std::string& state);
  bool MayBegin(uint64_t epoch, int64_t clock);
  bool PartReady(const UpdatePart& part, uint64_t epoch, int64_t step);
  void PartRan(const UpdatePart& part, uint64_t epoch, int64_t step);
  void StepFailed(uint64_t epoch, const Status& why);
  bool HoldSteps(uint64_t cut);
  // Whether they were held for this cut until now.
  bool ReleaseSteps(uint64_t cut);
  BlockAnswer NextBlock(const BlockQuestion& question);
  void DescribeInput(const std::string& source, const std::vector<std::string>& blocks);
  ClusterRunState SaveRunState();
  void RestoreRunState(const ClusterRunState& state);
  void NoteRunState(int64_t step, const std::string& state);
  std::string TakeRunState();

 private:
  using Clock = std::chrono::steady_clock;
  using Method = std::function<grpc::Status(grpc::ClientContext*)>;

  void FillMember(MemberId* member) const;
  // Sends until there is an answer; throws errors that are not transient.
  void Ask(const char* what, const Method& method);
  void Beat();
  void Heartbeats();
  void Note(const MemberReply& reply);
  MemberReply JoinOnce();

  const CoordinatorClientOptions options_;
  const net::Token token_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<CoordinatorService::Stub> stub_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  MemberAnswer answer_;
  std::string missing_;
  uint64_t own_epoch_ = 0;
  int64_t own_step_ = 0;
  Clock::time_point heard_ = Clock::now();  // when it answered last
  std::string why_silent_;                  // why it has not since
  Status replaced_;                         // by another process
  bool joined_ = false, ended_ = false, has_chief_ = false;
  std::atomic<bool> closed_ = false;
  std::thread heartbeats_;
};

}  // namespace sextant::dist
