#include "sextant/base/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

#include "sextant/base/error.h"
#include "sextant/base/temporary_directory.h"

namespace sextant {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ChildOptions Shell(const std::string& script) { return {.arguments = {"sh", "-c", script}}; }

TEST(ChildProcessTest, GivesExitCodesAndSignals) {
  EXPECT_EQ(RunProcess(Shell("exit 7")).status.code, 7);
  const ExitStatus killed = RunProcess(Shell("kill -9 $$")).status;
  EXPECT_EQ(killed.code, 137);
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.ToString(), "signal 9 (Killed)");
  EXPECT_TRUE(RunProcess(Shell("true")).status.ok());
}

TEST(ChildProcessTest, PassesInputAndTakesBothOutputs) {
  const ProcessResult result = RunProcess(Shell("cat; echo problem >&2"), "line 1\nline 2");
  EXPECT_EQ(result.output, "line 1\nline 2");
  EXPECT_EQ(result.error, "problem\n");
}

// More than any pipe holds, both ways at once.
TEST(ChildProcessTest, NeitherSideWaitsForTheOther) {
  const std::string input(3 << 20, 'x');
  EXPECT_EQ(RunProcess({.arguments = {"cat"}}, input).output, input);
}

TEST(ChildProcessTest, ChildThatDoesNotReadItsInputEndsAsItLikes) {
  EXPECT_EQ(RunProcess(Shell("exit 3"), std::string(1 << 20, 'x')).status.code, 3);
}

TEST(ChildProcessTest, SetsAndRemovesVariables) {
  setenv("SEXTANT_CHILD_TEST", "outer", 1);
  ChildOptions options = Shell("echo \"$SEXTANT_CHILD_TEST\"");
  EXPECT_EQ(RunProcess(options).output, "outer\n");
  options.environment = {{"SEXTANT_CHILD_TEST", "a b=c"}};
  EXPECT_EQ(RunProcess(options).output, "a b=c\n");
  options.environment = {{"SEXTANT_CHILD_TEST", std::nullopt}};
  EXPECT_EQ(RunProcess(options).output, "\n");
  unsetenv("SEXTANT_CHILD_TEST");
}

TEST(ChildProcessTest, StartsInADirectoryAndAppendsToALog) {
  const TemporaryDirectory directory;
  ChildOptions options = Shell("pwd; echo late >&2");
  options.directory = directory.path();
  options.output = Stream::kFile;
  options.error = Stream::kMerge;
  options.log = directory.path() + "/log";
  EXPECT_TRUE(RunProcess(options).status.ok());
  EXPECT_TRUE(RunProcess(options).status.ok());
  std::ifstream log(options.log);
  const std::string text((std::istreambuf_iterator<char>(log)), {});
  const std::string once = directory.path() + "\nlate\n";
  EXPECT_EQ(text, once + once);
}

TEST(ChildProcessTest, ReadsLinesAsTheyCome) {
  ChildOptions options = Shell("echo one; read answer; echo got $answer; printf rest");
  options.input = options.output = Stream::kPipe;
  ChildProcess child(options);
  EXPECT_EQ(child.ReadLine(seconds(20)), "one");
  EXPECT_EQ(child.ReadLine(milliseconds(1)), std::nullopt);
  EXPECT_FALSE(child.output_ended());
  EXPECT_TRUE(child.Write("it\n"));
  EXPECT_EQ(child.ReadLine(seconds(20)), "got it");
  EXPECT_EQ(child.ReadLine(seconds(20)), "rest");
  EXPECT_EQ(child.ReadLine(seconds(20)), std::nullopt);
  EXPECT_TRUE(child.output_ended());
  EXPECT_EQ(child.Wait().code, 0);
}

TEST(ChildProcessTest, WaitsWithATimeAndTakesSignals) {
  ChildOptions options = Shell("trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done");
  options.output = Stream::kPipe;
  ChildProcess child(options);
  EXPECT_EQ(child.ReadLine(seconds(20)), "ready");
  EXPECT_EQ(child.WaitFor(milliseconds(5)).has_value(), false);
  EXPECT_TRUE(child.Signal(SIGTERM));
  EXPECT_EQ(child.Wait().code, 5);
  EXPECT_FALSE(child.Signal(SIGTERM));
  EXPECT_EQ(child.TryWait()->code, 5);
}

TEST(ChildProcessTest, EndsAChildThatTakesTooLong) {
  const ProcessResult result = RunProcess(Shell("exec sleep 1000"), "", milliseconds(20));
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.status.signal, SIGKILL);
}

TEST(ChildProcessTest, DestructorEndsItAndAGroupWithIt) {
  pid_t pid = 0;
  int grandchild = -1;
  {
    ChildOptions options = Shell("sleep 1000 & echo $!; wait");
    options.output = Stream::kPipe;
    options.own_group = true;
    ChildProcess child(options);
    pid = child.pid();
    const pid_t started = std::stoi(child.ReadLine(seconds(20)).value());
    EXPECT_EQ(getpgid(started), pid);
    grandchild = static_cast<int>(syscall(SYS_pidfd_open, started, 0));
  }
  EXPECT_NE(kill(pid, 0), 0);
  pollfd look = {grandchild, POLLIN, 0};
  EXPECT_EQ(poll(&look, 1, 20000), 1);
  close(grandchild);
}

TEST(ChildProcessTest, ChildHasDefaultSignalsAndNoForeignDescriptors) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // without O_CLOEXEC
  signal(SIGUSR1, SIG_IGN);
  const ProcessResult result = RunProcess(Shell("ls /proc/self/fd | wc -l; kill -USR1 $$"));
  signal(SIGUSR1, SIG_DFL);
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(result.output, "4\n");  // the fourth is ls's own
  EXPECT_EQ(result.status.signal, SIGUSR1);
}

TEST(ChildProcessTest, SaysWhatCouldNotBeStarted) {
  const auto code = [](const ChildOptions& options) {
    try {
      ChildProcess child(options);
    } catch (const Error& error) {
      return error.code();
    }
    return Code::kOk;
  };
  EXPECT_EQ(code({.arguments = {"no-such-program-at-all"}}), Code::kNotFound);
  EXPECT_EQ(code({.arguments = {"/etc/passwd"}}), Code::kPermissionDenied);
  EXPECT_EQ(code({.arguments = {"true"}, .directory = "/no/such/place"}), Code::kNotFound);
  EXPECT_EQ(code({}), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant
