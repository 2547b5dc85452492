// Peer: another task of the cluster, reached over gRPC: the client's end of calls.
//
// A call is sent again, under the same sequence number, as long as its connection breaks or its
// answer does not come, until the Run is cancelled or past its deadline. A peer that refuses
// connections for longer than a cut of the network lasts is an error at once: its process is gone.
// A peer that was restarted since a session first met it answers with another incarnation: the
// error says which of its variables are lost. A session that meets it later takes it as it is.
//
// Thread-safe. Held by shared_ptr: calls under way keep it.
#pragma once

#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sextant/device/remote_task.h"
#include "sextant/dist/shared_frames.h"
#include "sextant/net/channel.h"
#include "sextant/net/token.h"
#include "sextant/proto/cluster.grpc.pb.h"

namespace sextant::dist {

// What all calls of a training task carry, and how they wait. Set between Runs.
struct TrainingStamp {
  std::atomic<uint64_t> epoch = 0, member = 0, cut = 0;
  // Called by calls that wait for a peer which is gone: it will come back, unless this throws. Not
  // set: they fail.
  std::function<void()> check_wait = {};
};

struct PeerOptions {
  std::string task;      // "/job:ps/replica:0/task:0"; of a client that knows only the address, ""
  std::string address;   // "host:port"
  std::string own_task;  // "" of a client that is no task
  net::CredentialOptions credentials;
  std::shared_ptr<const TrainingStamp> training = {};  // of a task that trains in a cluster
  bool shared_frames = true;  // through shared memory, where the peer is on this host
  // The incarnation of another task that keeps tensors of a run; 0: not known. Not set: of none.
  std::function<uint64_t(const std::string& task, uint64_t run)> keeper = {};
};

class Peer : public RemoteTask, public std::enable_shared_from_this<Peer> {
 public:
  struct Attempt;  // peer_attempt.h

  explicit Peer(PeerOptions options);
  ~Peer() override;

  std::unique_ptr<RemoteCall> Start(std::shared_ptr<const Fragment> fragment, RunId run,
                                    std::vector<Tensor> inputs,
                                    std::optional<StepToken> token = {}) override;
  // Said again by StayAlive until the peer has heard it.
  void EndRun(uint64_t run) noexcept override;
  // As RemoteTasks::EndSession. Likewise.
  void EndSession(uint64_t session) noexcept;

  // Tensors that fragments have kept there, in one frame. Throws ABORTED, naming the task, when the
  // process that kept them is not there any more.
  std::vector<Tensor> FetchKept(KeptHeader wanted, CancellationToken& cancellation);

  // "/job:ps/task:0", or the address as long as nobody has said who is there: for messages.
  std::string place() const;
  const std::string& address() const { return options_.address; }
  const std::shared_ptr<grpc::Channel>& control() const { return control_; }
  const net::Token& token() const { return token_; }
  PeerStatus Status() const;
  // Who is there now; none when nobody answers at once.
  std::optional<uint64_t> AskIncarnation();
  // Says that this process lives, when the peer keeps tensors or state for it, and which of its
  // calls are under way: the peer may have lost that others were given up. Does not wait.
  void StayAlive();
  // Frees shared memory that has not been needed for a while.
  void Tidy();

  // ---- for PeerCall and sessions

  // A new sequence number, under way until EndCall.
  uint64_t BeginCall();
  void EndCall(uint64_t sequence);
  // Asks the other end to stop working on it. Does not wait. Runs of sessions have run 0; "why"
  // they end is told where it is a deadline.
  void CancelCall(uint64_t sequence, RunId run, const sextant::Status& why = {});
  void FillStamp(uint64_t sequence, RunId run, Stamp* stamp);
  // Which process here keeps tensors of a run: the one that its first call was for; 0: none.
  uint64_t KeeperOf(uint64_t run) const;
  // Names the processes that keep inputs of a call of the fragment.
  void NameKeepers(const Fragment& fragment, uint64_t run, CallHeader* header) const;

