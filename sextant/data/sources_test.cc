#include "sextant/data/sources.h"

#include <gtest/gtest.h>

#include "sextant/base/file_system.h"
#include "sextant/data/source_test_helpers.h"
#include "sextant/formats/compression.h"
#include "sextant/formats/tfrecord.h"

namespace sextant::data {
namespace {

using Strings = std::vector<std::string>;

std::string WriteRecords(const std::string& name, const Strings& records,
                         Compression compression = Compression::kNone) {
  std::string path = "memory://" + name;
  TFRecordWriter writer(path, {.compression = compression});
  for (const std::string& record : records) writer.Write(record);
  writer.Close();
  return path;
}

std::string WriteGzip(const std::string& name, std::string_view contents) {
  std::string path = "memory://" + name;
  auto writer = NewCompressingWriter(FileSystem::ForPath(path).NewWriter(path), Compression::kGzip);
  writer->Append(contents);
  writer->Close();
  return path;
}

TEST(FilesTest, ListsPatternsSorted) {
  for (const char* name : {"list_b.x", "list_a.x", "list_c.y"}) WriteMemoryFile(name, "");
  EXPECT_EQ(StringsOf(Files({"memory://list_?.x", "memory://list_c.y"}), "file"),
            (Strings{"memory://list_a.x", "memory://list_b.x", "memory://list_c.y"}));
  ExpectResumes(Files({"memory://list_?.x"}));
}

TEST(FilesTest, NamesWhatIsNotThere) {
  Element element;
  EXPECT_EQ(ErrorOf([&] { Files({"memory://nothing*"}).MakeIterator()->Next(&element); }),
            "NOT_FOUND: memory://nothing*: no file matches this pattern");
  EXPECT_EQ(ErrorOf([&] { TextLines({"memory://absent"}).MakeIterator()->Next(&element); }),
            "NOT_FOUND: memory://absent: no such file");
}

TEST(TFRecordFilesTest, ReadsFilesInOrder) {
  const std::string a = WriteRecords("order_a", {"one", "", "three"});
  const std::string b = WriteRecords("order_b", {});
  const std::string c = WriteRecords("order_c", {std::string(300000, 'x')});
  const Dataset records = TFRecordFiles({a, b, c});
  EXPECT_EQ(StringsOf(records, "record"), (Strings{"one", "", "three", std::string(300000, 'x')}));
  EXPECT_EQ(StringsOf(records.Batch(3), "record"), StringsOf(records, "record"));
  ExpectResumes(records);
  ExpectResumes(records.Batch(3));
}

TEST(TFRecordFilesTest, FilesAreInterleaved) {
  WriteRecords("cross_a", {"a1", "a2", "a3"});
  WriteRecords("cross_b", {"b1"});
  WriteRecords("cross_c", {"c1", "c2"});
  const Dataset records = Files({"memory://cross_*"})
                              .Interleave(
                                  [](const Element& element) {
                                    return TFRecordFiles({element["file"].scalar<std::string>()});
                                  },
                                  {.cycle = 2});
  EXPECT_EQ(StringsOf(records, "record"), (Strings{"a1", "b1", "a2", "a3", "c1", "c2"}));
  ExpectResumes(records);
}

TEST(TFRecordFilesTest, ReadsCompressedFiles) {
  const std::string path = WriteRecords("zipped", {"a", "b", "c", "d"}, Compression::kGzip);
  const Dataset records = TFRecordFiles({path}, {.compression = Compression::kGzip});
  EXPECT_EQ(StringsOf(records, "record"), (Strings{"a", "b", "c", "d"}));
  ExpectResumes(records);
}

TEST(TFRecordFilesTest, ShuffleSavesPositions) {
  Strings texts;
  for (int i = 0; i < 12; ++i) texts.push_back(std::string(1000, static_cast<char>('a' + i)));
  const std::string path = WriteRecords("shuffled", texts);
  const Dataset shuffled = TFRecordFiles({path, path}).Shuffle(8, {.seed = 3});
  ExpectResumes(shuffled);
  auto iterator = shuffled.MakeIterator();
  Element element;
  iterator->Next(&element);
  EXPECT_LT(iterator->SaveState().size(), 1000u);
}

TEST(TFRecordFilesTest, NamesFileAndOffsetAndGoesOnWithTheNextFile) {
  std::string bytes;
  AppendTFRecord(&bytes, "good");
  AppendTFRecord(&bytes, "bad!");
  bytes[20 + 12] ^= 1;
  const std::string a = WriteMemoryFile("damaged", bytes);
  const std::string b = WriteRecords("undamaged", {"other"});
  auto iterator = TFRecordFiles({a, b}).MakeIterator();
  Element element;
  ASSERT_TRUE(iterator->Next(&element));
  const std::string error = ErrorOf([&] { iterator->Next(&element); });
  EXPECT_TRUE(error.starts_with("DATA_LOSS: memory://damaged: ")) << error;
  EXPECT_NE(error.find("32"), std::string::npos) << error;
  ASSERT_TRUE(iterator->Next(&element));
  EXPECT_EQ(element["record"].scalar<std::string>(), "other");
  EXPECT_FALSE(iterator->Next(&element));
}

TEST(TFRecordFilesTest, RefusesAPositionInOtherFiles) {
  const std::string a = WriteRecords("moved_a", {"1", "2"});
  const Dataset records = TFRecordFiles({"memory://moved_*"});
  auto iterator = records.MakeIterator();
  Element element;
  iterator->Next(&element);
  const std::string state = iterator->SaveState();
  WriteRecords("moved_0", {"3"});
  const std::string error = ErrorOf([&] { records.MakeIterator()->RestoreState(state); });
  EXPECT_TRUE(error.starts_with("FAILED_PRECONDITION: TFRecordFiles: ")) << error;
}

TEST(TextLinesTest, TakesOffLineEndsAndHeaders) {
  const std::string a = WriteMemoryFile("lines_a", "head\none\r\n\ntwo\n");
  const std::string b = WriteMemoryFile("lines_b", "head\nthree");
  const std::string c = WriteMemoryFile("lines_c", "");
  const Dataset lines = TextLines({a, b, c}, {.skip = 1});
  EXPECT_EQ(StringsOf(lines, "line"), (Strings{"one", "", "two", "three"}));
  ExpectResumes(lines);
  ExpectResumes(lines.Batch(3));
}

// An empty line behind it is empty, and a file with nothing else has no line.
TEST(TextLinesTest, PassesAByteOrderMarkAtTheStartOfAFile) {
  const std::string mark = "\xef\xbb\xbf";
  const std::string a = WriteMemoryFile("mark_a", mark + "\none\n" + mark + "two\n");
  const std::string b = WriteMemoryFile("mark_b", mark);
  const std::string c = WriteMemoryFile("mark_c", mark.substr(0, 2));
  const std::string d = WriteMemoryFile("mark_d", mark + "head\nthree");
  const Dataset lines = TextLines({a, b, c, d});
  EXPECT_EQ(StringsOf(lines, "line"),
            (Strings{"", "one", mark + "two", mark.substr(0, 2), "head", "three"}));
  EXPECT_EQ(StringsOf(TextLines({a, b, d}, {.skip = 1}), "line"),
            (Strings{"one", mark + "two", "three"}));
  ExpectResumes(lines);
  ExpectResumes(lines.Shuffle(3, {.seed = 1}));
}

TEST(TextLinesTest, ReadsLinesLongerThanTheBuffer) {
  const std::string line(1000000, 'y');
  const std::string path = WriteMemoryFile("long_lines", "a\n" + line + "\nb\n");
  EXPECT_EQ(StringsOf(TextLines({path}), "line"), (Strings{"a", line, "b"}));
}

TEST(TextLinesTest, ReadsCompressedFilesAndReportsCutOffOnes) {
  const std::string path = WriteGzip("lines.gz", "one\ntwo\nthree\n");
  const Dataset lines = TextLines({path}, {.compression = Compression::kGzip});
  EXPECT_EQ(StringsOf(lines, "line"), (Strings{"one", "two", "three"}));
  ExpectResumes(lines);
  const std::string bytes = FileSystem::ForPath(path).ReadFile(path);
  WriteMemoryFile("cut.gz", bytes.substr(0, bytes.size() - 10));
  const Dataset cut = TextLines({"memory://cut.gz"}, {.compression = Compression::kGzip});
  const std::string error = ErrorOf([&] { AllOf(cut); });
  EXPECT_TRUE(error.starts_with("DATA_LOSS: memory://cut.gz: ")) << error;
}

TEST(CsvTest, ReadsCompressedFiles) {
  const std::string path = WriteGzip("rows.csv.gz", "1,a\n2,b\n3,\"c\nd\"\n");
  const Dataset rows = Csv({path, path}, {.columns = {{"n", DType::kInt32}, {"s", DType::kString}},
                                          .compression = Compression::kGzip});
  EXPECT_EQ(StringsOf(rows, "s"), (Strings{"a", "b", "c\nd", "a", "b", "c\nd"}));
  ExpectResumes(rows);
  ExpectResumes(rows.Batch(4));
}

TEST(FixedLengthRecordsTest, LeavesOutHeaderAndFooter) {
  const std::string path = WriteMemoryFile("fixed", "HHaabbccF");
  const Dataset records = FixedLengthRecords({path, path}, {.record = 2, .header = 2, .footer = 1});
  EXPECT_EQ(StringsOf(records, "record"), (Strings{"aa", "bb", "cc", "aa", "bb", "cc"}));
  ExpectResumes(records);
  ExpectResumes(records.Shuffle(4, {.seed = 1}));
}

TEST(FixedLengthRecordsTest, ReportsAShortRecord) {
  const std::string path = WriteMemoryFile("short", "aaabbbcc");
  auto iterator = FixedLengthRecords({path}, {.record = 3}).MakeIterator();
  Element element;
  ASSERT_TRUE(iterator->Next(&element));
  ASSERT_TRUE(iterator->Next(&element));
  EXPECT_EQ(ErrorOf([&] { iterator->Next(&element); }),
            "DATA_LOSS: memory://short: short record at offset 6: 2 bytes are left for a record of "
            "3 and a footer of 0");
  EXPECT_FALSE(iterator->Next(&element));
  EXPECT_EQ(ErrorOf([&] { FixedLengthRecords({path}, {.record = 0}); }).substr(0, 16),
            "INVALID_ARGUMENT");
}

}  // namespace
}  // namespace sextant::data
