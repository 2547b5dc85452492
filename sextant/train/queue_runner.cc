#include "sextant/train/queue_runner.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "sextant/base/cancellable_wait.h"
#include "sextant/graph/attachment.h"
#include "sextant/graph/graph.h"
#include "sextant/ops/queue/queue.h"
#include "sextant/proto/meta_graph.pb.h"
#include "sextant/proto/queue_runner.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/train/coordinator.h"

namespace sextant::train {
namespace {

constexpr const char* kCollection = "queue_runners";

// Runs an op for its effect where a failure tells nothing new: the queue may be closed already.
void TryRun(Session& session, Operation operation) {
  if (!operation) return;
  try {
    session.Run(operation);
  } catch (const Error&) {
  }
}

// One thread's work.
void Fill(Session& session, Coordinator& coordinator, const QueueRunner& runner, Operation enqueue,
          std::atomic<int>& unfinished) {
  const Callable step = session.MakeCallable({}, {}, {enqueue});
  const RunOptions options{.cancellation = &coordinator.stop_token()};
  const CancellationScope reads(&coordinator.stop_token());
  while (!coordinator.ShouldStop()) {
    try {
      step.Call({}, {}, options);
    } catch (const Error& e) {
      const bool at_end =
          std::find(runner.closed.begin(), runner.closed.end(), e.code()) != runner.closed.end();
      if (!at_end) throw;
      if (unfinished.fetch_sub(1) == 1) TryRun(session, runner.close);
      return;
    }
  }
}

}  // namespace

QueueRunner MakeQueueRunner(Output queue, std::vector<Operation> enqueue) {
  return {.queue = queue.node()->name(),
          .enqueue = std::move(enqueue),
          .close = QueueClose(queue),
          .cancel = QueueClose(queue, true)};
}

QueueRunner QueueRunnerFromDef(const proto::QueueRunnerDef& def, const Graph& graph) {
  QueueRunner runner;
  runner.queue = def.queue_name();
  for (const std::string& name : def.enqueue_op_name()) {
    runner.enqueue.push_back(graph.FindOperation(name));
  }
  runner.close = graph.FindOperation(def.close_op_name());
  runner.cancel = graph.FindOperation(def.cancel_op_name());
  if (def.queue_closed_exception_types_size() > 0) runner.closed.clear();
  for (const int code : def.queue_closed_exception_types()) {
    runner.closed.push_back(static_cast<Code>(code));
  }
  return runner;
}

proto::QueueRunnerDef QueueRunnerToDef(const QueueRunner& runner) {
  proto::QueueRunnerDef def;
  def.set_queue_name(runner.queue);
  for (const Operation& operation : runner.enqueue) {
    def.add_enqueue_op_name(operation.node()->name());
  }
  if (runner.close) def.set_close_op_name(runner.close.node()->name());
  if (runner.cancel) def.set_cancel_op_name(runner.cancel.node()->name());
  for (const Code code : runner.closed) {
    def.add_queue_closed_exception_types(static_cast<int>(code));
  }
  return def;
}

void AddQueueRunner(Graph& graph, QueueRunner runner) {
  AttachedTo<std::vector<QueueRunner>>(graph, kCollection)->push_back(std::move(runner));
}

void AddQueueRunners(Graph& graph, const proto::MetaGraphDef& def) {
  const auto found = def.collection_def().find(kCollection);
  if (found == def.collection_def().end()) return;
  for (const std::string& bytes : found->second.bytes_list().value()) {
    proto::QueueRunnerDef runner;
    if (!runner.ParseFromString(bytes)) {
      throw DataLoss("collection '{}' holds {} bytes that are no QueueRunnerDef", kCollection,
                     bytes.size());
    }
    AddQueueRunner(graph, QueueRunnerFromDef(runner, graph));
  }
}

std::vector<QueueRunner> QueueRunnersOf(const Graph& graph) {
  return *AttachedTo<std::vector<QueueRunner>>(graph, kCollection);
}

void StartQueueRunners(Session& session, Coordinator& coordinator) {
  StartQueueRunners(session, coordinator, QueueRunnersOf(session.graph()));
}

void StartQueueRunners(Session& session, Coordinator& coordinator,
                       const std::vector<QueueRunner>& runners) {
  for (const QueueRunner& given : runners) {
    const auto runner = std::make_shared<const QueueRunner>(given);
    const auto unfinished = std::make_shared<std::atomic<int>>(given.enqueue.size());
    for (const Operation& enqueue : runner->enqueue) {
      coordinator.Start("filling queue " + runner->queue,
                        [&session, &coordinator, runner, unfinished, enqueue] {
                          Fill(session, coordinator, *runner, enqueue, *unfinished);
                        });
    }
    coordinator.Start("closing queue " + runner->queue, [&session, &coordinator, runner] {
      coordinator.WaitForStop();
      TryRun(session, runner->cancel);
    });
  }
}

QueueThreads::QueueThreads(Session& session) {
  const std::vector<QueueRunner> runners = QueueRunnersOf(session.graph());
  if (runners.empty()) return;
  coordinator_ = std::make_unique<Coordinator>();
  StartQueueRunners(session, *coordinator_, runners);
}

QueueThreads::~QueueThreads() = default;

void QueueThreads::ThrowFailure() {
  if (coordinator_ && coordinator_->ShouldStop()) coordinator_->Join();
}

}  // namespace sextant::train
