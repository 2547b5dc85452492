#include "sextant/formats/histogram.h"

#include <algorithm>

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

}  // namespace

std::span<const double> Histogram::Limits() {
  static const auto* kLimits = new std::vector<double>(MakeLimits());
  return *kLimits;
}

Histogram::Histogram() : counts_(Limits().size()) {}

void Histogram::Add(double x) {
  const auto limits = Limits();
  const auto range = std::upper_bound(limits.begin(), limits.end(), x) - limits.begin();
  counts_[std::min<size_t>(static_cast<size_t>(range), counts_.size() - 1)] += 1;
  min_ = std::min(min_, x);
  max_ = std::max(max_, x);
  num_ += 1;
  sum_ += x;
  sum_squares_ += x * x;
}

void Histogram::ToProto(tensorflow::HistogramProto* proto) const {
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
