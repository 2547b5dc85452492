#include "sextant/formats/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sextant/proto/summary.pb.h"

namespace sextant {
namespace {

// Powers of 1.1 from 1e-12 on by repeated multiplication (rounding is part of the numbers), their
// negatives, and zero between them.
std::vector<double> MakeLimits() {
  std::vector<double> positive;
  for (double limit = 1.0e-12; limit < 1.0e20; limit *= 1.1) positive.push_back(limit);
  positive.push_back(std::numeric_limits<double>::max());
  std::vector<double> limits;
  limits.reserve(2 * positive.size() + 1);
  for (auto limit = positive.rbegin(); limit != positive.rend(); ++limit) {
    limits.push_back(-*limit);
  }
  limits.push_back(0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  return limits;
}

// Finds ranges. A bin holds the doubles with the same exponent and first four bits of the mantissa;
// limits lie further apart than that, so that few are left to look at.
class RangeFinder {
 public:
  RangeFinder() : limits_(Histogram::Limits()), positive_(limits_.size() / 2 + 1) {
    for (uint64_t bin = BinOf(kLeast); bin <= BinOf(kMost); ++bin) {
      const auto begin = limits_.begin() + positive_;
      const auto lowest = std::bit_cast<double>(bin << kBinShift);
      firsts_.push_back(
          static_cast<size_t>(std::lower_bound(begin, limits_.end(), lowest) - begin));
    }
  }

  // The number of limits that are not above x.
  size_t Find(double x) const {
    const double size = std::abs(x);
    if (!(size >= kLeast && size < kMost)) {
      return std::upper_bound(limits_.begin(), limits_.end(), x) - limits_.begin();
    }
    const double* const limits = limits_.data() + positive_;
    size_t below = firsts_[BinOf(size) - BinOf(kLeast)];
    while (limits[below] < size) ++below;
    if (x < 0) return positive_ - 1 - below;
    return positive_ + below + (limits[below] == size ? 1 : 0);
  }

 private:
  static constexpr int kBinShift = 48;
  static constexpr double kLeast = 0x1p-39, kMost = 0x1p66;  // the limits reach a little further
  static uint64_t BinOf(double x) { return std::bit_cast<uint64_t>(x) >> kBinShift; }

  const std::span<const double> limits_;
  const size_t positive_;       // the place of the first positive limit
  std::vector<size_t> firsts_;  // positive limits below each bin
};

}  // namespace

std::span<const double> Histogram::Limits() {
  static const auto* kLimits = new std::vector<double>(MakeLimits());
  return *kLimits;
}

Histogram::Histogram() : counts_(Limits().size()) {}

void Histogram::Add(double x) {
  static const auto* kRanges = new RangeFinder();
  counts_[std::min(kRanges->Find(x), counts_.size() - 1)] += 1;
  min_ = std::min(min_, x);
  max_ = std::max(max_, x);
  num_ += 1;
  sum_ += x;
  sum_squares_ += x * x;
}

void Histogram::ToProto(proto::HistogramProto* proto) const {
  proto->set_min(min_);
  proto->set_max(max_);
  proto->set_num(num_);
  proto->set_sum(sum_);
  proto->set_sum_squares(sum_squares_);
  const auto limits = Limits();
  for (size_t i = 0; i < counts_.size(); ++i) {
    const bool run_goes_on = counts_[i] == 0 && i + 1 < counts_.size() && counts_[i + 1] == 0;
    if (run_goes_on) continue;
    proto->add_bucket_limit(limits[i]);
    proto->add_bucket(counts_[i]);
  }
}

}  // namespace sextant
