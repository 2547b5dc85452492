// StandardOutput: std::cout while a command runs.
//
// What is printed may quote files, so control characters but line ends, and bytes that are no
// UTF-8, are escaped (base/printable.h); JSON stays JSON. When the reader of a pipe has gone ("|
// head"), the process ends as by SIGPIPE, without a message, or, where a command has work to do
// beside printing, what follows is dropped.
#pragma once

#include <memory>
#include <ostream>

namespace sextant::cli {

enum class OnClosedPipe { kEnd, kGoOn };

class StandardOutput {
 public:
  // Takes std::cout's place; the destructor gives it back.
  explicit StandardOutput(OnClosedPipe on_closed_pipe);
  ~StandardOutput();
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  // Writes out what is buffered. Throws when the output cannot be written (disk full ...).
  void Finish();

 private:
  class Buffer;
  const std::unique_ptr<Buffer> buffer_;
  std::streambuf* const before_;
  void (*const signal_before_)(int);
};

// The standard output as it is, for data: nothing is escaped unless a terminal shows it.
// REQUIRES: a StandardOutput that nothing was written to yet.
void PassBytesThrough();

}  // namespace sextant::cli
