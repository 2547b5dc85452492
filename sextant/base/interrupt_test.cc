#include "sextant/base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/testing/sanitizers.h"

namespace sextant {
namespace {

// Programs that a shell starts in the background ignore SIGINT.
class InterruptTest : public testing::Test {
 protected:
  void SetUp() override {
    if (kThreadSanitizer) GTEST_SKIP() << "signals come late";
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
  }
};

TEST_F(InterruptTest, TheFirstSignalOnlyAsks) {
  const InterruptScope scope;
  EXPECT_EQ(InterruptSignal(), 0);
  EXPECT_NO_THROW(ThrowIfInterrupted());
  raise(SIGTERM);
  EXPECT_EQ(InterruptSignal(), SIGTERM);
  EXPECT_THROW(ThrowIfInterrupted(), Error);
}

TEST_F(InterruptTest, AScopeAfterAllOthersBeginsAnew) {
  {
    const InterruptScope outer;
    raise(SIGINT);
    const InterruptScope inner;
    EXPECT_EQ(InterruptSignal(), SIGINT);
  }
  EXPECT_EQ(InterruptSignal(), SIGINT);  // for whoever asks why the work ended
  const InterruptScope next;
  EXPECT_FALSE(Interrupted());
}

TEST_F(InterruptTest, TheSecondSignalEndsTheProgram) {
  EXPECT_EXIT(
      {
        const InterruptScope scope;
        raise(SIGTERM);
        raise(SIGINT);
      },
      testing::ExitedWithCode(130), "");
  EXPECT_EXIT(
      {
        const InterruptScope scope;
        raise(SIGTERM);
        raise(SIGTERM);
      },
      testing::ExitedWithCode(143), "");
}

// Waits, because a thread cancels the token.
Status WaitFor(CancellationToken& token) {
  try {
    SleepUntil(std::chrono::steady_clock::now() + std::chrono::minutes(5), &token);
  } catch (const Error&) {
  }
  return token.status();
}

TEST_F(InterruptTest, ASignalCancelsTheToken) {
  for (const auto& [signal, message] :
       {std::pair(SIGINT, "interrupted by SIGINT"), std::pair(SIGTERM, "interrupted by SIGTERM"),
        std::pair(SIGHUP, "interrupted by SIGHUP")}) {
    const InterruptScope outer;
    const auto token = outer.token();
    EXPECT_FALSE(token->cancelled());
    raise(signal);
    EXPECT_EQ(WaitFor(*token).code(), Code::kCancelled);
    EXPECT_EQ(token->status().message(), message);
    const InterruptScope inner;
    EXPECT_EQ(inner.token(), token);
  }
  const InterruptScope next;
  EXPECT_FALSE(next.token()->cancelled());
}

TEST_F(InterruptTest, ASignalThatCameBeforeTheTokenWasAskedForCancelsIt) {
  const InterruptScope scope;
  raise(SIGTERM);
  EXPECT_EQ(WaitFor(*scope.token()).message(), "interrupted by SIGTERM");
}

TEST_F(InterruptTest, AHangUpAfterAnotherSignalIsNoSecondOne) {
  for (const int first : {SIGHUP, SIGTERM}) {
    EXPECT_EXIT(
        {
          const InterruptScope scope;
          raise(first);
          raise(SIGHUP);
          _exit(ExitCodeOfSignal(InterruptSignal()));
        },
        testing::ExitedWithCode(128 + first), "");
  }
}

TEST_F(InterruptTest, OutsideOfScopesSignalsDoWhatTheyDid) {
  { const InterruptScope scope; }
  EXPECT_EXIT(raise(SIGTERM), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(
      {
        InstallInterruptHandlers();
        { const InterruptScope scope; }
        raise(SIGTERM);
      },
      testing::ExitedWithCode(143), "");
}

TEST_F(InterruptTest, LeavesIgnoredSignalsAndOwnHandlersAlone) {
  EXPECT_EXIT(
      {
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, [](int) { _exit(7); });
        const InterruptScope scope;
        raise(SIGINT);
        if (Interrupted()) _exit(1);
        raise(SIGTERM);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace sextant
