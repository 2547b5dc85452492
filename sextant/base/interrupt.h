// What SIGINT (Ctrl-C), SIGTERM and SIGHUP do in a program that asks for it: the library installs
// no handlers by itself. While an InterruptScope lives, the first one asks the work to stop, so
// that it can keep what is done and remove what is half done; another SIGINT or SIGTERM ends the
// program at once with exit code 130 or 143.
//
//   int main() {
//     const InterruptScope signals;
//     try {
//       Estimator estimator(ModelFn, {.model_dir = "runs/a", .cancellation = signals.token()});
//       estimator.Train(input);                        // after a signal: saves, throws CANCELLED
//     } catch (const Error& e) {
//       fmt::print(stderr, "{}\n", e.message());
//       return Interrupted() ? ExitCodeOfSignal(InterruptSignal()) : 1;
//     }
//   }
#pragma once

#include <memory>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)
namespace sextant {

class CancellationToken;

// Handlers are set while any scope lives, except for signals that the program ignores or has set
// handlers of its own for. Those that it had before are put back.
class SEXTANT_API InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  // Cancelled, with the name of the signal, when one comes while a scope lives: by a thread that
  // the first call starts. Nested scopes share it.
  std::shared_ptr<CancellationToken> token() const;
};

// For a main of its own: outside of scopes too a signal ends the program with its exit code.
void InstallInterruptHandlers();

// The signal that came while a scope lived, 0 when none did. Forgotten when the next scope opens
// after all have closed.
int InterruptSignal();
inline bool Interrupted() { return InterruptSignal() != 0; }
// Long work of a program calls this often, inside an InterruptScope. Throws CANCELLED after a
// signal.
void ThrowIfInterrupted();

// 129 after SIGHUP, 130 after SIGINT, 143 after SIGTERM.
inline int ExitCodeOfSignal(int signal) { return 128 + signal; }

}  // namespace sextant
#pragma GCC visibility pop
