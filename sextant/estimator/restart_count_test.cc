#include "sextant/estimator/restart_count.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/exit_code.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"

namespace sextant {
namespace {

class RestartCountTest : public testing::Test {
 protected:
  void Start(const std::string& newest) { const RestartCount count(folder_.path(), newest); }
  bool Refused(const std::string& newest) {
    try {
      Start(newest);
      return false;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kFailedPrecondition);
      NoteExitCode(0);
      return true;
    }
  }
  const TemporaryDirectory folder_;
};

TEST_F(RestartCountTest, RefusesTheStartAfterFiveRestartsInVain) {
  for (int start = 0; start < 6; ++start) Start("model.ckpt-0");
  EXPECT_TRUE(Refused("model.ckpt-0"));
  EXPECT_TRUE(Refused("model.ckpt-0"));
}

TEST_F(RestartCountTest, ANewCheckpointCountsFromAnew) {
  for (int start = 0; start < 6; ++start) Start("");
  // Who saved this one has ended: the next is the first restart since.
  for (int restart = 0; restart < 5; ++restart) Start("model.ckpt-0");
  for (int restart = 0; restart < 5; ++restart) Start("model.ckpt-50");
  EXPECT_TRUE(Refused("model.ckpt-50"));
}

TEST_F(RestartCountTest, StartsThatEndInGoodOrderDoNotCount) {
  for (int start = 0; start < 20; ++start) RestartCount(folder_.path(), "a").TakeBack();
  for (int start = 0; start < 6; ++start) Start("a");
  EXPECT_TRUE(Refused("a"));
}

TEST_F(RestartCountTest, EndsTheProcessWithFive) {
  for (int start = 0; start < 6; ++start) Start("a");
  UseClusterExitCodes();
  try {
    Start("a");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(ExitCodeOf(e.status(), 77), 5);
  }
  NoteExitCode(0);
  UseClusterExitCodes(false);
}

TEST_F(RestartCountTest, JunkInTheFileCountsFromAnew) {
  const std::string path = JoinPath(folder_.path(), "sextant_restarts.json");
  for (const char* junk :
       {"", "{", "[1]", R"({"checkpoint": "a"})", R"({"checkpoint": 3, "restarts": 9})",
        R"({"checkpoint": "a", "restarts": "9"})"}) {
    FileSystem::ForPath(path).WriteFileAtomically(path, junk);
    Start("a");
  }
}

TEST_F(RestartCountTest, AFolderThatIsNotThereYetIsMade) {
  const RestartCount count(JoinPath(folder_.path(), "new"), "");
}

}  // namespace
}  // namespace sextant
