// Histogram: counts of numbers by TensorFlow's 1551 fixed ranges, as summaries of values hold them.
// Not synchronised.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sextant::proto {
class HistogramProto;
}

namespace sextant {

class Histogram {
 public:
  Histogram();
  // The limits, ascending; a value x counts in the first range whose limit is above x.
  static std::span<const double> Limits();

  // REQUIRES: x is finite.
  void Add(double x);
  // Runs of empty ranges become one.
  void ToProto(proto::HistogramProto* proto) const;

 private:
  double min_ = std::numeric_limits<double>::max();
  double max_ = std::numeric_limits<double>::lowest();
  double num_ = 0, sum_ = 0, sum_squares_ = 0;
  std::vector<double> counts_;  // one per limit
};

}  // namespace sextant
