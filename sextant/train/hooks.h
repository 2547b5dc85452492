// The hooks that most trainings use. Log lines are TensorFlow's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/train/hook.h"

#pragma GCC visibility push(default)

namespace sextant::train {

using HookRef = std::shared_ptr<Hook>;

// How often: every n steps, or seconds. Neither: never.
struct SEXTANT_API Every {
  int64_t steps = 0;
  double seconds = 0;
};

// Ends the loop when the global step reaches "last".
HookRef StopAtStep(int64_t last);
// Ends the loop after this number of its own steps.
HookRef StopAfterSteps(int64_t count);

// "name = value, …" of the tensors at the first step and every so often; also with how long it
// took.
HookRef LogTensors(std::vector<std::pair<std::string, Output>> tensors,
                   Every every = {.steps = 100});
// "global_step/sec: x", and to "scalar" if given: (tag, value, step), e.g. an EventWriter's
// AddScalar.
HookRef CountSteps(Every every = {.steps = 100},
                   std::function<void(const std::string&, float, int64_t)> scalar = {});
// "Average examples/sec: a (c), step = s": over all of the run and since the last line.
HookRef ExamplesPerSecond(int64_t batch_size, Every every = {.steps = 100}, int64_t warm_up = 0);

// A loss that is not a number: throws INTERNAL, or, with stop, ends the loop with a warning.
HookRef StopOnNan(Output loss, bool stop_quietly = false);
// The summaries of the graph (nn/summaries.h), made at the first step and every so often: (bytes of
// a Summary, step), e.g. an EventWriter's AddSerializedSummary.
HookRef SaveSummaries(std::function<void(const std::string&, int64_t)> take,
                      Every every = {.steps = 100});
// Feeds what the function gives before every step.
HookRef FeedEveryStep(std::function<FeedMap()> feeds);
// Calls the function with the values of the tensors when the loop has ended.
HookRef FetchAtEnd(std::vector<Output> tensors, std::function<void(std::vector<Tensor>)> take);
// A chrome-trace timeline of a step every so often: directory/timeline-STEP.json; and to
// "run_metadata" if given: ("step_STEP", bytes of a RunMetadata with StepStats, step), e.g. an
// EventWriter's AddRunMetadata, for TensorBoard.
HookRef ProfileSteps(
    std::string directory, Every every = {.steps = 1000},
    std::function<void(const std::string&, std::string, int64_t)> run_metadata = {});
// "Memory: 83.1 MB (most: 90.4 MB)" of the process, and to "scalar" if given, as memory/resident_mb
// and memory/peak_mb.
HookRef LogMemory(Every every = {.steps = 100},
                  std::function<void(const std::string&, float, int64_t)> scalar = {});

// The first step waits until the global step, which others count too, is at least this. Throws
// DEADLINE_EXCEEDED after deadline_seconds, CANCELLED when the training is
// cancelled (RunConfig::cancellation).
struct SEXTANT_API WaitOptions {
  double poll_seconds = 0.5;
  double deadline_seconds = 7200;
};
HookRef WaitForGlobalStep(int64_t step, const WaitOptions& options = {});

}  // namespace sextant::train

#pragma GCC visibility pop
