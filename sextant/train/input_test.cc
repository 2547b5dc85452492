#include "sextant/train/input.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/queue/queue.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"
#include "sextant/train/coordinator.h"
#include "sextant/train/queue_runner.h"

namespace sextant::train {
namespace {

class InputTest : public testing::Test {
 protected:
  // What the fetch gives until the end of the data.
  std::vector<Tensor> All(Output fetch) {
    const Operation init = VariablesInitializer(CollectedVariables(kLocalVariables));
    Session session(graph_);
    session.Run(init);
    Coordinator coordinator;
    StartQueueRunners(session, coordinator);
    std::vector<Tensor> values;
    const Status end = StatusOf([&] {
      for (;;) values.push_back(session.Run(fetch));
    });
    EXPECT_EQ(end.code(), Code::kOutOfRange) << end.message();
    coordinator.RequestStop();
    coordinator.Join();
    return values;
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(InputTest, MakesBatchesOfEpochs) {
  const Output names = Const(Tensor::Of<std::string>({"a", "b", "c"}));
  const Output queue = StringInputProducer(names, {.num_epochs = 2, .shuffle = false});
  const Output name = QueueDequeue(queue)[0];
  EXPECT_EQ(name.shape(), PartialShape(Shape()));
  const auto batches = All(Batch({name}, 4, {.allow_smaller_final_batch = true})[0]);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_TRUE(batches[0].Identical(Tensor::Of<std::string>({"a", "b", "c", "a"})));
  EXPECT_TRUE(batches[1].Identical(Tensor::Of<std::string>({"b", "c"})));
}

TEST_F(InputTest, ShufflesWhatItBatches) {
  std::vector<int32_t> numbers(20);
  for (int i = 0; i < 20; ++i) numbers[i] = i;
  const Output queue =
      InputProducer(Const(Tensor::FromVector(numbers)), {.num_epochs = 3, .seed = 4});
  const auto batches = All(ShuffleBatch(
      {QueueDequeue(queue)[0]}, 5,
      {.batch = {.num_threads = 2, .capacity = 30}, .min_after_dequeue = 10, .seed = 1})[0]);
  ASSERT_EQ(batches.size(), 12u);
  std::map<int32_t, int> seen;
  for (const Tensor& batch : batches) {
    for (const int32_t value : batch.flat<int32_t>()) ++seen[value];
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(seen[i], 3) << i;
}

TEST_F(InputTest, SaysWhatIsMissing) {
  const Output scalar = Const(Tensor(1));
  EXPECT_EQ(StatusOf([&] { InputProducer(scalar); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { StringInputProducer(scalar); }).code(), Code::kInvalidArgument);
  const Output any = Placeholder(DType::kFloat, PartialShape{-1});
  EXPECT_EQ(StatusOf([&] { Batch({any}, 2); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(Batch({any}, 2, {.dynamic_pad = true})[0].shape(), (PartialShape{2, -1}));
  const Output rows = Const(Tensor::Of<int32_t>({1, 2}));
  EXPECT_EQ(StatusOf([&] { InputProducer(rows, {.num_epochs = 0}); }).code(),
            Code::kInvalidArgument);
}

TEST_F(InputTest, NoStringsIsAnError) {
  const Output none = Const(Tensor(DType::kString, Shape{0}));
  const Output name = QueueDequeue(StringInputProducer(none))[0];
  Session session(graph_);
  Coordinator coordinator;
  StartQueueRunners(session, coordinator);
  EXPECT_EQ(StatusOf([&] { session.Run(name); }).code(), Code::kOutOfRange);
  EXPECT_EQ(StatusOf([&] { coordinator.Join(); }).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant::train