  // Whether the session has met the peer.
  bool connected(uint64_t session = 0) const;
  // Says hello unless the session has done so: learns the incarnation. Waits for a peer that nobody
  // has met to come up until the token is cancelled, and says so every ten seconds.
  void Connect(CancellationToken& cancellation, uint64_t session = 0);
  // What the peer says of itself; waits as Connect does.
  HelloReply SayHello(CancellationToken& cancellation, uint64_t session = 0);
  void Register(const Fragment& fragment, CancellationToken& cancellation, uint64_t session = 0);
  std::shared_ptr<Attempt> Send(const char* method, grpc::ByteBuffer request);
  // Sends until an answer comes or the token is cancelled; for requests that may arrive twice. What
  // "past_deadline" does at the deadline makes the other end answer, with an error that says whom
  // it has waited for: that is thrown instead of the token's when it comes soon.
  grpc::ByteBuffer Ask(const char* method, const grpc::ByteBuffer& request,
                       CancellationToken& cancellation,
                       const std::function<void()>& past_deadline = {}, uint64_t session = 0);
  // Sends the tensors of a call ahead of it, in parts. Gives their number.
  uint32_t SendParts(uint64_t sequence, RunId run, std::span<const Tensor> tensors,
                     CancellationToken& cancellation);
  // The same for bytes as they are.
  uint32_t SendBytes(uint64_t sequence, std::string_view bytes, CancellationToken& cancellation);
  // The tensors of an answer, fetched where they did not fit in it. "shared" are the connections
  // that the call has named.
  std::vector<Tensor> Take(const grpc::ByteBuffer& answer, uint64_t sequence, RunId run,
                           CancellationToken& cancellation,
                           std::span<const std::shared_ptr<SharedFrames>> shared = {});
  // The connection for frames in shared memory; null when there is none.
  std::shared_ptr<SharedFrames> shared_frames() const;
  // The peer does not know what was written there: calls carry their tensors from now on.
  void StopSharing(const SharedFrames* frames);
  void CountShared(size_t bytes) { shared_bytes_ += bytes; }
  void CountReceived(size_t bytes) { received_bytes_ += bytes; }
  // What the peer answered, as an error that names it; returns when it may be asked again. A
  // connection that is closed as soon as it is made may have been cut: "again" asks whether it was
  // the credentials.
  void ThrowUnlessTransient(const grpc::Status& status, bool again = true, uint64_t session = 0);
  // How a request ended: what was in its way is told until one gets through.
  void NoteHindrance(const grpc::Status& status);
  // " (connection refused)", for errors of deadlines; "" where nothing is known.
  std::string hindrance() const;
  // UNAVAILABLE: nobody listens there. Sessions that have met it are told when it was restarted.
  Error Gone();
  // Whether it answers that it is another process now: then the session goes on with that.
  bool Restarted(const grpc::Status& status, uint64_t session = 0);
  // Tries to connect now, not after the pause that gRPC would make.
  void ConnectAgain();
  void CountRetry() { ++retries_; }
  // Whether it is waited for though nobody listens; says so now and then. Throws when it is not
  // waited for any more.
  bool Awaited(std::chrono::steady_clock::time_point since);
  // The next calls say hello first: it may be another process.
  void ForgetIncarnation();

 private:
  struct EndRunNotice;  // peer_sessions.cc
  struct EndSessionNotice;

  void Meet(const HelloReply& hello, uint64_t session);
  void NoteRun(const Fragment& fragment, const RunId& run);
  void TellEndedRuns();
  void TellEndedSessions();
  std::string PlaceAndAddress() const;
  void SetState(std::string state);
  void SendPart(uint64_t sequence, RunId run, size_t index, size_t count, const Tensor& part,
                CancellationToken& cancellation);
  // Once; does not wait for the peer to come up.
  grpc::Status SayHelloOnce(HelloReply* reply, CancellationToken& cancellation);
  // Says hello unless that process has been met, or any where it is 0: shares memory with it.
  void MeetKeeper(uint64_t incarnation, CancellationToken& cancellation);
  void ShareWith(const HelloReply& hello);

  const PeerOptions options_;
  const uint64_t sender_;
  const net::Token token_;
  const std::shared_ptr<grpc::Channel> bulk_, control_;
  grpc::GenericStub bulk_stub_;
  const std::unique_ptr<TaskService::Stub> control_stub_;

  mutable std::mutex mutex_;
  std::string place_;
  uint64_t incarnation_ = 0;           // the last that is known; 0: none
  std::set<uint64_t> under_way_;       // sequence numbers of calls that have not ended
  std::map<uint64_t, uint64_t> runs_;  // that keep tensors there → incarnation of their first call
  std::map<uint64_t, uint64_t> sessions_;  // that have met it, and as which incarnation; 0: anew
  std::set<uint64_t> ended_runs_, ended_sessions_;  // of which it has not been told yet
  uint64_t next_sequence_ = 1;
  std::string state_ = "not connected";
  std::string hindrance_;  // "connection refused"; "": none
  std::shared_ptr<SharedFrames> shared_;
  uint64_t met_ = 0;  // incarnation that last answered a hello: memory is shared with it
  int waiting_ = 0;   // for it to come up
  std::chrono::steady_clock::time_point next_report_ = {};
  std::atomic<uint64_t> calls_ = 0, sent_bytes_ = 0, received_bytes_ = 0, retries_ = 0,
                        shared_bytes_ = 0;
};

// Whether tensors need parts.
bool IsLarge(std::span<const Tensor> tensors);

}  // namespace sextant::dist
