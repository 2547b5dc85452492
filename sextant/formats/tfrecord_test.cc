#include "sextant/formats/tfrecord.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/temporary_directory.h"

namespace sextant {
namespace {

using namespace std::string_literals;
using Strings = std::vector<std::string>;

constexpr char kRecordPath[] = "memory://tfrecord_test";

void WriteRaw(std::string_view bytes) {
  FileSystem::ForPath(kRecordPath).WriteFileAtomically(kRecordPath, bytes);
}

// The records up to the end or the error, and the error.
std::pair<Strings, Status> ReadAll(const std::string& path) {
  std::pair<Strings, Status> result;
  TFRecordReader reader(path);
  std::string record;
  try {
    while (reader.Next(&record)) result.first.push_back(record);
  } catch (const Error& e) {
    result.second = e.status();
    EXPECT_THROW(reader.Next(&record), Error);
  }
  return result;
}

TEST(TFRecordTest, WritesTensorFlowsBytes) {
  {
    TFRecordWriter writer(kRecordPath);
    writer.Write("hello");
    writer.Write("");
    writer.Close();
  }
  const std::string bytes = FileSystem::ForPath(kRecordPath).ReadFile(kRecordPath);
  EXPECT_EQ(bytes,
            "\x05\0\0\0\0\0\0\0\xea\xb2\x04\x3ehello\xbb\x1f\x1c\x19"s
            "\0\0\0\0\0\0\0\0\x29\x03\x98\x07\xd8\xea\x82\xa2"s);
  std::string framed;
  AppendTFRecord(&framed, "hello");
  AppendTFRecord(&framed, "");
  EXPECT_EQ(framed, bytes);
  EXPECT_EQ(ReadAll(kRecordPath).first, (Strings{"hello", ""}));
}

TEST(TFRecordTest, KnowsItsOffsets) {
  std::string bytes;
  AppendTFRecord(&bytes, "hello");
  AppendTFRecord(&bytes, "");
  WriteRaw(bytes);
  TFRecordReader reader(kRecordPath);
  std::string record;
  EXPECT_EQ(reader.offset(), 0u);
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_EQ(reader.offset(), 21u);
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_EQ(reader.offset(), 37u);
  EXPECT_FALSE(reader.Next(&record));
  EXPECT_FALSE(reader.Next(&record));
  EXPECT_FALSE(reader.ended_in_header());
}

TEST(TFRecordTest, ReadsLargeRecordsAcrossBuffers) {
  Strings records;
  for (const size_t size : {0, 100, 262'000, 262'144, 3'000'000, 1}) {
    records.push_back(std::string(size, static_cast<char>('a' + size % 7)));
  }
  std::string bytes;
  for (const std::string& record : records) AppendTFRecord(&bytes, record);
  WriteRaw(bytes);
  EXPECT_TRUE(ReadAll(kRecordPath).first == records);
}

TEST(TFRecordTest, EveryTruncationEndsCleanlyOrIsDataLoss) {
  std::string bytes;
  AppendTFRecord(&bytes, "hello");
  const size_t second = bytes.size();
  AppendTFRecord(&bytes, "world");
  for (size_t size = 0; size < bytes.size(); ++size) {
    WriteRaw(std::string_view(bytes).substr(0, size));
    const auto [records, status] = ReadAll(kRecordPath);
    EXPECT_EQ(records.size(), size < second ? 0u : 1u);
    const size_t start = size < second ? 0 : second;
    if (size - start < 12) {
      EXPECT_TRUE(status.ok()) << size;
    } else {
      EXPECT_EQ(status.code(), Code::kDataLoss) << size;
      EXPECT_EQ(status.message(), fmt::format("{}: truncated record at {}: the file ends inside it",
                                              kRecordPath, start));
    }
  }
}

TEST(TFRecordTest, SaysWhenAFileEndsInAHeader) {
  std::string bytes;
  AppendTFRecord(&bytes, "hello");
  WriteRaw(bytes + "abc");
  TFRecordReader reader(kRecordPath);
  std::string record;
  EXPECT_TRUE(reader.Next(&record));
  testing::internal::CaptureStderr();
  EXPECT_FALSE(reader.Next(&record));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("ends with 3 bytes"), std::string::npos);
  EXPECT_TRUE(reader.ended_in_header());
}

TEST(TFRecordTest, EveryFlippedBitIsDataLoss) {
  std::string good;
  AppendTFRecord(&good, "hello");
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    WriteRaw(bad);
    const auto [records, status] = ReadAll(kRecordPath);
    EXPECT_TRUE(records.empty());
    EXPECT_EQ(status.code(), Code::kDataLoss) << bit;
    const auto where = fmt::format("corrupted record at {}:", bit / 8 < 12 ? 0 : 12);
    EXPECT_NE(status.message().find(where), std::string::npos) << status.message();
  }
}

