#include "sextant/formats/damaged_checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sextant/base/temporary_directory.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/tensor_bundle_writer.h"

namespace sextant {
namespace {

class DamagedCheckpointTest : public testing::Test {
 protected:
  DamagedCheckpointTest() {
    CheckpointState state;
    for (const int step : {1, 2, 3}) {
      TensorBundleWriter writer(Prefix(step));
      writer.Add("w", Tensor(static_cast<float>(step)));
      writer.Finish();
      state.all.push_back(Prefix(step));
      state.timestamps.push_back(step);
    }
    state.latest = Prefix(3);
    WriteCheckpointState(dir_.path(), state);
  }
  std::string Prefix(int step) const { return dir_.path() + "/model-" + std::to_string(step); }
  void Damage(int step) const {
    std::filesystem::resize_file(Prefix(step) + ".data-00000-of-00001", 1);
  }

  const TemporaryDirectory dir_;
};

TEST_F(DamagedCheckpointTest, LeavesAWholeOne) {
  Damage(1);
  FallBackToWholeCheckpoint(dir_.path());
  EXPECT_EQ(LatestCheckpoint(dir_.path()), Prefix(3));
  EXPECT_EQ(ReadCheckpointState(dir_.path())->all.size(), 3u);
}

TEST_F(DamagedCheckpointTest, TakesTheNewestThatIsWhole) {
  Damage(2);
  Damage(3);
  FallBackToWholeCheckpoint(dir_.path());
  EXPECT_EQ(LatestCheckpoint(dir_.path()), Prefix(1));
  const auto state = ReadCheckpointState(dir_.path());
  EXPECT_EQ(state->all, std::vector<std::string>{Prefix(1)});
  EXPECT_EQ(state->timestamps.size(), 1u);
}

TEST_F(DamagedCheckpointTest, FindsCheckpointsWithoutTheStateFile) {
  Damage(3);
  for (const bool parses : {true, false}) {
    const std::string path = dir_.path() + "/checkpoint";
    std::filesystem::remove(path);
    if (!parses) std::ofstream(path) << "model_checkpoint_path: \"mod";
    std::ofstream(dir_.path() + "/model-best.index") << "of another kind";
    FallBackToWholeCheckpoint(dir_.path(), "model");
    EXPECT_EQ(LatestCheckpoint(dir_.path()), Prefix(2));
    EXPECT_EQ(ReadCheckpointState(dir_.path())->all, (std::vector{Prefix(1), Prefix(2)}));
  }
}

TEST_F(DamagedCheckpointTest, ChangesNothingWhenNoneIs) {
  for (const int step : {1, 2, 3}) Damage(step);
  FallBackToWholeCheckpoint(dir_.path());
  EXPECT_EQ(LatestCheckpoint(dir_.path()), Prefix(3));
  FallBackToWholeCheckpoint(dir_.path() + "/nowhere");
}

}  // namespace
}  // namespace sextant
