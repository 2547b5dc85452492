// RunStates: the run states (train/run_state.h) of the tasks that train, by rank, as the
// coordinator keeps them for checkpoints and for tasks that come back.
//
// In deterministic synchronous training every task notes its state with every step, so that a
// checkpoint has all states of its step, and a task that comes back goes on from where it was. A
// task may be one step ahead of the model, but not two: the newest two states are kept.
//
//   states.BeginEpoch(7);
//   states.StepOf(1);                // 7: rank 1 has noted nothing yet
//   states.Note(1, 8, "…");          // it has done its part of step 7
//   states.At(8);                    // for a checkpoint of step 8
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace sextant::dist {

class RunStates {
 public:
  // The states of a checkpoint, before its epoch begins.
  void Restore(std::map<int, std::string> states);
  void BeginEpoch(int64_t step) { first_step_ = step; }

  // Ignored when a state of this or a later step is there.
  void Note(int rank, int64_t step, std::string state);

  // The step that the newest state of the rank belongs to; that of the epoch's begin when it has
  // noted none.
  int64_t StepOf(int rank) const;
  // The newest, else the restored one, else "".
  std::string Newest(int rank) const;
  std::map<int, std::string> Newest() const;
  // Whether it is known what the state of a rank is at a step.
  bool Has(int rank, int64_t step) const;
  std::map<int, std::string> At(int64_t step) const;

  // The restored one, once; "": none.
  std::string TakeRestored(int rank);

 private:
  int64_t first_step_ = 0;
  std::map<int, std::string> restored_, to_take_;
  std::map<int, std::map<int64_t, std::string>> noted_;  // by rank and step
};

}  // namespace sextant::dist
