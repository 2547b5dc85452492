// Compressed record files: reading and writing, and what damage does to them.
#include "sextant/formats/compression.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/formats/tfrecord.h"

namespace sextant {
namespace {

using Strings = std::vector<std::string>;

constexpr char kCompressedPath[] = "memory://compression_test";

FileSystem& Files() { return FileSystem::ForPath(kCompressedPath); }

struct Reading {
  Strings records;
  Status status;
};

Reading ReadAll(Compression compression) {
  Reading reading;
  TFRecordReader reader(kCompressedPath, compression);
  std::string record;
  try {
    while (reader.Next(&record)) reading.records.push_back(record);
  } catch (const Error& e) {
    reading.status = e.status();
    EXPECT_THROW(reader.Next(&record), Error);
  }
  return reading;
}

Strings SomeRecords() {
  Strings records;
  for (const size_t size : {0, 100, 262'000, 262'144, 3'000'000, 1}) {
    std::string record(size, '\0');
    for (size_t i = 0; i < size; ++i) record[i] = static_cast<char>(i * i % 251);
    records.push_back(record);
  }
  return records;
}

void WriteAll(const Strings& records, const TFRecordWriterOptions& options) {
  TFRecordWriter writer(kCompressedPath, options);
  for (const std::string& record : records) writer.Write(record);
  writer.Close();
}

class CompressionTest : public testing::TestWithParam<Compression> {};

INSTANTIATE_TEST_SUITE_P(All, CompressionTest,
                         testing::Values(Compression::kNone, Compression::kZlib,
                                         Compression::kGzip),
                         [](const auto& test) { return std::string(CompressionName(test.param)); });

TEST_P(CompressionTest, RoundTripsRecordsOfAllSizes) {
  const Strings records = SomeRecords();
  WriteAll(records, {.compression = GetParam()});
  const Reading reading = ReadAll(GetParam());
  EXPECT_TRUE(reading.status.ok()) << reading.status.ToString();
  EXPECT_TRUE(reading.records == records);
}

TEST_P(CompressionTest, SeeksForwardsAndBackwards) {
  const Strings records = SomeRecords();
  WriteAll(records, {.compression = GetParam()});
  TFRecordReader reader(kCompressedPath, GetParam());
  EXPECT_EQ(reader.seekable(), GetParam() == Compression::kNone);
  std::vector<uint64_t> offsets;
  std::string_view record;
  do {
    offsets.push_back(reader.offset());
  } while (reader.NextView(&record));
  for (const size_t i : {5, 0, 3, 4, 1, 2, 5}) {
    reader.Seek(offsets[i]);
    EXPECT_EQ(reader.offset(), offsets[i]);
    ASSERT_TRUE(reader.NextView(&record));
    EXPECT_TRUE(record == records[i]) << i;
  }
  EXPECT_FALSE(reader.NextView(&record));
  reader.Seek(offsets.back() + 100);
  EXPECT_FALSE(reader.NextView(&record));
  reader.Seek(0);
  EXPECT_TRUE(reader.NextView(&record));
}

TEST_P(CompressionTest, FlushedRecordsAreReadable) {
  TFRecordWriter writer(kCompressedPath, {.compression = GetParam()});
  writer.Write("one");
  writer.Flush();
  TFRecordReader reader(kCompressedPath, GetParam());
  reader.Follow();
  std::string record;
  EXPECT_TRUE(reader.Next(&record));
  EXPECT_EQ(record, "one");
  EXPECT_FALSE(reader.Next(&record));
  writer.Write("two");
  writer.Sync();
  EXPECT_TRUE(reader.Next(&record));
  EXPECT_EQ(record, "two");
  writer.Close();
  EXPECT_FALSE(reader.Next(&record));
  EXPECT_FALSE(reader.stream_cut_off());
}

TEST_P(CompressionTest, EveryTruncationGivesAPrefixOfRecords) {
  const Strings records = {"hello", "", "a somewhat longer, longer, longer record"};
  WriteAll(records, {.compression = GetParam()});
  const std::string whole = Files().ReadFile(kCompressedPath);
  for (size_t size = 0; size < whole.size(); ++size) {
    Files().WriteFileAtomically(kCompressedPath, std::string_view(whole).substr(0, size));
    const Reading reading = ReadAll(GetParam());
    ASSERT_LE(reading.records.size(), records.size());
    EXPECT_TRUE(std::equal(reading.records.begin(), reading.records.end(), records.begin()));
    if (!reading.status.ok()) {
      EXPECT_EQ(reading.status.code(), Code::kDataLoss);
      EXPECT_TRUE(reading.status.message().starts_with(kCompressedPath))
          << reading.status.message();
    }
  }
}

TEST_P(CompressionTest, EveryFlippedBitGivesAPrefixOfRecords) {
  const Strings records = {"hello", "", "a somewhat longer, longer, longer record"};
  WriteAll(records, {.compression = GetParam()});
  const std::string whole = Files().ReadFile(kCompressedPath);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    Files().WriteFileAtomically(kCompressedPath, damaged);
    const Reading reading = ReadAll(GetParam());
    ASSERT_LE(reading.records.size(), records.size());
    EXPECT_TRUE(std::equal(reading.records.begin(), reading.records.end(), records.begin())) << bit;
    if (!reading.status.ok()) {
      EXPECT_EQ(reading.status.code(), Code::kDataLoss);
      EXPECT_NE(reading.status.message().find(" at "), std::string::npos);
    }
  }
}

TEST(CompressionNamesTest, AreTensorFlows) {
  EXPECT_EQ(ParseCompression(""), Compression::kNone);
  EXPECT_EQ(ParseCompression("ZLIB"), Compression::kZlib);
  EXPECT_EQ(ParseCompression("GZIP"), Compression::kGzip);
  EXPECT_THROW(ParseCompression("gzip"), Error);
}

TEST(GzipTest, HasTensorFlowsHeader) {  // no name, no time, system unknown or Unix
  WriteAll({}, {.compression = Compression::kGzip});
  const std::string bytes = Files().ReadFile(kCompressedPath);
  ASSERT_EQ(bytes.size(), 20u);
  EXPECT_EQ(bytes.substr(0, 9), std::string("\x1f\x8b\x08\0\0\0\0\0\0", 9));
  EXPECT_TRUE(ReadAll(Compression::kGzip).records.empty());
}

TEST(GzipTest, SeveralStreamsAreOne) {
  WriteAll({"one"}, {.compression = Compression::kGzip});
  WriteAll({"two"}, {.compression = Compression::kGzip, .append = true});
  EXPECT_EQ(ReadAll(Compression::kGzip).records, (Strings{"one", "two"}));
}

TEST(GzipTest, OtherBytesAreDataLoss) {
  WriteAll({"one"}, {});
  const Status status = ReadAll(Compression::kGzip).status;
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_NE(status.message().find("not a GZIP stream"), std::string::npos) << status.message();
}

TEST(GzipTest, RecordsBeforeDamageAreRead) {
  Strings records(1000, std::string(1000, 'x'));
  for (size_t i = 0; i < records.size(); ++i) records[i] += std::to_string(i * i);
  WriteAll(records, {.compression = Compression::kGzip});
  std::string bytes = Files().ReadFile(kCompressedPath);
  bytes[bytes.size() - 6] ^= 1;  // the checksum at the end
  Files().WriteFileAtomically(kCompressedPath, bytes);
  const Reading reading = ReadAll(Compression::kGzip);
  EXPECT_EQ(reading.records, records);
  EXPECT_EQ(reading.status.code(), Code::kDataLoss);
}

TEST(GzipTest, SaysThatAStreamIsCutOff) {
  WriteAll({"one"}, {.compression = Compression::kGzip});
  const std::string bytes = Files().ReadFile(kCompressedPath);
  Files().WriteFileAtomically(kCompressedPath, std::string_view(bytes).substr(0, bytes.size() - 4));
  TFRecordReader reader(kCompressedPath, Compression::kGzip);
  std::string record;
  EXPECT_TRUE(reader.Next(&record));
  EXPECT_FALSE(reader.Next(&record));
  EXPECT_TRUE(reader.stream_cut_off());
}

}  // namespace
}  // namespace sextant
