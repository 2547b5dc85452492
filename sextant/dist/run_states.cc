#include "sextant/dist/run_states.h"

#include <utility>

namespace sextant::dist {

void RunStates::Restore(std::map<int, std::string> states) {
  restored_ = to_take_ = std::move(states);
  noted_.clear();
}

void RunStates::Note(int rank, int64_t step, std::string state) {
  auto& noted = noted_[rank];
  if (!noted.empty() && step <= noted.rbegin()->first) return;
  noted[step] = std::move(state);
  if (noted.size() > 2) noted.erase(noted.begin());
}

int64_t RunStates::StepOf(int rank) const {
  const auto noted = noted_.find(rank);
  return noted == noted_.end() ? first_step_ : noted->second.rbegin()->first;
}

std::string RunStates::Newest(int rank) const {
  if (const auto noted = noted_.find(rank); noted != noted_.end())
    return noted->second.rbegin()->second;
  const auto restored = restored_.find(rank);
  return restored == restored_.end() ? "" : restored->second;
}

std::map<int, std::string> RunStates::Newest() const {
  std::map<int, std::string> states = restored_;
  for (const auto& [rank, noted] : noted_) states[rank] = noted.rbegin()->second;
  return states;
}

bool RunStates::Has(int rank, int64_t step) const {
  if (step == first_step_) return true;
  const auto noted = noted_.find(rank);
  return noted != noted_.end() && noted->second.contains(step);
}

std::map<int, std::string> RunStates::At(int64_t step) const {
  std::map<int, std::string> states;
  if (step == first_step_) states = restored_;
  for (const auto& [rank, noted] : noted_) {
    if (const auto found = noted.find(step); found != noted.end()) states[rank] = found->second;
  }
  return states;
}

std::string RunStates::TakeRestored(int rank) {
  const auto state = to_take_.extract(rank);
  return state ? state.mapped() : std::string();
}

}  // namespace sextant::dist
