// Nodes on devices of other tasks.
#include <gtest/gtest.h>

#include "sextant/device/device.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

class RemoteDevicesTest : public ::testing::Test {
 protected:
  RemoteDevicesTest() : use_(graph_), cluster_(3, {.session = {.host_devices = 2}}) {}
  Output SquareOn(const std::string& device) {
    const DeviceScope on(device);
    return Square(x_);
  }
  Tensor Run(Output y, bool soft, std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
    Session session(graph_, {.target = cluster_.server(0).target(), .allow_soft_placement = soft});
    return session.Run({{x_, Tensor(3.0f)}}, y, {.deadline = deadline});
  }

  Graph graph_;
  GraphScope use_;
  TestCluster cluster_;
  const Output x_ = Placeholder(DType::kFloat, {}, "x");
};

TEST_F(RemoteDevicesTest, AllDevicesOfATaskCanBeAskedFor) {
  const Output second = SquareOn("/job:ps/task:1/cpu:1");
  const Output both = SquareOn("/job:ps/task:1/cpu:0") + second;
  EXPECT_EQ(Run(second, /*soft=*/false).scalar<float>(), 9.0f);
  EXPECT_EQ(Run(both, /*soft=*/false).scalar<float>(), 18.0f);
}

TEST_F(RemoteDevicesTest, WhatATaskDoesNotHaveIsSaidOrReplaced) {
  const Output third = SquareOn("/job:ps/task:1/cpu:2"), gpu = SquareOn("/job:ps/task:1/gpu:0");
  for (const Output& lost : {third, gpu}) {
    const Status status = StatusOf([&] { Run(lost, /*soft=*/false); });
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find("there is no such device"), std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find("/job:ps/replica:0/task:1/device:CPU:1"), std::string::npos)
        << status.message();
    EXPECT_EQ(Run(lost, /*soft=*/true).scalar<float>(), 9.0f);
  }
  // A device of no task in particular is one of the session's own task.
  const Output own = SquareOn("/cpu:1"), none = SquareOn("/cpu:2");
  EXPECT_EQ(Run(own, /*soft=*/false).scalar<float>(), 9.0f);
  EXPECT_EQ(StatusOf([&] { Run(none, /*soft=*/false); }).code(), Code::kInvalidArgument);
}

TEST_F(RemoteDevicesTest, OnlyTheTaskThatIsNamedIsWaitedFor) {
  cluster_.Stop(2);
  const Output here = SquareOn("/job:ps/task:1/cpu:1"), there = SquareOn("/job:ps/task:2/cpu:1");
  EXPECT_EQ(Run(here, /*soft=*/false).scalar<float>(), 9.0f);
  const Status late = StatusOf([&] { Run(there, false, std::chrono::milliseconds(200)); });
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded);
  EXPECT_NE(late.message().find("no answer yet from /job:ps/task:2"), std::string::npos)
      << late.message();
  cluster_.Start(2);
  EXPECT_EQ(Run(there, /*soft=*/false).scalar<float>(), 9.0f);
}

}  // namespace
}  // namespace sextant::dist
