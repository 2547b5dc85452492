// HookTimer: whether a hook is due, by steps or by seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "sextant/train/hooks.h"

namespace sextant::train {

class HookTimer {
 public:
  explicit HookTimer(Every every) : every_(every) {}

  // Due at the first step asked about, and when the interval has passed since it last fired.
  bool Due(int64_t step) const {
    if (every_.steps <= 0 && every_.seconds <= 0) return false;
    if (!last_step_) return true;
    if (step == *last_step_) return false;
    if (every_.steps > 0) return step >= *last_step_ + every_.steps;
    return SecondsSinceLast() >= every_.seconds;
  }
  // The hook fires at this step: seconds and steps since it did before, if it did.
  struct Elapsed {
    double seconds;
    int64_t steps;
  };
  std::optional<Elapsed> Fire(int64_t step) {
    std::optional<Elapsed> elapsed;
    if (last_step_) elapsed = {SecondsSinceLast(), step - *last_step_};
    last_step_ = step;
    last_time_ = Clock::now();
    return elapsed;
  }
  std::optional<int64_t> last_step() const { return last_step_; }
  // For Hook::SaveState: when it last fired. Seconds begin anew.
  std::string Save() const { return last_step_ ? std::to_string(*last_step_) : std::string(); }
  void Restore(const std::string& state) {
    if (!state.empty()) last_step_ = std::stoll(state);
    last_time_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  double SecondsSinceLast() const {
    return std::chrono::duration<double>(Clock::now() - last_time_).count();
  }

  const Every every_;
  std::optional<int64_t> last_step_;
  Clock::time_point last_time_;
};

}  // namespace sextant::train
