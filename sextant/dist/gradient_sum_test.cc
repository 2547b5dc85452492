#include "sextant/dist/gradient_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "sextant/base/error.h"
#include "sextant/dist/step_tokens.h"

namespace sextant::dist {
namespace {

using Outcome = GradientSum::Outcome;

std::vector<Tensor> Gradients(float value) { return {Tensor::Of<float>({value, value})}; }

TEST(GradientSum, HandsContributionsOutInTheOrderOfTokens) {
  GradientSum sum(2, 7);
  EXPECT_EQ(sum.Add(7, 2, Gradients(2)), Outcome::kCounted);
  EXPECT_EQ(sum.Add(7, 2, Gradients(2)), Outcome::kDuplicate);
  EXPECT_EQ(sum.Add(6, 0, Gradients(9)), Outcome::kStale);
  EXPECT_FALSE(sum.ready());
  EXPECT_EQ(sum.Add(7, 0, Gradients(0)), Outcome::kReady);
  EXPECT_EQ(sum.Add(7, 1, Gradients(1)), Outcome::kStale);  // a backup, too late
  EXPECT_EQ(sum.Add(7, 0, Gradients(0)), Outcome::kDuplicate);
  EXPECT_EQ(sum.num_stale(), 2);
  const auto taken = sum.Take();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0][0].data<float>()[0], 0);
  EXPECT_EQ(taken[1][0].data<float>()[0], 2);
  EXPECT_EQ(sum.step(), 8);
  EXPECT_EQ(sum.Add(7, 1, Gradients(1)), Outcome::kStale);
  EXPECT_EQ(sum.Add(8, 1, Gradients(1)), Outcome::kCounted);
}

TEST(GradientSum, RefusesWhatDoesNotFit) {
  EXPECT_THROW(GradientSum(0, 0), Error);
  GradientSum sum(3, 0);
  EXPECT_THROW(sum.Add(1, 0, Gradients(1)), Error);
  sum.Add(0, 0, {Tensor(DType::kFloat, Shape{5, 2})});
  EXPECT_EQ(sum.Add(0, 1, {Tensor(DType::kFloat, Shape{3, 2})}), Outcome::kCounted);  // fewer rows
  EXPECT_THROW(sum.Add(0, 2, {Tensor(DType::kFloat, Shape{5, 3})}), Error);
  EXPECT_THROW(sum.Add(0, 2, {Tensor(DType::kDouble, Shape{5, 2})}), Error);
  EXPECT_THROW(sum.Add(0, 2, {}), Error);
  EXPECT_FALSE(sum.ready());
}

// Workers that die with a token at any point, tokens whose leases end, answers that are lost: every
// shard averages R different tokens of every step.
TEST(GradientSum, CountsEveryStepOnceWhateverHappens) {
  constexpr int kWorkers = 3, kShards = 2, kSteps = 200;
  for (int seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const int r = 1 + static_cast<int>(random() % 4);
    SteadyTime now;
    StepTokens tokens({.replicas_to_aggregate = r, .total_replicas = kWorkers, .max_steps = kSteps},
                      0);
    std::vector<GradientSum> shards(kShards, GradientSum(r, 0));
    for (int turn = 0; !tokens.stopped(); ++turn) {
      ASSERT_LT(turn, 100 * kSteps);
      const int worker = static_cast<int>(random() % kWorkers);
      const auto token = tokens.Take(worker, {0, 1, 2}, {}, now);
      if (!token) {
        now += std::chrono::seconds(1);
        tokens.Expire(now);
        continue;
      }
      const int dies_before = static_cast<int>(random() % 8);  // of the shards, or not
      for (int s = 0; s < kShards && s != dies_before; ++s) {
        for (int sent = 0; sent <= static_cast<int>(random() % 2); ++sent) {
          shards[s].Add(token->step, token->number, Gradients(1));
        }
        if (shards[s].ready() && shards[s].step() == tokens.step()) {
          tokens.PartReady({.part = s, .num_parts = kShards}, token->step);
        }
      }
      if (dies_before >= kShards) tokens.Used(worker, *token, now);
      const int64_t step = tokens.step();
      if (!tokens.MayRun(0, step)) continue;
      for (int s = 0; s < kShards; ++s) {
        ASSERT_EQ(shards[s].Take().size(), static_cast<size_t>(r));
        ASSERT_EQ(shards[s].step(), step + 1);
        tokens.PartRan(s, step, now);
      }
    }
    EXPECT_EQ(tokens.step(), kSteps);
  }
}

}  // namespace
}  // namespace sextant::dist
