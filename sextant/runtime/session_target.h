// SessionTarget: where a Session with SessionOptions::target runs: a task of a cluster, in this
// process or another.
//
// What opens targets of a scheme ("grpc") is registered by the library that has it; a program that
// has not linked it finds it in a library beside libsextant, loaded when the first such target is
// opened. A process that runs locally never loads it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sextant/graph/graph.h"
#include "sextant/runtime/session.h"
#include "sextant/runtime/session_environment.h"

namespace sextant {

// A session that another process runs. Thread-safe.
class RemoteSession {
 public:
  virtual ~RemoteSession() = default;
  // As Session::Run. "fetches" has a place for each of "outputs". "cancellation" has the deadline
  // of the run, the caller's token and the session's closing in it.
  virtual void Run(std::span<const Output> feeds, std::span<const Tensor> values,
                   std::span<const Output> outputs, std::span<const Operation> targets,
                   const RunOptions& options, CancellationToken& cancellation,
                   std::span<Tensor> fetches) = 0;
  // Lets the other process forget the session; called once, when no Run is under way. Does not
  // throw.
  virtual void Close() noexcept = 0;
  virtual std::vector<const Device*> devices() const = 0;
};

// One of the two is set.
struct SessionTarget {
  std::optional<SessionEnvironment> environment;  // of a task of this process
  std::unique_ptr<RemoteSession> remote;
};

using TargetOpener =
    std::function<SessionTarget(const Graph& graph, const SessionOptions& options)>;

// Targets "scheme://..." are opened by this from now on. Thread-safe.
void RegisterTargetScheme(const std::string& scheme, TargetOpener open);

// Opens options.target. Throws INVALID_ARGUMENT for a scheme that nobody knows, FAILED_PRECONDITION
// when its library is not installed, and what connecting throws.
SessionTarget OpenSessionTarget(const Graph& graph, const SessionOptions& options);

// Loads the library that has targets of this scheme, unless they are registered. Throws
// FAILED_PRECONDITION when it is not installed.
void LoadTargetLibrary(const std::string& scheme);

// What such a library defines, with C linkage, as SextantRegisterTargets: registers its schemes.
using RegisterTargetsFunction = void();

}  // namespace sextant
