// A line on the terminal that says how far long work is. Nothing is printed where stderr is no
// terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "sextant/base/function_ref.h"

namespace sextant {

// Used by one thread at a time. The destructor wipes the line out.
class Progress {
 public:
  // `total` 0 stands for unknown. `unit` is what is counted, e.g. "records".
  Progress(std::string label, int64_t total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap: redraws at most ten times a second.
  void Update(int64_t done);
  // The same with another text, which is made only when it is drawn.
  void Show(FunctionRef<std::string()> text);
  // Wipes the line out; the next update draws it again.
  void Clear();
  void set_total(int64_t total) { total_ = total; }

  // The line without the terminal's control characters: "train.tfrecords 25.0% (10000 of 40000
  // records)".
  std::string Line(int64_t done) const;

 private:
  const std::string label_;
  int64_t total_;
  const std::string unit_;
  const bool visible_;
  std::chrono::steady_clock::time_point next_draw_;
  bool drawn_ = false;
};

}  // namespace sextant
