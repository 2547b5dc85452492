// What a training does on SIGINT and SIGTERM (base/interrupt.h): it finishes the step, saves, says
// how to go on and ends the program with 130 or 143.
//
//   const InterruptScope interruptible;
//   MonitoredSession session(graph, {.hooks = {StopOnInterrupt()}, …});
//   while (!session.ShouldStop()) session.Run(train_op);
//   if (Interrupted()) {
//     session.SaveLast();
//     ExitInterrupted(session.global_step(), "run the same program again to go on");
//   }
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/train/hooks.h"

namespace sextant::train {

// Ends the loop after the step in which a signal came.
HookRef StopOnInterrupt();
// For loops that leave nothing behind, e.g. evaluations: throws CANCELLED instead.
HookRef ThrowOnInterrupt();

// One line on stderr, "Interrupted by SIGTERM at step 120: …", then the end of the program, without
// destroying anything: all that must last has been written. REQUIRES: Interrupted().
[[noreturn]] void ExitInterrupted(int64_t step, std::string_view how_to_go_on);

}  // namespace sextant::train
