// Gives memory that malloc has free back to the system. glibc keeps what lies below a block in use,
// so that one burst of large requests, or an attack, would stay resident for good. From the first
// trimmer on, freed blocks of 8 MB or more do not stay at all.
#pragma once

#include <chrono>
#include <cstdint>

namespace sextant::serving {

// For one thread.
class HeapTrimmer {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int64_t kGrowth = int64_t{32} << 20;
  static constexpr std::chrono::seconds kInterval{2};

  // Trims if the resident bytes that malloc does not count as in use have grown by kGrowth since
  // the last Trim; looks at most once in kInterval. Whether it trimmed.
  HeapTrimmer();
  bool TrimIfGrown(Clock::time_point now = Clock::now());
  void Trim();

 private:
  int64_t unused_;  // of the resident bytes, after the last Trim
  Clock::time_point next_;
};

}  // namespace sextant::serving
