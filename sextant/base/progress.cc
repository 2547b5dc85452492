#include "sextant/base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "sextant/base/printable.h"

namespace sextant {

Progress::Progress(std::string label, int64_t total, std::string unit)
    : label_(std::move(label)),
      total_(total),
      unit_(std::move(unit)),
      visible_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { Clear(); }

void Progress::Clear() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

std::string Progress::Line(int64_t done) const {
  if (total_ <= 0) return fmt::format("{} ({} {})", label_, done, unit_);
  return fmt::format("{} {:.1f}% ({} of {} {})", label_,
                     100.0 * static_cast<double>(done) / static_cast<double>(total_), done, total_,
                     unit_);
}

void Progress::Update(int64_t done) {
  Show([&] { return Line(done); });
}

void Progress::Show(FunctionRef<std::string()> text) {
  if (!visible_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + std::chrono::milliseconds(100);
  drawn_ = true;
  fmt::print(stderr, "\r>> {}\x1b[K", ShownName(text()));
  std::fflush(stderr);
}

}  // namespace sextant
