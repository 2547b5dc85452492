// The expected numbers are those of TensorFlow.
#include "sextant/formats/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sextant/proto/summary.pb.h"

namespace sextant {
namespace {

constexpr double kMax = std::numeric_limits<double>::max();

proto::HistogramProto Of(std::initializer_list<double> values) {
  Histogram histogram;
  for (const double x : values) histogram.Add(x);
  proto::HistogramProto proto;
  histogram.ToProto(&proto);
  return proto;
}

std::vector<double> Limits(const proto::HistogramProto& proto) {
  return {proto.bucket_limit().begin(), proto.bucket_limit().end()};
}
std::vector<double> Counts(const proto::HistogramProto& proto) {
  return {proto.bucket().begin(), proto.bucket().end()};
}

TEST(HistogramTest, HasTheLimitsOfTensorFlow) {
  const auto limits = Histogram::Limits();
  ASSERT_EQ(limits.size(), 1551u);
  EXPECT_EQ(limits[0], -kMax);
  EXPECT_EQ(limits[775], 0);
  EXPECT_EQ(limits[1549], 9.920775621859783e19);
  EXPECT_EQ(limits[1550], kMax);
}

TEST(HistogramTest, CountsValuesBelowEachLimit) {
  const auto proto = Of({0, 1, 2});
  EXPECT_EQ(Limits(proto), (std::vector<double>{0.0, 1e-12, 0.917246389039776, 1.0089710279437536,
                                                1.9661990955585713, 2.1628190051144287, kMax}));
  EXPECT_EQ(Counts(proto), (std::vector<double>{0, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(proto.min(), 0);
  EXPECT_EQ(proto.max(), 2);
  EXPECT_EQ(proto.num(), 3);
  EXPECT_EQ(proto.sum(), 3);
  EXPECT_EQ(proto.sum_squares(), 5);
  const auto negative = Of({-5, 3});
  EXPECT_EQ(Limits(negative), (std::vector<double>{-5.0998140791604882, -4.6361946174186253,
                                                   2.8787120958073054, 3.1665833053880363, kMax}));
  EXPECT_EQ(Counts(negative), (std::vector<double>{0, 1, 0, 1, 0}));
}

TEST(HistogramTest, FindsTheRangeOfEveryValue) {
  const auto limits = Histogram::Limits();
  for (const double limit : limits) {
    for (const double x : {std::nextafter(limit, -kMax), limit, std::nextafter(limit, kMax)}) {
      if (!std::isfinite(x)) continue;
      const auto proto = Of({x});
      const auto expected = std::upper_bound(limits.begin(), limits.end() - 1, x);
      const auto counted = std::ranges::find(proto.bucket(), 1.0) - proto.bucket().begin();
      ASSERT_EQ(proto.bucket_limit(static_cast<int>(counted)), *expected) << x;
    }
  }
}

TEST(HistogramTest, MayBeEmpty) {
  const auto proto = Of({});
  EXPECT_EQ(Limits(proto), std::vector<double>{kMax});
  EXPECT_EQ(Counts(proto), std::vector<double>{0});
  EXPECT_EQ(proto.min(), kMax);
  EXPECT_EQ(proto.max(), -kMax);
}

TEST(HistogramTest, TakesTheLargestNumber) { EXPECT_EQ(Counts(Of({kMax})).back(), 1); }

}  // namespace
}  // namespace sextant
