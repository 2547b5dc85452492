#include "sextant/formats/checkpoint_journal.h"

#include <gtest/gtest.h>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/tensor_bundle_writer.h"
#include "sextant/tensor/tensor.h"

namespace sextant {
namespace {

class CheckpointJournalTest : public testing::Test {
 protected:
  std::string Save(const std::string& name) {
    std::string prefix = directory_ + "/" + name;
    WriteCheckpoint(prefix, {{"x", Tensor(1.0f)}});
    return prefix;
  }
  bool Exists(const std::string& name) {
    return FileSystem::ForPath(directory_).Exists(directory_ + "/" + name);
  }
  const TemporaryDirectory temporary_;
  const std::string directory_ = temporary_.path();
};

TEST_F(CheckpointJournalTest, DeletesWhatWasAtWorkAndIsNotListed) {
  const std::string kept = Save("model.ckpt-1"), newest = Save("model.ckpt-3");
  const std::string dropped = Save("model.ckpt-2"), unfinished = Save("model.ckpt-4");
  Save("model.ckpt-0");  // kept for good, not listed
  FileSystem& files = FileSystem::ForPath(directory_);
  files.CreateDirectories(directory_ + "/model.ckpt-4_temp_0123/part");
  WriteCheckpointState(directory_, {.latest = newest, .all = {kept, newest}});
  const CheckpointJournal journal(directory_);
  journal.Note({kept, dropped, unfinished});
  // The last name may be cut off: it is not taken for another one.
  const auto writer = files.NewWriter(directory_ + "/checkpoint.journal", /*append=*/true);
  writer->Append("model.ckpt-0");
  writer->Close();
  CheckpointJournal(directory_).CleanUp();
  EXPECT_TRUE(Exists("model.ckpt-0.index"));
  EXPECT_TRUE(Exists("model.ckpt-1.index"));
  EXPECT_FALSE(Exists("model.ckpt-2.index"));
  EXPECT_FALSE(Exists("model.ckpt-2.data-00000-of-00001"));
  EXPECT_TRUE(Exists("model.ckpt-3.index"));
  EXPECT_FALSE(Exists("model.ckpt-4.index"));
  EXPECT_FALSE(Exists("model.ckpt-4_temp_0123"));
  EXPECT_FALSE(Exists("checkpoint.journal"));
}

TEST_F(CheckpointJournalTest, WithoutAJournalNothingIsDeleted) {
  Save("model.ckpt-7");
  const CheckpointJournal journal(directory_);
  journal.CleanUp();
  EXPECT_TRUE(Exists("model.ckpt-7.index"));
  journal.Note({"model.ckpt-7"});
  journal.Clear();
  journal.CleanUp();
  EXPECT_TRUE(Exists("model.ckpt-7.index"));
}

}  // namespace
}  // namespace sextant
