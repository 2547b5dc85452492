#include "sextant/device/remote_task.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

constexpr char kTask[] = "/job:ps/replica:0/task:1";

TEST(RemoteTaskTest, ErrorsNameNodeAndTaskOnce) {
  EXPECT_EQ(ErrorOfTask(InvalidArgument("[MatMul b] bad shapes [2] and [3]"), kTask).message(),
            "[MatMul b] on /job:ps/task:1: bad shapes [2] and [3]");
  const Error error = ErrorOfTask(Error(Code::kCancelled, "the session is closed"), kTask);
  EXPECT_EQ(error.message(), "on /job:ps/task:1: the session is closed");
  EXPECT_EQ(error.code(), Code::kCancelled);
}

TEST(RemoteTaskTest, RestartsNameWhatIsLost) {
  const Error error = RestartedError({.task = kTask, .variables = {"w", "b"}});
  EXPECT_EQ(error.code(), Code::kAborted);
  EXPECT_TRUE(error.message().starts_with("/job:ps/task:1 was restarted")) << error.message();
  EXPECT_NE(error.message().find("w, b"), std::string::npos) << error.message();
  EXPECT_EQ(RestartedError({.task = kTask}).message(),
            "/job:ps/task:1 was restarted: what the session had there, as tables and random "
            "streams, is gone");
}

TEST(RemoteTaskTest, ShortNamesHaveJobAndTask) {
  EXPECT_EQ(ShortTaskName(kTask), "/job:ps/task:1");
  EXPECT_EQ(ShortTaskName("/job:ps/replica:0/task:1/device:CPU:0"), "/job:ps/task:1");
}

}  // namespace
}  // namespace sextant
