// StepTrace: when each step of a run began and ended, where, and how many bytes it gave; as a
// chrome-trace timeline (chrome://tracing, Perfetto) and as TensorFlow's StepStats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class RunMetadata;
}

namespace sextant {

class SEXTANT_API StepTrace {
 public:
  struct Event {           // one step on one thread
    std::string node;      // its name
    std::string op;        // its type
    std::string device;    // that ran it
    int64_t start_ns = 0;  // since the epoch
    int64_t end_ns = 0;
    int64_t output_bytes = 0;
    std::string implementation;  // that the kernel chose, where it has several
  };

  static int64_t Now();  // nanoseconds since the epoch
  void Add(Event event) { events_.push_back(std::move(event)); }
  const std::vector<Event>& events() const { return events_; }

  // A JSON document.
  std::string ChromeTrace() const;
  void ToRunMetadata(proto::RunMetadata* metadata) const;

 private:
  std::vector<Event> events_;
};

}  // namespace sextant

#pragma GCC visibility pop
