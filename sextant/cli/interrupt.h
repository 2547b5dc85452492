// What SIGINT (Ctrl-C) does. While an InterruptScope lives, the first one asks the work to stop, so
// that it can remove what is half done; otherwise, and the second time, the program ends at once
// with exit code 130.
#pragma once

namespace sextant::cli {

// Called once, by main.
void InstallInterruptHandler();

class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

// Long work calls this often, inside an InterruptScope. Throws CANCELLED after SIGINT.
void ThrowIfInterrupted();
bool Interrupted();

}  // namespace sextant::cli
