// Session: runs a graph. Thread-safe: concurrent Runs share variables and Plans.
//
//   Session session(graph);
//   Tensor value = session.Run({{a, x}, {b, w}}, y);
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
#include "sextant/base/export.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/output.h"
#include "sextant/runtime/passes/pass.h"
#include "sextant/runtime/trace.h"

#pragma GCC visibility push(default)

namespace sextant {

class Device;
class ResourceManager;
class SessionState;
struct RunToken;
struct SessionEnvironment;

struct SEXTANT_API SessionOptions {
  // Where it runs: "" = this process, with devices and variables of its own; "grpc://host:port" = a
  // task of a cluster, with those of the task.
  std::string target;
  int threads = 0;       // of the process's team; 0 = all
  int host_devices = 1;  // /cpu:0 … /cpu:n-1
  // A device that is not there is replaced by /cpu:0 of the job and task that the node asks for.
  bool allow_soft_placement = true;
  bool log_device_placement = false;
  // Bytes of tensors alive at once, of a batch, of a file read whole (base/input_limits.h); 0: none
  int64_t memory_limit = 0;
  int64_t plan_cache_bytes = int64_t{256} << 20;
  // Of opening the target, and of every Run that does not set its own.
  std::optional<std::chrono::milliseconds> deadline;
  OptimizerOptions optimizer;
};

struct SEXTANT_API RunOptions {
  std::optional<std::chrono::milliseconds> deadline;
  CancellationToken* cancellation = nullptr;  // cancelling it ends the run with CANCELLED
  StepTrace* trace = nullptr;                 // filled when not null
  RunToken* token = nullptr;                  // of a step of synchronous training (run_token.h)
  // If given, a run that fails leaves here what its data sources gave, and the next one, of the
  // same fetches and targets, takes that instead of new data.
  std::vector<Tensor>* sources = nullptr;
};

// Feeds and fetches by name, for imported graphs.
using NamedFeeds = std::vector<std::pair<std::string, Tensor>>;

// A run prepared once and called often: no look-up by signature as long as the shapes fed stay the
// same. Thread-safe. Must not outlive its Session.
class SEXTANT_API Callable {
 public:
  Callable();
  Callable(Callable&&) noexcept;
  Callable& operator=(Callable&&) noexcept;
  ~Callable();
  // "feeds" in the order of MakeCallable.
  std::vector<Tensor> operator()(std::span<const Tensor> feeds,
                                 const RunOptions& options = {}) const;
  std::vector<Tensor> operator()(std::initializer_list<Tensor> feeds = {}) const {
    return (*this)(std::span<const Tensor>(feeds.begin(), feeds.size()));
  }
  // Without allocating the result vector. REQUIRES: fetches.size() is that of MakeCallable.
  void Call(std::span<const Tensor> feeds, std::span<Tensor> fetches,
            const RunOptions& options = {}) const;

 private:
  friend class Session;
  struct State;
  std::unique_ptr<State> state_;
};

class SEXTANT_API Session : public Evaluator {
 public:
  // Waits until its target answers. Throws DEADLINE_EXCEEDED, with the reason where it is known,
  // when options.deadline passes before; else what opening the target throws.
  explicit Session(const Graph& graph, const SessionOptions& options = {});
  // Runs on devices and variables that are not its own: those of a task (session_environment.h).
  Session(const Graph& graph, const SessionOptions& options, const SessionEnvironment& environment);
  // Closes, then waits until every Run has returned.
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Graph& graph() const;  // that it runs

  // Ends the Runs that other threads are in, those that wait for a queue or a device included, with
  // CANCELLED; so do all later ones. What the session holds stays until it is destroyed.
  void Close();

  // The value of one tensor, of several, or the effect of operations.
  Tensor Run(Output fetch, const RunOptions& options = {});
  Tensor Run(const FeedMap& feeds, Output fetch, const RunOptions& options = {});
  std::vector<Tensor> Run(const std::vector<Output>& fetches, const RunOptions& options = {});
  std::vector<Tensor> Run(const FeedMap& feeds, const std::vector<Output>& fetches,
                          const std::vector<Operation>& targets = {},
                          const RunOptions& options = {});
  void Run(Operation target, const RunOptions& options = {});
  void Run(const FeedMap& feeds, Operation target, const RunOptions& options = {});
  // By name: "x:0"; targets "op".
  std::vector<Tensor> Run(const NamedFeeds& feeds, const std::vector<std::string>& fetches,
                          const std::vector<std::string>& targets = {},
                          const RunOptions& options = {});

  Callable MakeCallable(const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                        const std::vector<Operation>& targets = {});  // planned once

  std::vector<Tensor> Evaluate(const FeedMap& feeds, const std::vector<Output>& fetches,
                               const std::vector<Operation>& targets) override;  // as Run

  // Whether another process runs it.
  bool remote() const;
  // Variables, tables and random streams, of its own task where the session is one of a cluster.
  // Throws FAILED_PRECONDITION when another process runs the session.
  ResourceManager& resources();
  // Those of all tasks; its own come first.
  std::vector<const Device*> devices() const;
  // Plans in the cache, for tests and diagnosis.
  int num_plans() const;

 private:
  std::unique_ptr<SessionState> state_;
};

// y.Eval() and op.Run() use this session while the scope is open on the thread.
class SEXTANT_API SessionScope {
 public:
  explicit SessionScope(Session& session) : previous_(Evaluator::SetCurrent(&session)) {}
  ~SessionScope() { Evaluator::SetCurrent(previous_); }
  SessionScope(const SessionScope&) = delete;
  SessionScope& operator=(const SessionScope&) = delete;

 private:
  Evaluator* previous_;
};

}  // namespace sextant

#pragma GCC visibility pop
