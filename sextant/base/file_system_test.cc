// The contract of FileSystem, run on the local disk and in memory.
#include "sextant/base/file_system.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "sextant/base/error.h"
#include "sextant/base/faulty_file_system.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

using Strings = std::vector<std::string>;

class FileSystemTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string scheme = GetParam();
    root_ =
        fmt::format("{}{}sextant_{}_{}", scheme, scheme == "memory://" ? "" : testing::TempDir(),
                    getpid(), testing::UnitTest::GetInstance()->current_test_info()->line());
    fs_.CreateDirectories(root_);
  }
  void TearDown() override { fs_.DeleteRecursively(root_); }

  std::string Path(std::string_view name) const { return JoinPath(root_, name); }
  void Write(std::string_view name, std::string_view contents) {
    const auto writer = fs_.NewWriter(Path(name));
    writer->Append(contents);
    writer->Close();
    writer->Close();
  }

  FileSystem& fs_ = FileSystem::ForPath(GetParam());
  std::string root_;
};

INSTANTIATE_TEST_SUITE_P(All, FileSystemTest, testing::Values("", "file://", "memory://"));

// Large enough that disk blocks are taken ahead, in pieces that do not fit any buffer.
TEST_P(FileSystemTest, WritesLargeFilesOfOddPieces) {
  std::string expected;
  {
    const auto writer = fs_.NewWriter(Path("large"));
    for (int i = 0; expected.size() < 10'000'000; ++i) {
      const std::string piece(i % 7 == 0 ? 200'003 : 3117, static_cast<char>('a' + i % 26));
      writer->Append(piece);
      expected += piece;
      if (i == 100) {
        writer->Flush();
        EXPECT_EQ(fs_.Stat(Path("large")).size, expected.size());
      }
    }
    writer->Close();
  }
  EXPECT_TRUE(fs_.ReadFile(Path("large")) == expected);
}

// Large enough that the disk is asked to write before Sync.
TEST_P(FileSystemTest, ExpectingSyncChangesNoBytes) {
  std::string expected;
  for (const bool append : {false, true}) {
    const auto writer = fs_.NewWriter(Path("large"), append);
    writer->ExpectSync();
    for (const size_t size : {5, 9'000'003, 70'000}) {
      const std::string piece(size, static_cast<char>('a' + size % 26 + append));
      writer->Append(piece);
      expected += piece;
    }
    writer->Sync();
    EXPECT_TRUE(fs_.ReadFile(Path("large")) == expected);
    writer->Close();
  }
  EXPECT_TRUE(fs_.ReadFile(Path("large")) == expected);
}

TEST_P(FileSystemTest, WritesAndReads) {
  Write("a", "hello world");
  EXPECT_EQ(fs_.ReadFile(Path("a")), "hello world");
  const auto reader = fs_.NewReader(Path("a"));
  EXPECT_EQ(reader->path(), Path("a"));
  char buffer[8];
  EXPECT_EQ(reader->ReadAt(6, buffer), 5u);
  EXPECT_EQ(reader->ReadAt(100, buffer), 0u);
  EXPECT_EQ(reader->Read(std::span(buffer).first(6)), 6u);
  EXPECT_EQ(reader->position(), 6u);
  EXPECT_EQ(reader->Read(buffer), 5u);
  EXPECT_EQ(std::string_view(buffer, 5), "world");
  EXPECT_EQ(reader->Read(buffer), 0u);
  reader->ReadExactlyAt(3, buffer);
  EXPECT_EQ(std::string_view(buffer, 8), "lo world");
  const Status status = StatusOf([&] { reader->ReadExactlyAt(4, buffer); });
  EXPECT_EQ(status.code(), Code::kOutOfRange);
  EXPECT_NE(status.message().find(Path("a")), std::string::npos);
}

TEST_P(FileSystemTest, AppendsAndTruncates) {
  Write("a", "one");
  const auto writer = fs_.NewWriter(Path("a"), /*append=*/true);
  writer->Append(" two");
  writer->Flush();
  EXPECT_EQ(fs_.ReadFile(Path("a")), "one two");
  writer->Append(std::string(200'000, 'x'));
  writer->Sync();
  EXPECT_EQ(fs_.Stat(Path("a")).size, 200'007u);
  writer->Close();
  Write("a", "new");
  EXPECT_EQ(fs_.ReadFile(Path("a")), "new");
}

TEST_P(FileSystemTest, StatsAndLists) {
  fs_.CreateDirectories(Path("d/e"));
  fs_.CreateDirectories(Path("d/e"));
  Write("d/b", "12345");
  Write("d/a", "");
  EXPECT_EQ(fs_.ListDirectory(Path("d")), (Strings{"a", "b", "e"}));
  EXPECT_EQ(fs_.Stat(Path("d/b")).size, 5u);
  EXPECT_GT(fs_.Stat(Path("d/b")).mtime_ns, 1'500'000'000'000'000'000);
  EXPECT_FALSE(fs_.Stat(Path("d/b")).is_directory);
  EXPECT_TRUE(fs_.Stat(Path("d/e/")).is_directory);
  EXPECT_TRUE(fs_.Exists(Path("d/a")));
  EXPECT_FALSE(fs_.Exists(Path("d/c")));
}

TEST_P(FileSystemTest, ErrorsNameThePathAndTheReason) {
  const Status missing = StatusOf([&] { fs_.NewReader(Path("none")); });
  EXPECT_EQ(missing.ToString(),
            "NOT_FOUND: " + Path("none") + ": cannot open: No such file or directory");
  EXPECT_EQ(StatusOf([&] { fs_.NewWriter(Path("no/file")); }).code(), Code::kNotFound);
  EXPECT_EQ(StatusOf([&] { fs_.Stat(Path("none")); }).code(), Code::kNotFound);
  EXPECT_EQ(StatusOf([&] { fs_.ListDirectory(Path("none")); }).code(), Code::kNotFound);
  EXPECT_EQ(StatusOf([&] { fs_.Delete(Path("none")); }).code(), Code::kNotFound);
  EXPECT_EQ(StatusOf([&] { fs_.Rename(Path("none"), Path("b")); }).code(), Code::kNotFound);
  EXPECT_EQ(StatusOf([&] { fs_.NewReader(root_); }).code(), Code::kFailedPrecondition);
  EXPECT_EQ(StatusOf([&] { fs_.NewWriter(root_); }).code(), Code::kFailedPrecondition);
  Write("file", "");
  EXPECT_EQ(StatusOf([&] { fs_.CreateDirectories(Path("file")); }).code(),
            Code::kFailedPrecondition);
  EXPECT_EQ(StatusOf([&] { fs_.CreateDirectories(Path("file/sub")); }).code(),
            Code::kFailedPrecondition);
  EXPECT_EQ(StatusOf([&] { fs_.ListDirectory(Path("file")); }).code(), Code::kFailedPrecondition);
  EXPECT_EQ(StatusOf([&] { fs_.Delete(root_); }).code(), Code::kFailedPrecondition);
}

TEST_P(FileSystemTest, RenamesFilesAndDirectories) {
  Write("a", "new");
  Write("b", "old");
  fs_.Rename(Path("a"), Path("b"));
  EXPECT_FALSE(fs_.Exists(Path("a")));
  EXPECT_EQ(fs_.ReadFile(Path("b")), "new");
  fs_.CreateDirectories(Path("d/sub"));
  Write("d/sub/x", "x");
  Write("d-other", "kept");
  fs_.Rename(Path("d"), Path("e"));
  EXPECT_EQ(fs_.ReadFile(Path("e/sub/x")), "x");
  EXPECT_EQ(fs_.ListDirectory(root_), (Strings{"b", "d-other", "e"}));
}

TEST_P(FileSystemTest, DeletesRecursively) {
  fs_.CreateDirectories(Path("d/e/f"));
  Write("d/e/x", "x");
  fs_.DeleteRecursively(Path("d"));
  EXPECT_FALSE(fs_.Exists(Path("d")));
  EXPECT_EQ(StatusOf([&] { fs_.DeleteRecursively(Path("d")); }).code(), Code::kNotFound);
}

TEST_P(FileSystemTest, WritesAtomicallyAndLeavesNothingBeside) {
  fs_.WriteFileAtomically(Path("a"), "one");
  fs_.WriteFileAtomically(Path("a"), "two");
  EXPECT_EQ(fs_.ReadFile(Path("a")), "two");
  EXPECT_EQ(StatusOf([&] { fs_.WriteFileAtomically(root_, "x"); }).code(),
            Code::kFailedPrecondition);
  EXPECT_EQ(fs_.ListDirectory(root_), Strings{"a"});
}

TEST_P(FileSystemTest, Globs) {
  fs_.CreateDirectories(Path("d1"));
  fs_.CreateDirectories(Path("d2"));
  for (const char* name : {"d1/a.txt", "d1/b.txt", "d2/a.txt", "d2/a.bin", "star*"})
    Write(name, "");
  EXPECT_EQ(fs_.Glob(Path("d?/a.*")),
            (Strings{Path("d1/a.txt"), Path("d2/a.bin"), Path("d2/a.txt")}));
  EXPECT_EQ(fs_.Glob(Path("*/[b-z].txt")), Strings{Path("d1/b.txt")});
  EXPECT_EQ(fs_.Glob(Path("d1/a.txt")), Strings{Path("d1/a.txt")});
  EXPECT_EQ(fs_.Glob(Path("star\\*")), Strings{Path("star*")});
  EXPECT_EQ(fs_.Glob(Path("none/*")), Strings{});
  EXPECT_EQ(fs_.Glob(Path("d1/c*")), Strings{});
}

TEST(FileSystemPathTest, UnknownSchemeIsUnimplemented) {
  const Status status = StatusOf([] { FileSystem::ForPath("gs://bucket/x"); });
  EXPECT_EQ(status.ToString(),
            "UNIMPLEMENTED: gs://bucket/x: this build has no file system for gs:// paths");
}

TEST(FileSystemPathTest, RegistersSchemes) {
  FileSystem::Register("mine", std::make_unique<MemoryFileSystem>());
  FileSystem& fs = FileSystem::ForPath("mine://a");
  fs.WriteFileAtomically("mine://a", "x");
  EXPECT_EQ(FileSystem::ForPath("mine://b").ReadFile("mine://a"), "x");
  EXPECT_FALSE(FileSystem::ForPath("memory://a").Exists("memory://a"));
  EXPECT_EQ(StatusOf([] { FileSystem::Register("mine", nullptr); }).code(), Code::kAlreadyExists);
}

TEST(FileSystemPathTest, TakesPathsApart) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(JoinPath("a", "/b"), "/b");
  EXPECT_EQ(JoinPath("memory://", "b"), "memory://b");
  EXPECT_EQ(DirectoryName("a/b/c"), "a/b");
  EXPECT_EQ(DirectoryName("a"), "");
  EXPECT_EQ(DirectoryName("/a"), "/");
  EXPECT_EQ(DirectoryName("gs://bucket/a"), "gs://bucket");
  EXPECT_EQ(DirectoryName("gs://bucket"), "gs://");
  EXPECT_EQ(BaseName("a/b"), "b");
  EXPECT_EQ(BaseName("b"), "b");
  EXPECT_EQ(PathScheme("gs://x"), "gs");
  EXPECT_EQ(PathScheme("a/b://c"), "");
  EXPECT_EQ(PathScheme("://c"), "");
}

TEST(PosixFileSystemTest, ReadsSpecialFilesAndDeletesLinksNotTargets) {
  FileSystem& fs = FileSystem::ForPath("/");
  EXPECT_FALSE(fs.ReadFile("/proc/self/status").empty());
  const std::string root = fmt::format("{}sextant_links_{}", testing::TempDir(), getpid());
  fs.CreateDirectories(root + "/real");
  fs.CreateDirectories(root + "/doomed");
  fs.WriteFileAtomically(root + "/real/x", "x");
  ASSERT_EQ(symlink((root + "/real").c_str(), (root + "/doomed/link").c_str()), 0);
  fs.DeleteRecursively(root + "/doomed");
  EXPECT_EQ(fs.ReadFile(root + "/real/x"), "x");
  fs.DeleteRecursively(root);
}

TEST(PosixFileSystemTest, ReadsPipesOnce) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "abcdef", 6), 6);
  close(ends[1]);
  const std::string path = fmt::format("/dev/fd/{}", ends[0]);
  const auto reader = FileSystem::ForPath(path).NewReader(path);
  char bytes[4];
  EXPECT_EQ(reader->Read(bytes), 4u);
  EXPECT_EQ(std::string_view(bytes, 4), "abcd");
  const Status back = StatusOf([&] { reader->ReadAt(0, bytes); });
  EXPECT_EQ(back.code(), Code::kFailedPrecondition);
  EXPECT_NE(back.message().find(path + ": a pipe is read once"), std::string::npos);
  EXPECT_EQ(reader->Read(bytes), 2u);
  EXPECT_EQ(std::string_view(bytes, 2), "ef");
  EXPECT_EQ(reader->Read(bytes), 0u);
  close(ends[0]);
}

TEST(FaultyFileSystemTest, ShortReadsStillReadEverything) {
  MemoryFileSystem memory;
  memory.WriteFileAtomically("a", "hello world");
  FaultyFileSystem faulty(memory, {.max_read = 3});
  char buffer[8];
  const auto reader = faulty.NewReader("a");
  EXPECT_EQ(reader->ReadAt(0, buffer), 3u);
  reader->ReadExactlyAt(1, buffer);
  EXPECT_EQ(std::string_view(buffer, 8), "ello wor");
  EXPECT_EQ(faulty.ReadFile("a"), "hello world");
}

TEST(FaultyFileSystemTest, AtomicWritesSurviveAFailureOfAnyOperation) {
  for (int fail_at = 0;; ++fail_at) {
    MemoryFileSystem memory;
    memory.WriteFileAtomically("a", "old");
    int operations = 0;
    FaultyFileSystem faulty(memory, {.before = [&](auto, const std::string& path) {
                              if (operations++ == fail_at)
                                throw ResourceExhausted("{}: disk full", path);
                            }});
    const Status status = StatusOf([&] { faulty.WriteFileAtomically("a", "new"); });
    EXPECT_EQ(memory.ListDirectory(""), Strings{"a"}) << fail_at;
    if (status.ok()) break;
    EXPECT_EQ(status.code(), Code::kResourceExhausted);
    const bool renamed = fail_at >= 5;  // writer, append, sync, close, rename come first
    EXPECT_EQ(memory.ReadFile("a"), renamed ? "new" : "old") << fail_at;
  }
}

TEST(FaultyFileSystemTest, AtomicWritesSurviveACrashAfterAnyByte) {
  for (uint64_t bytes = 0; bytes < 10; ++bytes) {
    MemoryFileSystem memory;
    memory.WriteFileAtomically("a", "old");
    FaultyFileSystem faulty(memory, {.crash_after_bytes = bytes});
    const Status status = StatusOf([&] { faulty.WriteFileAtomically("a", "0123456789"); });
    EXPECT_EQ(status.code(), Code::kUnavailable);
    EXPECT_TRUE(faulty.crashed());
    EXPECT_EQ(memory.ReadFile("a"), "old");
    EXPECT_EQ(memory.ReadFile(memory.Glob("a.tmp*").at(0)).size(), bytes);
  }
}

TEST(ReadFileTest, ReadsWholeFilesUpToALimit) {
  FileSystem& files = FileSystem::ForPath("/dev/zero");
  const auto code_of = [&](const std::string& path) {
    try {
      files.ReadFile(path);
    } catch (const Error& e) {
      EXPECT_NE(e.message().find(path), std::string::npos) << e.message();
      return e.code();
    }
    return Code::kOk;
  };
  EXPECT_EQ(code_of("/dev/zero"), Code::kResourceExhausted);
  EXPECT_EQ(code_of("/dev/null"), Code::kOk);
  const TemporaryDirectory scratch;
  const std::string sparse = JoinPath(scratch.path(), "sparse");
  files.NewWriter(sparse)->Close();
  std::filesystem::resize_file(sparse, uint64_t{1} << 40);
  EXPECT_EQ(code_of(sparse), Code::kResourceExhausted);
}

}  // namespace
}  // namespace sextant
