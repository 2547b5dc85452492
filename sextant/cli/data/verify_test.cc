#include "sextant/cli/data/verify.h"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "sextant/base/file_system.h"
#include "sextant/datasets/test_archive.h"
#include "sextant/formats/tfrecord.h"

namespace sextant::cli {
namespace {

// Three records of 10, 20 and 30 bytes: they begin at 0, 26 and 62; the file has 108 bytes.
std::string WriteRecords(Compression compression) {
  std::string path = datasets::NewFolder() + "/file.tfrecords";
  TFRecordWriter writer(path, {.compression = compression});
  for (int i = 1; i <= 3; ++i) writer.Write(std::string(10 * i, 'r'));
  writer.Close();
  return path;
}

std::string Report(const std::string& path, bool whole) {
  std::ostringstream out;
  EXPECT_EQ(VerifyRecordFiles({path}, out), whole) << out.str();
  EXPECT_TRUE(out.str().starts_with(path + ": ")) << out.str();
  return out.str().substr(path.size() + 2);
}

void Change(const std::string& path, const std::function<void(std::string&)>& change) {
  std::string bytes = FileSystem::ForPath(path).ReadFile(path);
  change(bytes);
  FileSystem::ForPath(path).WriteFileAtomically(path, bytes);
}

TEST(Verify, CountsRecords) {
  EXPECT_EQ(Report(WriteRecords(Compression::kNone), true), "3 records, 60 bytes\n");
  EXPECT_EQ(Report(WriteRecords(Compression::kGzip), true), "3 records, 60 bytes, GZIP\n");
  EXPECT_EQ(Report(WriteRecords(Compression::kZlib), true), "3 records, 60 bytes, ZLIB\n");
}

TEST(Verify, TakesEmptyFiles) {
  const std::string path = WriteRecords(Compression::kNone);
  Change(path, [](std::string& bytes) { bytes.clear(); });
  EXPECT_EQ(Report(path, true), "0 records, 0 bytes\n");
}

// The offset is that of the content, as TensorFlow names it: 62 and 12 bytes of header.
TEST(Verify, NamesTheOffsetOfDamage) {
  const std::string path = WriteRecords(Compression::kNone);
  Change(path, [](std::string& bytes) { bytes[80] ^= 1; });
  const std::string report = Report(path, false);
  EXPECT_TRUE(report.starts_with("DAMAGED after 2 whole records: ")) << report;
  EXPECT_NE(report.find("corrupted record at 74"), std::string::npos) << report;
}

TEST(Verify, NoticesEveryBitAndEveryCut) {
  const std::string path = WriteRecords(Compression::kNone);
  const std::string whole = FileSystem::ForPath(path).ReadFile(path);
  ASSERT_EQ(whole.size(), 108u);
  for (size_t i = 0; i < whole.size(); ++i) {
    Change(path, [&](std::string& bytes) {
      bytes = whole;
      bytes[i] ^= static_cast<char>(1 << i % 8);
    });
    Report(path, false);
    Change(path, [&](std::string& bytes) { bytes = whole.substr(0, i); });
    Report(path, i == 0 || i == 26 || i == 62);
  }
}

TEST(Verify, NoticesACutInACompressedStream) {
  const std::string path = WriteRecords(Compression::kGzip);
  Change(path, [](std::string& bytes) { bytes.resize(bytes.size() - 3); });
  Report(path, false);
}

TEST(Verify, GoesOnAfterAFileThatIsNotThere) {
  const std::string path = WriteRecords(Compression::kNone);
  std::ostringstream out;
  EXPECT_FALSE(VerifyRecordFiles({path + ".no", datasets::NewFolder(), path}, out));
  EXPECT_NE(out.str().find("3 records"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("is a directory"), std::string::npos) << out.str();
}

}  // namespace
}  // namespace sextant::cli
