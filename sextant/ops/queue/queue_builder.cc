#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/ops/queue/queue.h"

namespace sextant {
namespace {

OpBuilder QueueBuilder(const char* op, const std::vector<DType>& types,
                       const QueueOptions& options) {
  OpBuilder builder(op);
  builder.Attr("component_types", types)
      .Attr("shapes", options.shapes)
      .Attr("capacity", options.capacity)
      .Attr("container", options.container)
      .Attr("shared_name", options.shared_name)
      .Name(options.name);
  return builder;
}

std::vector<DType> TypesOf(Output queue) {
  const Attr* types = queue ? queue.node()->FindAttr("component_types") : nullptr;
  if (types == nullptr) throw InvalidArgument("{} is not the handle of a queue", queue.name());
  auto result = types->Get<std::vector<DType>>();
  if (queue.node()->type() == "PriorityQueueV2") result.insert(result.begin(), DType::kInt64);
  return result;
}

}  // namespace

Output FIFOQueue(const std::vector<DType>& types, const QueueOptions& options) {
  return QueueBuilder("FIFOQueueV2", types, options).Build();
}
Output PaddingFIFOQueue(const std::vector<DType>& types, const QueueOptions& options) {
  return QueueBuilder("PaddingFIFOQueueV2", types, options).Build();
}
Output RandomShuffleQueue(const std::vector<DType>& types,
                          const RandomShuffleQueueOptions& options) {
  return QueueBuilder("RandomShuffleQueueV2", types, options.queue)
      .Attr("min_after_dequeue", options.min_after_dequeue)
      .Attr("seed", options.seed)
      .Attr("seed2", options.seed2)
      .Build();
}
Output PriorityQueue(const std::vector<DType>& types, const QueueOptions& options) {
  return QueueBuilder("PriorityQueueV2", types, options).Build();
}

Operation QueueEnqueue(Output queue, const std::vector<Output>& components) {
  return OpBuilder("QueueEnqueueV2").Input(queue).Input(components).BuildOperation();
}
Operation QueueEnqueueMany(Output queue, const std::vector<Output>& components) {
  return OpBuilder("QueueEnqueueManyV2").Input(queue).Input(components).BuildOperation();
}
std::vector<Output> QueueDequeue(Output queue) {
  return OpBuilder("QueueDequeueV2")
      .Input(queue)
      .Attr("component_types", TypesOf(queue))
      .BuildAll();
}
std::vector<Output> QueueDequeueMany(Output queue, Output n) {
  return OpBuilder("QueueDequeueManyV2")
      .Input(queue)
      .Input(n)
      .Attr("component_types", TypesOf(queue))
      .BuildAll();
}
std::vector<Output> QueueDequeueUpTo(Output queue, Output n) {
  return OpBuilder("QueueDequeueUpToV2")
      .Input(queue)
      .Input(n)
      .Attr("component_types", TypesOf(queue))
      .BuildAll();
}
Operation QueueClose(Output queue, bool cancel_pending_enqueues) {
  return OpBuilder("QueueCloseV2")
      .Input(queue)
      .Attr("cancel_pending_enqueues", cancel_pending_enqueues)
      .BuildOperation();
}
Output QueueSize(Output queue) { return OpBuilder("QueueSizeV2").Input(queue).Build(); }
Output QueueIsClosed(Output queue) { return OpBuilder("QueueIsClosedV2").Input(queue).Build(); }

}  // namespace sextant
