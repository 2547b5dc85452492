#include "sextant/base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "sextant/base/error.h"

namespace sextant {
namespace {

TEST(InterruptTest, TheFirstSignalOnlyAsks) {
  const InterruptScope scope;
  EXPECT_EQ(InterruptSignal(), 0);
  EXPECT_NO_THROW(ThrowIfInterrupted());
  raise(SIGTERM);
  EXPECT_EQ(InterruptSignal(), SIGTERM);
  EXPECT_THROW(ThrowIfInterrupted(), Error);
}

TEST(InterruptTest, AScopeAfterAllOthersBeginsAnew) {
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

TEST(InterruptTest, TheSecondSignalEndsTheProgram) {
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

TEST(InterruptTest, OutsideOfScopesSignalsDoWhatTheyDid) {
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

TEST(InterruptTest, LeavesIgnoredSignalsAndOwnHandlersAlone) {
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
