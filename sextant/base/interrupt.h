// What SIGINT (Ctrl-C) and SIGTERM do. While an InterruptScope lives, the first one asks the work
// to stop, so that it can keep what is done and remove what is half done; the second ends the
// program at once with exit code 130 or 143.
#pragma once

namespace sextant {

// Handlers are set while any scope lives, except for signals that the program ignores or has set
// handlers of its own for. Those that it had before are put back.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

// For a main of its own: outside of scopes too a signal ends the program with its exit code.
void InstallInterruptHandlers();

// The signal that came while a scope lived, 0 when none did. Forgotten when the next scope opens
// after all have closed.
int InterruptSignal();
inline bool Interrupted() { return InterruptSignal() != 0; }
// Long work calls this often, inside an InterruptScope. Throws CANCELLED after a signal.
void ThrowIfInterrupted();

// 130 after SIGINT, 143 after SIGTERM.
inline int ExitCodeOfSignal(int signal) { return 128 + signal; }

}  // namespace sextant
