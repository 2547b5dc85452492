#include "sextant/train/input.h"

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/control_flow/assert.h"
#include "sextant/ops/queue/queue.h"
#include "sextant/ops/random/random.h"
#include "sextant/ops/state/variable.h"
#include "sextant/train/queue_runner.h"

namespace sextant::train {
namespace {

// The values; OUT_OF_RANGE after the last epoch.
Output LimitEpochs(Output values, int64_t num_epochs) {
  if (num_epochs <= 0) throw InvalidArgument("num_epochs must be > 0, not {}", num_epochs);
  const Variable epochs("epochs", Tensor(int64_t{0}),
                        {.trainable = false, .collections = {kLocalVariables}});
  const Output counted = OpBuilder("ResourceCountUpTo")
                             .Input(epochs.handle())
                             .Attr("limit", num_epochs)
                             .Attr("T", DType::kInt64)
                             .Build();
  const ControlDependencies after({Operation(counted.node())});
  return OpBuilder("Identity").Input(values).Build();
}

std::vector<PartialShape> ElementShapes(const std::vector<Output>& tensors,
                                        const QueueBatchOptions& options) {
  std::vector<PartialShape> shapes;
  for (const Output& tensor : tensors) {
    PartialShape shape = tensor.shape();
    if (shape.rank_known() && options.enqueue_many) shape.Erase(0);
    if (!shape.rank_known() || !(shape.fully_known() || options.dynamic_pad)) {
      throw InvalidArgument(
          "batches need the shape of {}, of which only {} is known; reshape it, or use dynamic_pad "
          "where sizes differ",
          tensor.name(), shape.ToString());
    }
    shapes.push_back(shape);
  }
  return shapes;
}

std::vector<DType> TypesOf(const std::vector<Output>& tensors) {
  std::vector<DType> types;
  for (const Output& tensor : tensors) types.push_back(tensor.dtype());
  return types;
}

std::vector<Output> BatchesFrom(Output queue, const std::vector<Output>& tensors,
                                int64_t batch_size, const QueueBatchOptions& options) {
  const Operation put =
      options.enqueue_many ? QueueEnqueueMany(queue, tensors) : QueueEnqueue(queue, tensors);
  AddQueueRunner(queue.node()->graph(),
                 MakeQueueRunner(queue, std::vector<Operation>(options.num_threads, put)));
  const Output count = Const(Tensor(static_cast<int32_t>(batch_size)), "n");
  return options.allow_smaller_final_batch ? QueueDequeueUpTo(queue, count)
                                           : QueueDequeueMany(queue, count);
}

}  // namespace

Output InputProducer(Output values, const InputProducerOptions& options) {
  const NameScope scope("input_producer");
  if (!values.shape().rank_known() || values.shape().rank() == 0) {
    throw InvalidArgument("an input producer needs a tensor with rows, {} has shape {}",
                          values.name(), values.shape().ToString());
  }
  PartialShape element = values.shape();
  element.Erase(0);
  const DType dtype = values.dtype();
  if (options.shuffle) values = RandomShuffle(values, {.seed = options.seed});
  if (options.num_epochs) values = LimitEpochs(values, *options.num_epochs);
  const Output queue = FIFOQueue({dtype}, {.capacity = options.capacity, .shapes = {element}});
  AddQueueRunner(queue.node()->graph(),
                 MakeQueueRunner(queue, {QueueEnqueueMany(queue, {values})}));
  return queue;
}

Output StringInputProducer(Output strings, const InputProducerOptions& options) {
  if (strings.dtype() != DType::kString) {
    throw InvalidArgument("{} is {}, not a vector of strings", strings.name(),
                          DTypeName(strings.dtype()));
  }
  const Output size = OpBuilder("Size").Input(strings).Build();
  const Output some = OpBuilder("Greater").Input(size).Input(Const(Tensor(0))).Build();
  const Output message = Const(Tensor("a string input producer has no strings to give"));
  const Operation check = Assert(some, {message});
  const auto checked = [&] {
    const ControlDependencies after({check});
    return OpBuilder("Identity").Input(strings).Build();
  };
  return InputProducer(checked(), options);
}

std::vector<Output> Batch(const std::vector<Output>& tensors, int64_t batch_size,
                          const QueueBatchOptions& options) {
  const NameScope scope("batch");
  const QueueOptions queue{.capacity = options.capacity, .shapes = ElementShapes(tensors, options)};
  const auto types = TypesOf(tensors);
  return BatchesFrom(options.dynamic_pad ? PaddingFIFOQueue(types, queue) : FIFOQueue(types, queue),
                     tensors, batch_size, options);
}

std::vector<Output> ShuffleBatch(const std::vector<Output>& tensors, int64_t batch_size,
                                 const ShuffleBatchOptions& options) {
  const NameScope scope("shuffle_batch");
  RandomShuffleQueueOptions queue;
  queue.queue = {.capacity = options.batch.capacity,
                 .shapes = ElementShapes(tensors, options.batch)};
  queue.min_after_dequeue = options.min_after_dequeue;
  const RandomSeeds seeds = MakeRandomSeeds(CurrentGraph(), options.seed);
  queue.seed = seeds.seed;
  queue.seed2 = seeds.seed2;
  return BatchesFrom(RandomShuffleQueue(TypesOf(tensors), queue), tensors, batch_size,
                     options.batch);
}

}  // namespace sextant::train
