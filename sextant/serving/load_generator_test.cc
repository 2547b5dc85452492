#include "sextant/serving/load_generator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sextant::serving {
namespace {

TEST(LoadGenerator, SendsAtTheRateAskedFor) {
  std::atomic<int64_t> sent{0};
  const LoadOptions options{.rate = 2000, .duration = std::chrono::milliseconds(200), .clients = 4};
  const LoadReport report = GenerateLoad(options, [&] { return [&] { ++sent; }; });
  EXPECT_EQ(report.requests, sent);
  EXPECT_NEAR(static_cast<double>(sent), 400, 100);  // five standard deviations
  EXPECT_EQ(report.good, sent);
  EXPECT_EQ(report.milliseconds.size(), static_cast<size_t>(sent));
  LoadOptions even = options;
  even.poisson = false;
  EXPECT_NEAR(static_cast<double>(GenerateLoad(even, [] { return [] {}; }).requests), 400, 1);
}

// One client that takes 10 ms cannot keep up with a request per ms: those that wait count it.
TEST(LoadGenerator, LatencyCountsFromWhenARequestWasDue) {
  const LoadOptions options{.rate = 1000,
                            .poisson = false,
                            .duration = std::chrono::milliseconds(20),
                            .clients = 1,
                            .target = std::chrono::milliseconds(50)};
  const LoadReport report = GenerateLoad(
      options, [] { return [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }; });
  EXPECT_GT(report.Percentile(1), 100);
  EXPECT_LT(report.good, report.requests);
}

TEST(LoadGenerator, CountsErrorsByCode) {
  const LoadOptions options{.rate = 1000, .duration = std::chrono::milliseconds(20), .clients = 2};
  const LoadReport report =
      GenerateLoad(options, [] { return [] { throw Error(Code::kUnavailable, "busy"); }; });
  EXPECT_EQ(report.errors.at("UNAVAILABLE"), report.requests);
  EXPECT_EQ(report.good, 0);
  EXPECT_EQ(report.Percentile(0.5), 0);
}

}  // namespace
}  // namespace sextant::serving
