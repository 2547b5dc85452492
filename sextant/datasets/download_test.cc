#include "sextant/datasets/download.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/datasets/test_archive.h"
#include "sextant/datasets/test_http_server.h"

namespace sextant::datasets {
namespace {

// 1,000 bytes whose digests were taken with coreutils.
std::string Content() {
  std::string content;
  for (int i = 0; i < 1000; ++i) content.push_back(static_cast<char>('a' + i % 26));
  return content;
}
constexpr const char* kMd5 = "md5:303fb697b589019cb3edba04b794e575";
constexpr const char* kSha256 =
    "sha256:915e53a44c18b19bb06ba5b3f5fcaf1dc4651e8404c63425cfc6174e74659d87";

PublishedFile FileAt(const TestHttpServer& server) {
  return {.name = "file.bin", .urls = {server.url() + "/file.bin"}, .size = 1000, .digest = kMd5};
}

TEST(Download, FetchesAndChecks) {
  TestHttpServer server(Content());
  const std::string folder = NewFolder();
  bool was_there = true;
  const std::string path = Download(FileAt(server), folder, &was_there);
  EXPECT_EQ(path, folder + "/file.bin");
  EXPECT_EQ(FileSystem::ForPath("/").ReadFile(path), Content());
  EXPECT_FALSE(was_there);
  EXPECT_EQ(FileSystem::ForPath("/").ListDirectory(folder), std::vector<std::string>{"file.bin"});
  PublishedFile other = FileAt(server);
  other.digest = kSha256;
  Download(other, folder, &was_there);
  EXPECT_TRUE(was_there);
  EXPECT_EQ(server.num_requests(), 1);
}

TEST(Download, GoesOnWhereItWasCutOff) {
  TestHttpServer server(Content(), {.cut_after = 300});
  const std::string folder = NewFolder();
  bool was_there = false;
  Download(FileAt(server), folder, &was_there);
  EXPECT_EQ(FileSystem::ForPath("/").ReadFile(folder + "/file.bin"), Content());
  EXPECT_EQ(server.ranges(), (std::vector<std::string>{"", "bytes=300-"}));
}

TEST(Download, KeepsThePartForTheNextTime) {
  const std::string folder = NewFolder();
  FileSystem::ForPath("/").WriteFileAtomically(folder + "/file.bin.part", Content().substr(0, 400));
  TestHttpServer server(Content());
  bool was_there = false;
  Download(FileAt(server), folder, &was_there);
  EXPECT_EQ(FileSystem::ForPath("/").ReadFile(folder + "/file.bin"), Content());
  EXPECT_EQ(server.ranges(), std::vector<std::string>{"bytes=400-"});
}

TEST(Download, BeginsAnewWhereTheServerKnowsNoRanges) {
  const std::string folder = NewFolder();
  FileSystem::ForPath("/").WriteFileAtomically(folder + "/file.bin.part", "other bytes");
  TestHttpServer server(Content(), {.ranges = false});
  bool was_there = false;
  Download(FileAt(server), folder, &was_there);
  EXPECT_EQ(FileSystem::ForPath("/").ReadFile(folder + "/file.bin"), Content());
}

TEST(Download, BeginsAnewWhenThePartIsTooLong) {
  const std::string folder = NewFolder();
  FileSystem::ForPath("/").WriteFileAtomically(folder + "/file.bin.part", std::string(2000, 'x'));
  TestHttpServer server(Content());
  PublishedFile file = FileAt(server);
  file.size = 0;
  bool was_there = false;
  Download(file, folder, &was_there);
  EXPECT_EQ(FileSystem::ForPath("/").ReadFile(folder + "/file.bin"), Content());
}

TEST(Download, RefusesAnotherFile) {
  TestHttpServer server(Content());
  const std::string folder = NewFolder();
  for (const bool wrong_size : {false, true}) {
    PublishedFile file = FileAt(server);
    if (wrong_size) {
      file.size = 1001;
    } else {
      file.digest = "md5:00000000000000000000000000000000";
    }
    bool was_there = false;
    try {
      Download(file, folder, &was_there);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kDataLoss);
      EXPECT_NE(e.message().find("not the file that its authors publish"), std::string::npos)
          << e.message();
    }
    EXPECT_TRUE(FileSystem::ForPath("/").ListDirectory(folder).empty());
  }
}

TEST(Download, TriesTheNextUrl) {
  TestHttpServer server(Content());
  PublishedFile file = FileAt(server);
  file.urls.insert(file.urls.begin(), server.url() + "/missing");
  const std::string folder = NewFolder();
  bool was_there = false;
  Download(file, folder, &was_there);
  EXPECT_EQ(FileSystem::ForPath("/").ReadFile(folder + "/file.bin"), Content());
}

TEST(Download, SaysWhatToDoWithoutNetwork) {
  std::string url;
  {
    TestHttpServer server("");
    url = server.url();  // nobody listens there any more
  }
  bool was_there = false;
  const std::string folder = NewFolder() + "/data/cifar10";
  try {
    Download({.name = "file.bin", .urls = {url + "/file.bin"}}, folder, &was_there);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kUnavailable);
    EXPECT_NE(e.message().find("cannot download file.bin (" + url), std::string::npos);
    EXPECT_NE(e.message().find("put the file into " + folder), std::string::npos);
    EXPECT_NE(e.message().find("--from"), std::string::npos);
    EXPECT_NE(e.message().find("--synthetic"), std::string::npos);
  }
  EXPECT_FALSE(FileSystem::ForPath("/").Exists(folder)) << "nothing is written";
}

TEST(Download, RefusesAFileInPlaceOfItsFolder) {
  TestHttpServer server(Content());
  const std::string file = NewFolder() + "/file";
  FileSystem::ForPath(file).WriteFileAtomically(file, "mine");
  for (const std::string& folder : {file, file + "/data/mnist"}) {
    bool was_there = false;
    try {
      Download(FileAt(server), folder, &was_there);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.message(), file + " is a file, not a folder; choose another folder");
    }
  }
  EXPECT_EQ(FileSystem::ForPath(file).ReadFile(file), "mine");
}

TEST(Download, MakesItsFolder) {
  TestHttpServer server(Content());
  const std::string folder = NewFolder() + "/data/mnist";
  bool was_there = false;
  Download(FileAt(server), folder, &was_there);
  EXPECT_EQ(FileSystem::ForPath("/").ReadFile(folder + "/file.bin"), Content());
}

}  // namespace
}  // namespace sextant::datasets
