// ChildProcess: another program, started beside this one and owned by the object.
//
//   ChildProcess server({.arguments = {"sextant", "server"}, .output = Stream::kPipe});
//   std::optional<std::string> line = server.ReadLine(5s);  // the first that it printed
//   server.Signal(SIGTERM);
//   ExitStatus status = server.Wait();  // status.code == 143
//
//   ProcessResult result = RunProcess({.arguments = {"sextant", "--version"}});
//
// Children are spawned (posix_spawn), never forked, so that a process with threads, gRPC's for
// example, can start them. They begin with default signal handlers and an empty signal mask, and
// inherit no file descriptor but the three standard ones.
//
// Used by one thread at a time; Signal may be called from any thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant {

// Where a standard stream of the child leads.
enum class Stream {
  kInherit,  // to that of this process
  kNull,     // to /dev/null
  kPipe,     // to this object
  kFile,     // to the end of the file ChildOptions::log
  kMerge,    // of the error stream: to where the output leads
};

struct ChildOptions {
  std::vector<std::string> arguments;  // [0] is the program, looked up in PATH unless it has a '/'
  // Variables set beside, or in place of, those of this process; without a value: removed.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment = {};
  std::string directory = {};  // to start in; "": that of this process
  Stream input = Stream::kNull;
  Stream output = Stream::kInherit;
  Stream error = Stream::kInherit;
  std::string log = {};  // the file of Stream::kFile; made where it is missing
  // In a process group of its own: a terminal's Ctrl-C does not reach it, and Signal reaches the
  // processes it has started in turn.
  bool own_group = false;
};

// How a process ended.
struct ExitStatus {
  int code = 0;    // what it returned, 128 + signal when a signal ended it
  int signal = 0;  // that signal, or 0

  bool ok() const { return code == 0; }
  // "exit code 1", "signal 9 (Killed)"
  std::string ToString() const;
};

class ChildProcess {
 public:
  // Throws NOT_FOUND when there is no such program or directory, PERMISSION_DENIED when it may not
  // be run, RESOURCE_EXHAUSTED when the system has no process left for it.
  explicit ChildProcess(const ChildOptions& options);
  // Ends it with SIGKILL when it still runs, and waits.
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  pid_t pid() const { return pid_; }

  // Sends a signal to it, or to its group. False when it has ended already: a process id that the
  // system has given to another process is never signalled.
  bool Signal(int signal);

  ExitStatus Wait();
  // Nothing when it still runs after that time.
  std::optional<ExitStatus> WaitFor(std::chrono::milliseconds time);
  // How it ended, if it has.
  std::optional<ExitStatus> TryWait() { return WaitFor(std::chrono::milliseconds(0)); }

  // REQUIRES: input is a pipe. Writes all; false when the child has closed its end.
  bool Write(std::string_view bytes);
  void CloseInput();

  // REQUIRES: output is a pipe. The next line, without its end; nothing when none has come in that
  // time or the output has ended (output_ended() tells).
  std::optional<std::string> ReadLine(std::chrono::milliseconds time);
  bool output_ended() const { return output_ended_; }
  // File descriptors of the pipes, for poll; -1 where there is none.
  int output_fd() const { return output_fd_; }
  int error_fd() const { return error_fd_; }

 private:
  friend struct ProcessResult RunProcess(const ChildOptions& options, std::string_view input,
                                         std::optional<std::chrono::milliseconds> time);
  ExitStatus Reap();

  std::mutex mutex_;  // of pid_ and ended_: no signal may be sent once the child is reaped
  pid_t pid_ = -1;
  int pid_fd_ = -1;
  bool own_group_ = false;
  std::optional<ExitStatus> ended_;
  int input_fd_ = -1, output_fd_ = -1, error_fd_ = -1;
  bool output_ended_ = false;
  std::string unread_;  // of the output, behind the last line
};

struct ProcessResult {
  ExitStatus status;
  std::string output, error;
  bool timed_out = false;  // it was ended with SIGKILL
};

// Runs a program to its end: gives it "input", takes what it prints on both streams (pipes, unless
// the options lead them elsewhere).
ProcessResult RunProcess(const ChildOptions& options, std::string_view input = {},
                         std::optional<std::chrono::milliseconds> time = {});

}  // namespace sextant
