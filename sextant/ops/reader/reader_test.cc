#include "sextant/ops/reader/reader.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "sextant/base/file_system.h"
#include "sextant/formats/compression.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/queue/queue.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

using Records = std::vector<std::pair<std::string, std::string>>;

class ReaderTest : public testing::Test {
 protected:
  ReaderTest() {
    FileSystem::ForPath(folder_).CreateDirectories(folder_);
    Write("a.txt", "h1\none\ntwo\r\n\nlast");
    Write("b.txt", "h2\nB1\n");
    Write("e.txt", "");
    Write("f.bin", "HHaabbccddF");
    Write("g.bin", "HHeef");
  }
  ~ReaderTest() override { FileSystem::ForPath(folder_).DeleteRecursively(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& contents) const {
    FileSystem::ForPath(folder_).WriteFileAtomically(Path(name), contents);
  }
  // "a.txt:1" for a key with the folder in front.
  std::string Short(const std::string& key) const {
    return key.starts_with(folder_) ? key.substr(folder_.size() + 1) : key;
  }
  Output Files(const std::vector<std::string>& names) const {
    Tensor files(DType::kString, Shape{static_cast<int64_t>(names.size())});
    for (size_t i = 0; i < names.size(); ++i) files.data<std::string>()[i] = Path(names[i]);
    return Const(files);
  }
  // All records of the files, then (records, files) read.
  Records All(Output reader, const std::vector<std::string>& names) {
    const Output queue = FIFOQueue({DType::kString}, {.shapes = {Shape()}});
    const ReadRecord read = ReaderRead(reader, queue);
    EXPECT_EQ(read.key.shape(), PartialShape(Shape()));
    Session session(graph_);
    session.Run(QueueEnqueueMany(queue, {Files(names)}));
    session.Run(QueueClose(queue));
    Records records;
    const Status status = StatusOf([&] {
      for (;;) {
        const auto record = session.Run(std::vector<Output>{read.key, read.value});
        records.emplace_back(Short(record[0].scalar<std::string>()),
                             record[1].scalar<std::string>());
      }
    });
    EXPECT_EQ(status.code(), Code::kOutOfRange) << status.ToString();
    produced_ = session.Run(ReaderNumRecordsProduced(reader)).AsInt64();
    completed_ = session.Run(ReaderNumWorkUnitsCompleted(reader)).AsInt64();
    return records;
  }

  const std::string folder_ = testing::TempDir() + "sextant_reader_test";
  Graph graph_;
  GraphScope scope_{graph_};
  int64_t produced_ = 0, completed_ = 0;
};

// What these give is what the same readers of TensorFlow 2.15 give.
TEST_F(ReaderTest, ReadsLines) {
  EXPECT_EQ(All(TextLineReader(), {"a.txt", "e.txt", "b.txt"}), (Records{{"a.txt:1", "h1"},
                                                                         {"a.txt:2", "one"},
                                                                         {"a.txt:3", "two"},
                                                                         {"a.txt:4", ""},
                                                                         {"a.txt:5", "last"},
                                                                         {"b.txt:1", "h2"},
                                                                         {"b.txt:2", "B1"}}));
  EXPECT_EQ(produced_, 7);
  EXPECT_EQ(completed_, 3);
  EXPECT_EQ(All(TextLineReader(1), {"a.txt", "e.txt", "b.txt"}), (Records{{"a.txt:2", "one"},
                                                                          {"a.txt:3", "two"},
                                                                          {"a.txt:4", ""},
                                                                          {"a.txt:5", "last"},
                                                                          {"b.txt:2", "B1"}}));
  Write("c.txt", std::string("a\rb\r\n\r\nx\0y\n", 11));
  EXPECT_EQ(All(TextLineReader(), {"c.txt"}),
            (Records{{"c.txt:1", "a\rb"}, {"c.txt:2", ""}, {"c.txt:3", std::string("x\0y", 3)}}));
}

TEST_F(ReaderTest, ReadsRecordsOfFixedLength) {
  const auto reader = [](int64_t record, int64_t header, int64_t footer, int64_t hop) {
    return FixedLengthRecordReader(
        {.record_bytes = record, .header_bytes = header, .footer_bytes = footer, .hop_bytes = hop});
  };
  EXPECT_EQ(All(reader(2, 2, 1, 0), {"f.bin"}),
            (Records{{"f.bin:0", "aa"}, {"f.bin:1", "bb"}, {"f.bin:2", "cc"}, {"f.bin:3", "dd"}}));
  EXPECT_EQ(All(reader(3, 2, 1, 0), {"f.bin", "g.bin"}),
            (Records{{"f.bin:0", "aab"}, {"f.bin:1", "bcc"}}));
  EXPECT_EQ(completed_, 2);
  EXPECT_EQ(All(reader(4, 2, 1, 2), {"f.bin"}),
            (Records{{"f.bin:0", "aabb"}, {"f.bin:1", "bbcc"}, {"f.bin:2", "ccdd"}}));
  EXPECT_EQ(All(reader(4, 2, 1, 3), {"f.bin"}),
            (Records{{"f.bin:0", "aabb"}, {"f.bin:1", "bccd"}}));
  EXPECT_EQ(All(reader(2, 0, 0, 5), {"f.bin"}), (Records{{"f.bin:0", "HH"}, {"f.bin:1", "bc"}}));
  EXPECT_EQ(All(reader(2, 99, 0, 0), {"f.bin"}), Records());
  Session session(graph_);
  for (const Output bad : {reader(0, 0, 0, 0), reader(-4, 0, 0, 0), reader(1, -1, 0, 0)}) {
    EXPECT_EQ(StatusOf([&] { session.Run(ReaderNumRecordsProduced(bad)); }).code(),
              Code::kInvalidArgument);
  }
}

TEST_F(ReaderTest, ReadsCompressedFiles) {
  for (const char* name : {"", "ZLIB", "GZIP"}) {
    TFRecordWriterOptions options;
    options.compression = ParseCompression(name);
    TFRecordWriter writer(Path("r.rec"), options);
    for (const char* record : {"x", "", "zzz"}) writer.Write(record);
    writer.Close();
    EXPECT_EQ(All(TFRecordReaderOp(name), {"r.rec"}),
              (Records{{"r.rec:0", "x"}, {"r.rec:17", ""}, {"r.rec:33", "zzz"}}));
    auto file = NewCompressingWriter(FileSystem::ForPath(folder_).NewWriter(Path("z.bin")),
                                     options.compression);
    file->Append("HHaabbF");
    file->Close();
    EXPECT_EQ(All(FixedLengthRecordReader(
                      {.record_bytes = 2, .header_bytes = 2, .footer_bytes = 1, .encoding = name}),
                  {"z.bin"}),
              (Records{{"z.bin:0", "aa"}, {"z.bin:1", "bb"}}));
  }
}

TEST_F(ReaderTest, ReadsWholeFilesAndNames) {
  EXPECT_EQ(All(WholeFileReader(), {"f.bin", "e.txt"}),
            (Records{{"f.bin", "HHaabbccddF"}, {"e.txt", ""}}));
  EXPECT_EQ(All(IdentityReader(), {"f.bin"}), (Records{{"f.bin", Path("f.bin")}}));
}

TEST_F(ReaderTest, ReadsSeveralRecordsOfOneFile) {
  const Output reader = TextLineReader();
  const Output queue = FIFOQueue({DType::kString}, {.shapes = {Shape()}});
  const ReadRecord read = ReaderReadUpTo(reader, queue, Const(Tensor(int64_t{3})));
  const ReadRecord none = ReaderReadUpTo(reader, queue, Const(Tensor(int64_t{0})));
  Session session(graph_);
  session.Run(QueueEnqueueMany(queue, {Files({"a.txt", "e.txt", "b.txt"})}));
  session.Run(QueueClose(queue));
  const auto next = [&] { return session.Run(read.value); };
  EXPECT_TRUE(next().Identical(Tensor::Of<std::string>({"h1", "one", "two"})));
  EXPECT_TRUE(next().Identical(Tensor::Of<std::string>({"", "last"})));
  EXPECT_TRUE(next().Identical(Tensor::Of<std::string>({"h2", "B1"})));
  EXPECT_EQ(StatusOf(next).code(), Code::kOutOfRange);
  EXPECT_EQ(StatusOf([&] { session.Run(none.value); }).code(), Code::kInvalidArgument);
  session.Run(ReaderReset(reader));
  EXPECT_EQ(session.Run(ReaderNumRecordsProduced(reader)).AsInt64(), 0);
}

TEST_F(ReaderTest, PassesOverAFileThatIsNotThere) {
  const Output reader = TextLineReader();
  const Output queue = FIFOQueue({DType::kString});
  const ReadRecord read = ReaderRead(reader, queue);
  Session session(graph_);
  session.Run(QueueEnqueueMany(queue, {Files({"none", "b.txt"})}));
  const Status status = StatusOf([&] { session.Run(read.value); });
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_NE(status.message().find(Path("none")), std::string::npos);
  EXPECT_EQ(session.Run(read.value).scalar<std::string>(), "h2");
  const Output numbers = FIFOQueue({DType::kInt32});
  const ReadRecord wrong = ReaderRead(IdentityReader(), numbers);
  EXPECT_EQ(StatusOf([&] { session.Run(wrong.value); }).code(), Code::kInvalidArgument);
}

TEST_F(ReaderTest, SavesItsState) {
  const Output reader = IdentityReader();
  const Output queue = FIFOQueue({DType::kString});
  const ReadRecord read = ReaderRead(reader, queue);
  const Output state = Placeholder(DType::kString, Shape());
  const Operation restore = ReaderRestoreState(reader, state);
  Session session(graph_);
  const Output names = Const(Tensor::Of<std::string>({"a", "b", "c"}));
  session.Run(QueueEnqueueMany(queue, {names}));
  session.Run(read.key);
  session.Run(read.key);
  const Tensor saved = session.Run(ReaderSerializeState(reader));
  EXPECT_EQ(saved.scalar<std::string>(), std::string("\x08\x02\x10\x02\x18\x02\"\x01"
                                                     "b"));
  session.Run(read.key);
  session.Run({{state, saved}}, restore);
  EXPECT_EQ(session.Run(ReaderNumRecordsProduced(reader)).AsInt64(), 2);
  EXPECT_EQ(StatusOf([&] {
              session.Run({{state, Tensor("\x08")}}, restore);
            }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { session.Run(ReaderSerializeState(TextLineReader())); }).code(),
            Code::kUnimplemented);
}

TEST_F(ReaderTest, WaitsEndWithTheRun) {
  const Output reader = TextLineReader();
  const Output queue = FIFOQueue({DType::kString});
  const ReadRecord read = ReaderRead(reader, queue);
  Session session(graph_);
  // Whichever comes second waits for the first, which waits for a name.
  std::thread other([&] {
    EXPECT_EQ(StatusOf([&] {
                session.Run(read.value, {.deadline = std::chrono::milliseconds(20)});
              }).code(),
              Code::kDeadlineExceeded);
  });
  EXPECT_EQ(StatusOf([&] {
              session.Run(read.value, {.deadline = std::chrono::milliseconds(20)});
            }).code(),
            Code::kDeadlineExceeded);
  other.join();
}

TEST_F(ReaderTest, RunsHandlesThatAreReferences) {
  const Output queue =
      OpBuilder("FIFOQueue").Attr("component_types", std::vector<DType>{DType::kString}).Build();
  const Output reader = OpBuilder("TextLineReader").Build();
  const auto read = OpBuilder("ReaderRead").Input(reader).Input(queue).BuildAll();
  const Operation put =
      OpBuilder("QueueEnqueueMany").Input(queue).Input({Files({"b.txt"})}).BuildOperation();
  Session session(graph_);
  session.Run(put);
  EXPECT_EQ(session.Run(read[1]).scalar<std::string>(), "h2");
}

}  // namespace
}  // namespace sextant
