#include "sextant/base/atomic_writer.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/faulty_file_system.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/base/temporary_directory.h"

namespace sextant {
namespace {

using Strings = std::vector<std::string>;

class AtomicWriterTest : public testing::Test {
 protected:
  void SetUp() override { fs_.CreateDirectories("memory://d"); }

  MemoryFileSystem fs_;
  const std::string path_ = "memory://d/file";
};

TEST_F(AtomicWriterTest, FileAppearsOnClose) {
  const auto writer = NewAtomicWriter(fs_, path_);
  writer->Append("one");
  writer->Flush();
  writer->Append(" two");
  writer->Sync();
  EXPECT_FALSE(fs_.Exists(path_));
  writer->Close();
  EXPECT_EQ(fs_.ReadFile(path_), "one two");
  writer->Close();
  EXPECT_EQ(fs_.ListDirectory("memory://d"), Strings{"file"});
}

TEST_F(AtomicWriterTest, WithoutCloseNothingIsLeft) {
  fs_.WriteFileAtomically(path_, "before");
  NewAtomicWriter(fs_, path_)->Append("after");
  EXPECT_EQ(fs_.ReadFile(path_), "before");
  EXPECT_EQ(fs_.ListDirectory("memory://d"), Strings{"file"});
}

TEST_F(AtomicWriterTest, AnErrorAtAnyOperationLeavesTheOldFile) {
  for (int failing = 0;; ++failing) {
    fs_.WriteFileAtomically(path_, "before");
    int count = 0;
    FaultyFileSystem faulty(fs_, {.before = [&](FaultyFileSystem::Operation operation, auto&) {
                              if (operation == FaultyFileSystem::Operation::kDelete) return;
                              if (count++ == failing) throw ResourceExhausted("disk full");
                            }});
    try {
      const auto writer = NewAtomicWriter(faulty, path_);
      writer->Append("after");
      writer->Close();
      EXPECT_EQ(fs_.ReadFile(path_), "after");
      EXPECT_GT(failing, 4);
      break;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kResourceExhausted);
    }
    EXPECT_EQ(fs_.ListDirectory("memory://d"), Strings{"file"}) << failing;
  }
}

TEST_F(AtomicWriterTest, AfterAnErrorEverythingFails) {
  bool full = false;
  FaultyFileSystem faulty(fs_, {.before = [&](FaultyFileSystem::Operation, auto&) {
                            if (full) throw ResourceExhausted("disk full");
                          }});
  const auto writer = NewAtomicWriter(faulty, path_);
  full = true;
  EXPECT_THROW(writer->Sync(), Error);
  full = false;
  EXPECT_THROW(writer->Append("more"), Error);
  EXPECT_THROW(writer->Close(), Error);
  EXPECT_FALSE(fs_.Exists(path_));
}

TEST(AtomicWriterErrorsTest, ErrorsNameTheFileThatWasAskedFor) {
  const TemporaryDirectory scratch;
  FileSystem& files = FileSystem::ForPath(scratch.path());
  const std::string directory = JoinPath(scratch.path(), "directory");
  files.CreateDirectories(JoinPath(directory, "below"));
  const auto message_of = [&](const std::string& path) {
    try {
      files.WriteFileAtomically(path, "x");
    } catch (const Error& e) {
      return e.message();
    }
    return std::string();
  };
  EXPECT_EQ(message_of(directory), directory + ": cannot put the file there: Is a directory");
  const std::string nowhere = JoinPath(scratch.path(), "absent/file");
  EXPECT_EQ(message_of(nowhere), nowhere + ": cannot open: No such file or directory");
}

}  // namespace
}  // namespace sextant
