// OpProfile: the time of each kind of op in traced steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sextant/runtime/trace.h"

namespace sextant::bench {

class OpProfile {
 public:
  // A step and how long it took, in nanoseconds.
  void Add(const StepTrace& trace, int64_t wall);
  // A table to stderr.
  void Print() const;

 private:
  struct Kind {
    std::string op;
    double milliseconds = 0;
    int count = 0;
  };
  std::map<std::string, Kind> kinds_;
  int64_t wall_ = 0;
  int steps_ = 0;
};

}  // namespace sextant::bench
