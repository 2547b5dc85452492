#include "sextant/serving/batch_queues.h"

#include <gtest/gtest.h>

#include "sextant/base/temporary_directory.h"
#include "sextant/serving/small_model_test_helpers.h"

namespace sextant::serving {
namespace {

class BatchQueuesTest : public testing::Test {
 protected:
  BatchQueuesTest()
      : servable_(Servable::Load("m", 1, ExportSmallModel(directory_.path(), 1), {})),
        signature_(servable_->FindSignature("")) {}

  bool Add(BatchQueues& queues) const {
    BatchTask task{.request = {.servable = servable_,
                               .signature = &signature_,
                               .inputs = {Tensor::FromVector<float>({1})}},
                   .arrived = now_};
    return queues.TryAdd(task);
  }
  void Take(BatchQueues& queues) const {
    std::vector<BatchTask> dropped;
    EXPECT_FALSE(queues.Take(queues.Find(signature_), now_, &dropped).empty());
  }

  const TemporaryDirectory directory_;
  const std::shared_ptr<const Servable> servable_;
  const ServableSignature& signature_;
  Clock::time_point now_ = Clock::time_point(std::chrono::hours(1));
};

// Two batches of two rows for one thread. A queue that has been refusing for a while holds one,
// until it is empty.
TEST_F(BatchQueuesTest, AStandingQueueIsKeptShort) {
  const BatchingConfig config{.enabled = true, .max_batch_size = 2, .max_enqueued_batches = 2};
  BatchQueues queues(config, /*num_threads=*/1);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Add(queues));
  EXPECT_FALSE(Add(queues));
  Take(queues);
  EXPECT_FALSE(queues.Refuses(signature_, now_));
  EXPECT_TRUE(Add(queues));
  now_ += std::chrono::seconds(1);
  EXPECT_TRUE(queues.Refuses(signature_, now_));
  EXPECT_FALSE(Add(queues));
  EXPECT_EQ(queues.num_waiting(), 3);
  Take(queues);
  EXPECT_TRUE(Add(queues));  // the second of the batch that may wait
  EXPECT_FALSE(Add(queues));
  Take(queues);
  EXPECT_EQ(queues.num_waiting(), 0);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Add(queues));
}

// A burst that fills the queue and is worked off leaves it as it was.
TEST_F(BatchQueuesTest, ABurstIsQueued) {
  const BatchingConfig config{.max_enqueued_batches = 3};
  BatchQueues queues(config, /*num_threads=*/1);
  for (int burst = 0; burst < 3; ++burst, now_ += std::chrono::seconds(1)) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(Add(queues));
    EXPECT_FALSE(Add(queues));
    for (int i = 0; i < 3; ++i) Take(queues);
  }
}

}  // namespace
}  // namespace sextant::serving
