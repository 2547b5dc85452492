// Fragment: what another task runs of a Plan between two exchanges. RemoteTask: that task, seen
// from the one that runs the session.
//
// A task keeps fragments by fingerprint and runs each as an ordinary Plan on its own variables: a
// parameter server is a task whose fragments read and update variables. A call carries the inputs
// of a fragment there in one frame and its outputs back in another.
//
// Nothing here knows how bytes travel: dist has an implementation over gRPC, testing one inside the
// process.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

class Device;

// The right to contribute to a step of synchronous training; its number is different from those of
// the other tokens of the step.
struct StepToken {
  int64_t step = 0;
  int32_t number = 0;
};

struct Fragment {
  // An input that an earlier fragment of the same run has made and kept, on this task or another:
  // the task that needs it fetches it from there, past the caller.
  struct KeptInput {
    std::string tensor;    // that stands for it here
    std::string task;      // that has it
    uint64_t maker = 0;    // fingerprint of the fragment that made it
    int32_t position = 0;  // in the maker's "kept"
  };

  std::string task;                    // "/job:ps/replica:0/task:0"
  std::string graph_def;               // serialised, the same bytes for the same fragment
  std::vector<std::string> feeds;      // tensors that a call brings, in the order of its inputs
  std::vector<KeptInput> kept_inputs;  // tensors that come from other fragments
  std::vector<std::string> fetches;    // tensors that go back, in the order of the outputs
  std::vector<std::string> kept;       // tensors that stay for later fragments of the run
  std::vector<std::string> targets;    // operations run for their effect
  std::vector<std::string> variables;  // whose state it reads or changes, for messages
  // Of a summed call, which several callers make together in synchronous training: each brings a
  // contribution to the step of its token and is answered at once. When there are enough for all
  // parts of the update, on all tasks, the targets run once. Gradients are inputs that the graph
  // has once per contribution; of the other inputs it gets those of the first token.
  struct Sum {
    int32_t replicas = 1;  // contributions to a step
    int32_t part = 0;      // of the update that all such fragments of a run make up
    int32_t num_parts = 1;
    int32_t stage = 0;                // parts run when those of earlier stages have been run
    std::vector<bool> gradient = {};  // by input: feeds, then kept inputs
    uint64_t key = 0;  // the same for all callers, whose fragments differ in where inputs come from
    bool operator==(const Sum&) const = default;
  };
  std::optional<Sum> sum = {};
  uint64_t fingerprint = 0;  // of all of the above
};
// The tensor that stands for an input in the contribution with this number, from 0 on.
std::string InputOfContribution(const std::string& tensor, int contribution);

// A Run, unlike those of all sessions of the cluster, and the session that it is of. State of a
// fragment that sessions do not share belongs to the session; 0: to the task.
struct RunId {
  RunId(uint64_t id, uint64_t of_session = 0) : run(id), session(of_session) {}  // NOLINT
  uint64_t run, session;
};

// A call under way. Destroying it cancels it, there too where it has not ended.
class RemoteCall {
 public:
  virtual ~RemoteCall() = default;
  // Whether it ends within that time. What was lost on the way is sent again here, so calls that
  // nobody waits for are looked after with a time of 0. Throws what cancelled the token, once it is
  // cancelled; else what the fragment threw, by ErrorOfTask, or why the task cannot be reached,
  // naming the task.
  virtual bool WaitFor(std::chrono::milliseconds time, CancellationToken& cancellation) = 0;
  // Once WaitFor has said that it has ended; called once. Throws as that does.
  virtual void Take(std::span<Tensor> outputs, CancellationToken& cancellation) = 0;
  // Both.
  void Wait(std::span<Tensor> outputs, CancellationToken& cancellation) {
    while (!WaitFor(std::chrono::seconds(10), cancellation)) {
    }
    Take(outputs, cancellation);
  }
  // After Take, of a summed call: the step had enough contributions already, this one was dropped.
  virtual bool stale() const { return false; }
  // Why it has not got there yet, as " (connection refused)"; "" where that is not known.
  virtual std::string hindrance() const { return ""; }
};

// Thread-safe.
class RemoteTask {
 public:
  virtual ~RemoteTask() = default;
  // Sends the inputs and returns while the task works; does not wait for the network. What
  // fragments keep belongs to "run". The fragment is made known to the task when it does not have
  // it yet. The inputs lie in no arena: a holder of one holds its buffer, and nobody writes to it
  // as long as somebody else does. So bytes can be sent from where they are, and the holder lets go
  // when the transport has dropped them. A summed call has a token.
  virtual std::unique_ptr<RemoteCall> Start(std::shared_ptr<const Fragment> fragment, RunId run,
                                            std::vector<Tensor> inputs,
                                            std::optional<StepToken> token = {}) = 0;
  // Lets the task forget what it keeps of a run. Does not wait, does not throw.
  virtual void EndRun(uint64_t run) noexcept = 0;
};

// The other tasks of a session's cluster. Thread-safe.
class RemoteTasks {
 public:
  virtual ~RemoteTasks() = default;
  // By the full name of the task. Throws NOT_FOUND, naming those there are.
  virtual RemoteTask& Find(std::string_view task) = 0;
  // The devices of a task, which live as long as this object. Asks the task; waits for one that is
  // not up until the CancellationScope of the caller is cancelled. Throws as Find and
  // RemoteCall::WaitFor do.
  virtual std::vector<Device*> Devices(std::string_view task) = 0;
  // Lets all of them forget what they keep for a session. Does not wait, does not throw.
  virtual void EndSession(uint64_t session) noexcept = 0;
};

// "/job:ps/task:1" for "/job:ps/replica:0/task:1" and its devices, for messages.
std::string ShortTaskName(std::string_view task);

// An error of what a task ran: "[MatMul b] on /job:ps/task:1: why" for "[MatMul b] why".
Error ErrorOfTask(const Error& error, std::string_view task);
// ABORTED: the task was restarted since the caller first met it, and with it went the state that
// the fragment needs.
Error RestartedError(const Fragment& fragment);

}  // namespace sextant
