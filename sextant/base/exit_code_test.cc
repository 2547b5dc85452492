#include "sextant/base/exit_code.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <functional>
#include <stdexcept>

#include "sextant/base/flush_at_terminate.h"
#include "sextant/base/interrupt.h"
#include "sextant/testing/sanitizers.h"

namespace sextant {
namespace {

// Ends the process by what nobody catches.
void EndBy(const std::function<void()>& fail) {
  InstallFlushAtTerminate();
  [&]() noexcept { fail(); }();
}

// Of a task of a cluster that trains, or is about to.
void ExpectEndsWith(int code, const std::function<void()>& fail, bool training = true) {
  EXPECT_EXIT(
      {
        UseClusterExitCodes();
        if (training) ClusterTrainingBegins();
        EndBy(fail);
      },
      testing::ExitedWithCode(code), "");
}

class ExitCodeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (kThreadSanitizer) GTEST_SKIP() << "a forked process starts no threads";
  }
};

TEST_F(ExitCodeTest, AnUncaughtErrorEndsATaskByItsCode) {
  ExpectEndsWith(1, [] { throw Internal("x"); });
  ExpectEndsWith(1, [] { throw Error(Code::kResourceExhausted, "x"); });
  ExpectEndsWith(2, [] { throw Unimplemented("x"); });
  ExpectEndsWith(2, [] { throw AlreadyExists("x"); });
  ExpectEndsWith(2, [] { throw Error(Code::kUnauthenticated, "x"); });
  ExpectEndsWith(3, [] { throw InvalidArgument("x"); });
  ExpectEndsWith(3, [] { throw FailedPrecondition("x"); });
  ExpectEndsWith(3, [] { throw NotFound("x"); });
  ExpectEndsWith(3, [] { throw DataLoss("x"); });
  ExpectEndsWith(138, [] { throw Error(Code::kUnavailable, "x"); });
  ExpectEndsWith(138, [] { throw Error(Code::kAborted, "x"); });
  ExpectEndsWith(138, [] { throw Error(Code::kDeadlineExceeded, "x"); });
}

TEST_F(ExitCodeTest, BeforeTheRolesRunTfConfigAndFlagsAreWrong) {
  ExpectEndsWith(
      2, [] { throw InvalidArgument("x"); }, false);
  ExpectEndsWith(
      2, [] { throw FailedPrecondition("x"); }, false);
  ExpectEndsWith(
      2, [] { throw Error(Code::kUnavailable, "the port is taken"); }, false);
}

TEST_F(ExitCodeTest, ANotedCodeIsThatOfTheEnd) {
  ExpectEndsWith(4, [] {
    NoteExitCode(kExitDiverged);
    throw FailedPrecondition("x");
  });
  ExpectEndsWith(5, [] {
    NoteExitCode(kExitNoProgress);
    throw FailedPrecondition("x");
  });
}

TEST_F(ExitCodeTest, ASignalIsSaidWhateverTheError) {
  for (const int signal : {SIGTERM, SIGINT}) {
    ExpectEndsWith(128 + signal, [&] {
      const InterruptScope signals;
      raise(signal);
      throw Error(Code::kCancelled, "x");
    });
  }
}

TEST_F(ExitCodeTest, OtherExceptionsEndATaskToo) {
  ExpectEndsWith(1, [] { throw std::runtime_error("x"); });
  ExpectEndsWith(1, [] { throw std::bad_alloc(); });
}

TEST_F(ExitCodeTest, AProcessWithoutAClusterAborts) {
  EXPECT_EXIT(
      {
        UseClusterExitCodes();
        UseClusterExitCodes(false);
        EndBy([] { throw InvalidArgument("x"); });
      },
      testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace sextant
