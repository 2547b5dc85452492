#include "sextant/graph/device_name.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant {
namespace {

TEST(DeviceNameTest, PrintsTheCanonicalForm) {
  for (const auto& [text, canonical] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", ""},
           {"/", ""},
           {"/cpu:0", "/device:CPU:0"},
           {"/cpu", "/device:CPU:*"},
           {"/GPU:1", "/device:GPU:1"},
           {"CPU:0", "/device:CPU:0"},
           {"gpu:3", "/device:GPU:3"},
           {"/device:GPU", "/device:GPU:*"},
           {"/device:GPU:*", "/device:GPU:*"},
           {"/job:ps/task:0", "/job:ps/task:0"},
           {"/task:1/job:worker/device:gpu:0/replica:0",
            "/job:worker/replica:0/task:1/device:GPU:0"},
           {"/job:*/task:*", ""},
           {"/cpu:0/gpu:1", "/device:GPU:1"},
           {"/device:TPU_SYSTEM:0", "/device:TPU_SYSTEM:0"}}) {
    EXPECT_EQ(DeviceName::Parse(text).ToString(), canonical) << text;
  }
}

TEST(DeviceNameTest, RefusesWhatIsNoDevice) {
  for (const char* text : {"cpu 0",
                           "/job:",
                           "/job:1a",
                           "/task:-1",
                           "/task:x",
                           "/device:",
                           "/device:GPU:x",
                           "/device:GPU:99999999999",
                           "//cpu:0",
                           "/cpu:0/",
                           "job:a/task:0",
                           "/tpu:0",
                           "/device:G U:0",
                           "\xff",
                           "gpu0",
                           "gpu",
                           "/gpu0",
                           "/device:gpu0",
                           "/device:CPU12:0",
                           "task:0"}) {
    EXPECT_THROW(DeviceName::Parse(text), Error) << text;
  }
}

TEST(DeviceNameTest, InnerPartsOverrideOuterOnes) {
  const DeviceName outer = DeviceName::Parse("/job:ps/task:1/cpu:0");
  EXPECT_EQ(outer.Override(DeviceName::Parse("/gpu:2")).ToString(), "/job:ps/task:1/device:GPU:2");
  EXPECT_EQ(outer.Override(DeviceName::Parse("/task:0")).ToString(), "/job:ps/task:0/device:CPU:0");
}

TEST(DeviceNameTest, MatchesWhatThePatternSets) {
  const DeviceName full = DeviceName::Parse("/job:worker/replica:0/task:1/device:GPU:0");
  EXPECT_TRUE(full.Matches(DeviceName::Parse("/gpu:0")));
  EXPECT_TRUE(full.Matches(DeviceName::Parse("/job:worker")));
  EXPECT_FALSE(full.Matches(DeviceName::Parse("/gpu:1")));
  EXPECT_FALSE(DeviceName().Matches(DeviceName::Parse("/gpu:0")));
}

}  // namespace
}  // namespace sextant
