// Hooks of loops that can be cancelled, by a token that the program cancels when it likes, or that
// of an InterruptScope (base/interrupt.h), which signals cancel.
//
//   const InterruptScope signals;
//   MonitoredSession session(graph, {.hooks = {StopOnCancel(signals.token())}, …});
//   while (!session.ShouldStop()) session.Run(train_op);
//   if (signals.token()->cancelled()) session.SaveLast();      // to go on later
#pragma once

#include <cstddef>
#include <memory>

#include "sextant/base/cancellation.h"
#include "sextant/base/export.h"
#include "sextant/train/hooks.h"

#pragma GCC visibility push(default)
namespace sextant::train {

// Ends the loop after the step in which the token was cancelled.
HookRef StopOnCancel(std::shared_ptr<CancellationToken> token);

struct SEXTANT_API AwaitInputOptions {
  size_t elements = 1;                            // that a step takes
  std::shared_ptr<CancellationToken> token = {};  // none: the wait cannot be cancelled
  // Throws INVALID_ARGUMENT when the data has no element, and the error of one that cannot be read:
  // before the first step, and before a MonitoredSession saves its first checkpoint.
  bool refuse_unusable = false;
  // An iteration that was restored at its end begins anew, before the first step.
  bool begin_ended_anew = false;
};
// Waits for the elements that a step takes from an iterator of the graph (an IteratorV2's output)
// before the step begins, and throws CANCELLED when the token is cancelled meanwhile: variables and
// random streams are then as the last step left them, and a checkpoint can be saved.
HookRef AwaitInput(Output iterator, AwaitInputOptions options = {});

}  // namespace sextant::train
#pragma GCC visibility pop
