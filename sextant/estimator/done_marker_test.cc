#include "sextant/estimator/done_marker.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sextant/base/temporary_directory.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

TEST(DoneMarkerTest, SaysWhereATrainingEnded) {
  const TemporaryDirectory dir;
  EXPECT_FALSE(ReadDoneMarker(dir.path()));
  EXPECT_FALSE(IsDone(dir.path(), {}));
  WriteDoneMarker(dir.path(), {.step = 70, .max_steps = 100, .reason = "the data ended"});
  const auto marker = ReadDoneMarker(dir.path());
  ASSERT_TRUE(marker);
  EXPECT_EQ(marker->step, 70);
  EXPECT_EQ(marker->max_steps, 100);
  EXPECT_EQ(marker->reason, "the data ended");
  RemoveDoneMarker(dir.path());
  RemoveDoneMarker(dir.path());
  EXPECT_FALSE(ReadDoneMarker(dir.path()));
}

TEST(DoneMarkerTest, EndsRolesOfTheSameTrainingOnly) {
  const TemporaryDirectory dir;
  WriteDoneMarker(dir.path(), {.step = 70, .max_steps = 100, .reason = "early stopping"});
  EXPECT_TRUE(IsDone(dir.path(), 100));
  EXPECT_TRUE(IsDone(dir.path(), 50));
  EXPECT_TRUE(IsDone(dir.path(), {}));
  EXPECT_FALSE(IsDone(dir.path(), 200));  // a training that goes on
  WriteDoneMarker(dir.path(), {.step = 101, .reason = "the data ended"});
  EXPECT_TRUE(IsDone(dir.path(), 100));
  EXPECT_FALSE(IsDone(dir.path(), 102));
}

TEST(DoneMarkerTest, RefusesAnotherFile) {
  const TemporaryDirectory dir;
  std::ofstream(dir.path() + "/DONE") << "yes";
  EXPECT_EQ(StatusOf([&] { ReadDoneMarker(dir.path()); }).code(), Code::kDataLoss);
}

}  // namespace
}  // namespace sextant
