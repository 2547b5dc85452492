// QueueRunner: keeps a queue (ops/queue/queue.h) filled from threads of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class MetaGraphDef;
class QueueRunnerDef;
}  // namespace sextant::proto

namespace sextant {
class Graph;
class Session;
}  // namespace sextant

namespace sextant::train {

class Coordinator;

struct SEXTANT_API QueueRunner {
  std::string queue;               // its name, for messages and files
  std::vector<Operation> enqueue;  // each is run again and again by a thread; one may be repeated
  Operation close;                 // run when all threads have come to the end of the data
  Operation cancel;                // run when the coordinator stops
  std::vector<Code> closed = {Code::kOutOfRange};  // errors that are the end of the data
};

// With ops, added to the current graph, that close the queue and that cancel pending enqueues.
QueueRunner MakeQueueRunner(Output queue, std::vector<Operation> enqueue);

// Throws NOT_FOUND when the graph has not what the message names.
QueueRunner QueueRunnerFromDef(const proto::QueueRunnerDef& def, const Graph& graph);
proto::QueueRunnerDef QueueRunnerToDef(const QueueRunner& runner);

// The runners of a graph: those added, and those of the collection "queue_runners" of the message
// it was imported from.
void AddQueueRunner(Graph& graph, QueueRunner runner);
void AddQueueRunners(Graph& graph, const proto::MetaGraphDef& def);
std::vector<QueueRunner> QueueRunnersOf(const Graph& graph);

// Starts the threads of the runners of the session's graph, or of those given. They end when the
// coordinator stops, which also ends the Runs they are in; what they fail with makes it stop.
// REQUIRES: the session outlives the threads (Coordinator::Join).
void StartQueueRunners(Session& session, Coordinator& coordinator);
void StartQueueRunners(Session& session, Coordinator& coordinator,
                       const std::vector<QueueRunner>& runners);

// Runs the runners of a session's graph while it lives; nothing when there are none.
class SEXTANT_API QueueThreads {
 public:
  explicit QueueThreads(Session& session);
  ~QueueThreads();
  bool any() const { return coordinator_ != nullptr; }
  // Called with the error of a Run: throws what a runner has failed with, if one has. That closed
  // its queue, and the Run only says that the queue is empty.
  void ThrowFailure();

 private:
  std::unique_ptr<Coordinator> coordinator_;
};

}  // namespace sextant::train

#pragma GCC visibility pop
