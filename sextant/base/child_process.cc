#include "sextant/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sextant/base/error.h"

extern char** environ;

namespace sextant {
namespace {

using Milliseconds = std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw ResourceExhausted("no pipe to a child process could be made: {}", strerror(errno));
    read = ends[0];
    write = ends[1];
  }
  int read, write;
};

void CloseFd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// Closes what it holds when the start of a child fails midway.
struct FdGuard {
  std::vector<int> fds;
  ~FdGuard() {
    for (int fd : fds) close(fd);
  }
};

struct SpawnActions {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnActions() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

std::vector<std::string> ChildEnvironment(const ChildOptions& options) {
  const auto named = [](const std::string& entry, const std::string& name) {
    return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
  };
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  for (const auto& [variable, value] : options.environment) {
    const std::string& name = variable;  // clang 14 captures no structured binding
    std::erase_if(variables, [&](const std::string& entry) { return named(entry, name); });
    if (value) variables.push_back(name + "=" + *value);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What posix_spawn does to signals and the process group: nothing of this process's handlers and
// masks reaches the child.
void SetAttributes(posix_spawnattr_t& attributes, bool own_group) {
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  if (own_group) posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                              (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
}

Error StartError(const ChildOptions& options, int error) {
  const std::string& program = options.arguments[0];
  const std::string where = options.directory.empty() ? "" : " in " + options.directory;
  const std::string text =
      fmt::format("{} could not be started{}: {}", program, where, strerror(error));
  if (error == ENOENT || error == ENOTDIR) return Error(Code::kNotFound, text);
  if (error == EACCES || error == EPERM || error == ENOEXEC)
    return Error(Code::kPermissionDenied, text);
  return Error(Code::kResourceExhausted, text);
}

// Waits until the process behind the descriptor has ended or the deadline is past.
bool PollEnded(int pid_fd, pid_t pid, std::optional<SteadyClock::time_point> deadline) {
  for (;;) {
    int left = -1;
    if (deadline) {
      const auto time = std::chrono::ceil<Milliseconds>(*deadline - SteadyClock::now()).count();
      left = static_cast<int>(std::clamp<int64_t>(time, 0, 1 << 30));
    }
    int ready = 0;
    if (pid_fd >= 0) {
      pollfd look = {pid_fd, POLLIN, 0};
      ready = poll(&look, 1, left);
    } else {  // a kernel without pidfd_open
      siginfo_t info = {};
      waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | (deadline ? WNOHANG : 0));
      ready = info.si_pid == pid ? 1 : 0;
      if (ready == 0) poll(nullptr, 0, std::clamp(left, 0, 2));
    }
    if (ready > 0) return true;
    if (deadline && SteadyClock::now() >= *deadline) return false;
  }
}

}  // namespace

std::string ExitStatus::ToString() const {
  if (signal != 0) return fmt::format("signal {} ({})", signal, strsignal(signal));
  return fmt::format("exit code {}", code);
}

ChildProcess::ChildProcess(const ChildOptions& options) : own_group_(options.own_group) {
  if (options.arguments.empty() || options.arguments[0].empty())
    throw InvalidArgument("a child process needs the name of a program");
  FdGuard guard;
  SpawnActions spawn;
  const auto lead = [&](Stream stream, int target) -> int {  // our end of a pipe, else -1
    switch (stream) {
      case Stream::kInherit:
        return -1;
      case Stream::kNull:
        posix_spawn_file_actions_addopen(&spawn.actions, target, "/dev/null",
                                         target == 0 ? O_RDONLY : O_WRONLY, 0);
        return -1;
      case Stream::kFile:
        posix_spawn_file_actions_addopen(&spawn.actions, target, options.log.c_str(),
                                         O_WRONLY | O_CREAT | O_APPEND, 0644);
        return -1;
      case Stream::kMerge:
        posix_spawn_file_actions_adddup2(&spawn.actions, 1, target);
        return -1;
      case Stream::kPipe:
        break;
    }
    const Pipe pipe;
    const int ours = target == 0 ? pipe.write : pipe.read;
    const int theirs = target == 0 ? pipe.read : pipe.write;
    guard.fds.push_back(ours);
    guard.fds.push_back(theirs);
    posix_spawn_file_actions_adddup2(&spawn.actions, theirs, target);
    return ours;
  };
  const int input = lead(options.input, 0);
  const int output = lead(options.output, 1);
  const int error = lead(options.error, 2);
  posix_spawn_file_actions_addclosefrom_np(&spawn.actions, 3);
  if (!options.directory.empty())
    posix_spawn_file_actions_addchdir_np(&spawn.actions, options.directory.c_str());
  SetAttributes(spawn.attributes, own_group_);

  std::vector<std::string> arguments = options.arguments, environment = ChildEnvironment(options);
  const int failed = posix_spawnp(&pid_, arguments[0].c_str(), &spawn.actions, &spawn.attributes,
                                  Pointers(arguments).data(), Pointers(environment).data());
  if (failed != 0) throw StartError(options, failed);
  pid_fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  for (int* ours : {&input_fd_, &output_fd_, &error_fd_}) {
    *ours = ours == &input_fd_ ? input : ours == &output_fd_ ? output : error;
    std::erase(guard.fds, *ours);
  }
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pid_fd_(std::exchange(other.pid_fd_, -1)),
      own_group_(other.own_group_),
      ended_(std::exchange(other.ended_, ExitStatus{})),
      input_fd_(std::exchange(other.input_fd_, -1)),
      output_fd_(std::exchange(other.output_fd_, -1)),
      error_fd_(std::exchange(other.error_fd_, -1)),
      output_ended_(other.output_ended_),
      unread_(std::move(other.unread_)) {}

ChildProcess::~ChildProcess() {
  if (!ended_) {
    Signal(SIGKILL);
    Wait();
  }
  CloseFd(pid_fd_);
  CloseFd(input_fd_);
  CloseFd(output_fd_);
  CloseFd(error_fd_);
}

bool ChildProcess::Signal(int signal) {
  std::lock_guard lock(mutex_);
  if (ended_) return false;
  return kill(own_group_ ? -pid_ : pid_, signal) == 0;
}

ExitStatus ChildProcess::Reap() {
  std::lock_guard lock(mutex_);
  if (ended_) return *ended_;
  int state = 0;
  while (waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
  }
  ExitStatus status;
  if (WIFSIGNALED(state)) {
    status = {128 + WTERMSIG(state), WTERMSIG(state)};
  } else {
    status = {WEXITSTATUS(state), 0};
  }
  ended_ = status;
  return status;
}

ExitStatus ChildProcess::Wait() {
  if (!ended_) PollEnded(pid_fd_, pid_, {});
  return Reap();
}

std::optional<ExitStatus> ChildProcess::WaitFor(Milliseconds time) {
  if (!ended_ && !PollEnded(pid_fd_, pid_, SteadyClock::now() + time)) return {};
  return Reap();
}

}  // namespace sextant
