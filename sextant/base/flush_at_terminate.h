// What is still in buffers when an exception that nobody catches ends the program: it is written
// before, the standard output first, so that what a program printed and recorded up to its error is
// there. The handler then calls the one that was set before it, which ends the program; a task of a
// cluster ends with an exit code instead, which says why (exit_code.h).
#pragma once

#include <functional>

namespace sextant {

// Has `flush` called then, as long as it lives. It must not wait for long.
class FlushAtTerminate {
 public:
  explicit FlushAtTerminate(std::function<void()> flush);
  ~FlushAtTerminate();
  FlushAtTerminate(const FlushAtTerminate&) = delete;
  FlushAtTerminate& operator=(const FlushAtTerminate&) = delete;
};

// Sets the handler (std::set_terminate) the first time it is called; the first Error does so.
void InstallFlushAtTerminate();

}  // namespace sextant
