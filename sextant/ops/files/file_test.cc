#include "sextant/ops/files/file.h"

#include <gtest/gtest.h>

#include "sextant/base/file_system.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class FileTest : public testing::Test {
 protected:
  ~FileTest() override { FileSystem::ForPath(folder_).DeleteRecursively(folder_); }
  static Output Text(const std::string& text) { return Const(Tensor(text)); }

  const std::string folder_ = testing::TempDir() + "sextant_file_test";
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(FileTest, WritesReadsAndFinds) {
  Session session(graph_);
  for (const char* name : {"b", "a", "c"}) {
    const std::string path = folder_ + "/new/" + name + ".txt";
    session.Run(WriteFile(Text(path), Text(name)));
    EXPECT_EQ(session.Run(ReadFile(Text(path))).scalar<std::string>(), name);
  }
  const std::string base = folder_ + "/new/";
  EXPECT_TRUE(
      session.Run(MatchingFiles(Text(base + "*.txt")))
          .Identical(Tensor::Of<std::string>({base + "a.txt", base + "b.txt", base + "c.txt"})));
  const Output patterns = Const(Tensor::Of<std::string>({base + "[bc].txt", base + "a*"}));
  EXPECT_EQ(session.Run(MatchingFiles(patterns)).num_elements(), 3);
  EXPECT_EQ(session.Run(MatchingFiles(Text(folder_ + "/none/*"))).num_elements(), 0);
  try {
    session.Run(ReadFile(Text(base + "missing")));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
  }
}

TEST_F(FileTest, FilesReadFollowTheMemoryLimit) {
  Session session(graph_, {.memory_limit = 1 << 20});
  const std::string path = folder_ + "/long.txt";
  FileSystem::ForPath(folder_).CreateDirectories(folder_);
  FileSystem::ForPath(path).WriteFileAtomically(path, std::string((1 << 20) + 1, 'x'));
  for (const std::string& too_long : {path, std::string("/dev/zero")}) {
    try {
      session.Run(ReadFile(Text(too_long)));
      ADD_FAILURE() << too_long;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kResourceExhausted) << e.what();
      EXPECT_NE(e.message().find("1048576"), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(Session(graph_).Run(ReadFile(Text(path))).scalar<std::string>().size(), (1 << 20) + 1);
}

TEST_F(FileTest, NamesShards) {
  FileSystem::ForPath(folder_).CreateDirectories(folder_);
  Session session(graph_);
  const Output name = ShardedFilename(Text("m"), Const(Tensor(3)), Const(Tensor(10)));
  EXPECT_EQ(session.Run(name).scalar<std::string>(), "m-00003-of-00010");
  EXPECT_EQ(session.Run(ShardedFilespec(Text("m"), Const(Tensor(10)))).scalar<std::string>(),
            "m-\?\?\?\?\?-of-00010");
}

}  // namespace
}  // namespace sextant
