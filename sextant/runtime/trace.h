// StepTrace: when each step of a run began and ended, where, and how many bytes it gave; as a
// chrome-trace timeline (chrome://tracing, Perfetto) and as TensorFlow's StepStats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tensorflow {
class RunMetadata;
}

namespace sextant {

class StepTrace {
 public:
  struct Event {
    std::string node;
    std::string op;
    std::string device;
    int64_t start_ns = 0;  // since the epoch
    int64_t end_ns = 0;
    int64_t output_bytes = 0;
    std::string implementation;  // that the kernel chose, where it has several
  };

  static int64_t Now();
  void Add(Event event) { events_.push_back(std::move(event)); }
  const std::vector<Event>& events() const { return events_; }

  // A JSON document.
  std::string ChromeTrace() const;
  void ToRunMetadata(tensorflow::RunMetadata* metadata) const;

 private:
  std::vector<Event> events_;
};

}  // namespace sextant