TEST(TFRecordTest, HugeLengthWithGoodChecksumTakesNoMemory) {
  std::string bytes;
  PutFixed64(&bytes, ~uint64_t{0});
  PutFixed32(&bytes, MaskedCrc32c(bytes));
  WriteRaw(bytes + "short");
  EXPECT_EQ(ReadAll(kRecordPath).second.code(), Code::kDataLoss);
}

TEST(TFRecordTest, ViewsStayUntilTheNextCall) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) AppendTFRecord(&bytes, std::string(1000, static_cast<char>(i)));
  WriteRaw(bytes);
  TFRecordReader reader(kRecordPath);
  std::string_view record;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(reader.NextView(&record));
    EXPECT_TRUE(record == std::string(1000, static_cast<char>(i))) << i;
  }
  EXPECT_FALSE(reader.NextView(&record));
}

TEST(TFRecordTest, SeekGoesOnAfterADamagedRecord) {
  std::string bytes;
  AppendTFRecord(&bytes, "hello");
  AppendTFRecord(&bytes, "world");
  bytes[13] ^= 1;
  WriteRaw(bytes);
  TFRecordReader reader(kRecordPath);
  std::string record;
  EXPECT_THROW(reader.Next(&record), Error);
  EXPECT_THROW(reader.Next(&record), Error);
  reader.Seek(21);
  EXPECT_TRUE(reader.Next(&record));
  EXPECT_EQ(record, "world");
}

TEST(TFRecordTest, FollowsAGrowingFile) {
  std::string bytes;
  AppendTFRecord(&bytes, "hello");
  AppendTFRecord(&bytes, std::string(300'000, 'w'));
  const auto file = FileSystem::ForPath(kRecordPath).NewWriter(kRecordPath);
  TFRecordReader reader(kRecordPath);
  reader.Follow();
  std::string record;
  size_t written = 0;
  for (const size_t size : {0, 5, 12, 20, 21, 30, 40, 1000, 299'000, 300'036}) {
    file->Append(std::string_view(bytes).substr(written, size - written));
    file->Flush();
    written = size;
    EXPECT_FALSE(size < 21 && reader.Next(&record)) << size;
    if (size == 21) {
      EXPECT_TRUE(reader.Next(&record));
    }
    EXPECT_FALSE(size < 300'037 && reader.Next(&record)) << size;
  }
  file->Append(std::string_view(bytes).substr(written));
  file->Flush();
  EXPECT_TRUE(reader.Next(&record));
  EXPECT_TRUE(record == std::string(300'000, 'w'));
  EXPECT_FALSE(reader.Next(&record));
  EXPECT_FALSE(reader.ended_in_header());
}

// The writer stays, so that the pipe does not end.
TEST(TFRecordTest, RecordsOfAPipeAreReadAsTheyCome) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int writer = open(path.c_str(), O_RDWR);
  TFRecordReader reader(path);
  for (const char* content : {"hello", "world"}) {
    std::string bytes, record;
    AppendTFRecord(&bytes, content);
    EXPECT_EQ(write(writer, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    EXPECT_TRUE(reader.Next(&record));
    EXPECT_EQ(record, content);
  }
  close(writer);
}

TEST(TFRecordTest, AppendsBehindWhatIsThere) {
  TFRecordWriter(kRecordPath).Write("hello");
  TFRecordWriter(kRecordPath, {.append = true}).Write("world");
  EXPECT_EQ(ReadAll(kRecordPath).first, (Strings{"hello", "world"}));
  EXPECT_THROW(TFRecordWriter(kRecordPath, {.compression = Compression::kZlib, .append = true}),
               Error);
  EXPECT_THROW(TFRecordWriter(kRecordPath, {.append = true, .atomic = true}), Error);
  EXPECT_EQ(ReadAll(kRecordPath).first, (Strings{"hello", "world"}));
}

TEST(TFRecordTest, AnAtomicFileAppearsOnClose) {
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    TFRecordWriter(kRecordPath).Write("before");
    { TFRecordWriter(kRecordPath, {.compression = compression, .atomic = true}).Write("lost"); }
    EXPECT_EQ(ReadAll(kRecordPath).first, Strings{"before"});
    TFRecordWriter writer(kRecordPath, {.compression = compression, .atomic = true});
    writer.Write("after");
    EXPECT_EQ(ReadAll(kRecordPath).first, Strings{"before"});
    writer.Close();
    TFRecordReader reader(kRecordPath, compression);
    std::string record;
    EXPECT_TRUE(reader.Next(&record));
    EXPECT_EQ(record, "after");
  }
}

TEST(TFRecordTest, MissingFileIsNotFound) {
  try {
    TFRecordReader reader("memory://no_such_file");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
  }
}

}  // namespace
}  // namespace sextant
