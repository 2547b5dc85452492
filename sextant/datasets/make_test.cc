// The three sets, made from small archives and files of the authors' form.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/datasets/census.h"
#include "sextant/datasets/cifar10.h"
#include "sextant/datasets/idx.h"
#include "sextant/datasets/mnist.h"
#include "sextant/datasets/synthetic.h"
#include "sextant/datasets/test_archive.h"
#include "sextant/formats/example.h"
#include "sextant/formats/tfrecord.h"

namespace sextant::datasets {
namespace {

struct Records {
  std::vector<std::string> images;
  std::vector<int64_t> labels;
};

Records ReadRecords(const std::string& path) {
  Records records;
  TFRecordReader reader(path);
  for (std::string record; reader.Next(&record);) {
    const proto::Example example = ParseExample(record);
    records.images.emplace_back(GetOneBytes(example, "image"));
    records.labels.push_back(GetOneInt64(example, "label"));
  }
  return records;
}

using Files = std::vector<std::pair<std::string, std::string>>;

// Six batches with the labels {i, i + 1}.
Files CifarFiles(bool binary) {
  Files files;
  for (int i = 0; i < 6; ++i) {
    const std::vector<int> labels = {i, i + 1};
    const std::string name = i < 5 ? fmt::format("data_batch_{}", i + 1) : "test_batch";
    files.emplace_back(name + (binary ? ".bin" : ""),
                       binary ? MakeCifarBinary(labels) : MakeCifarPickle(labels));
  }
  return files;
}

std::string WriteFiles(const Files& files, const std::string& folder) {
  FileSystem::ForPath("/").CreateDirectories(folder);
  for (const auto& [name, content] : files) {
    FileSystem::ForPath("/").WriteFileAtomically(JoinPath(folder, name), content);
  }
  return folder;
}

std::string WriteArchive(bool binary, const std::string& path) {
  const std::string folder = binary ? "cifar-10-batches-bin/" : "cifar-10-batches-py/";
  Files files = {{folder + "readme.html", "<html>"}};
  for (auto& [name, content] : CifarFiles(binary)) files.emplace_back(folder + name, content);
  std::reverse(files.begin(), files.end());  // archives keep no order
  FileSystem::ForPath("/").WriteFileAtomically(path, Gzip(MakeTar(files)));
  return path;
}

void ExpectCifar(const std::string& from) {
  const std::string out = NewFolder();
  std::ostringstream text;
  MakeCifar10({.out = out, .from = from}, text);
  EXPECT_EQ(ReadRecords(out + "/train.tfrecords").labels,
            (std::vector<int64_t>{0, 1, 1, 2, 2, 3, 3, 4}));
  EXPECT_EQ(ReadRecords(out + "/validation.tfrecords").labels, (std::vector<int64_t>{4, 5}));
  const Records eval = ReadRecords(out + "/eval.tfrecords");
  EXPECT_EQ(eval.labels, (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(eval.images[1].size(), 3072u);
  EXPECT_EQ(eval.images[1][2], 1 + 14);
  EXPECT_NE(text.str().find(fmt::format("Generating {0}/train.tfrecords\nGenerating "
                                        "{0}/validation.tfrecords\nGenerating "
                                        "{0}/eval.tfrecords\nDone!\n",
                                        out)),
            std::string::npos)
      << text.str();
  EXPECT_EQ(FileSystem::ForPath("/").ListDirectory(out).size(), 3u);
}

TEST(MakeCifar10, TakesArchives) {
  for (const bool binary : {false, true}) {
    ExpectCifar(WriteArchive(binary, NewFolder() + "/archive"));
    const std::string folder = NewFolder();
    WriteArchive(binary, folder + (binary ? "/cifar-10-binary.tar.gz" : "/cifar-10-python.tar.gz"));
    ExpectCifar(folder);
  }
}

TEST(MakeCifar10, TakesFolders) {
  for (const bool binary : {false, true}) {
    ExpectCifar(WriteFiles(CifarFiles(binary), NewFolder()));
    const std::string folder = NewFolder();
    WriteFiles(CifarFiles(binary),
               folder + (binary ? "/cifar-10-batches-bin" : "/cifar-10-batches-py"));
    ExpectCifar(folder);
  }
}

template <typename Make>
std::string WhyNot(const Make& make, const DataOptions& options) {
  std::ostringstream text;
  try {
    make(options, text);
    return "";
  } catch (const Error& e) {
    return e.message();
  }
}

TEST(MakeCifar10, SaysWhatIsMissingOrDamaged) {
  const std::string empty = NewFolder(), out = NewFolder();
  EXPECT_NE(WhyNot(MakeCifar10, {.out = out, .from = empty}).find("data_batch_1"),
            std::string::npos);
  const std::string archive = WriteArchive(false, empty + "/archive");
  const std::string bytes = FileSystem::ForPath("/").ReadFile(archive);
  FileSystem::ForPath("/").WriteFileAtomically(archive, bytes.substr(0, bytes.size() / 2));
  EXPECT_NE(WhyNot(MakeCifar10, {.out = out, .from = archive}), "");
  FileSystem::ForPath("/").WriteFileAtomically(archive, "no archive");
  EXPECT_NE(WhyNot(MakeCifar10, {.out = out, .from = archive}), "");
  Files files = CifarFiles(true);
  files[2].second[0] = 77;
  const std::string folder = WriteFiles(files, NewFolder());
  EXPECT_NE(WhyNot(MakeCifar10, {.out = out, .from = folder}).find("label 77"), std::string::npos);
  FileSystem::ForPath("/").Delete(folder + "/data_batch_3.bin");
  EXPECT_NE(WhyNot(MakeCifar10, {.out = out, .from = folder}).find("has no data_batch_3"),
            std::string::npos);
  EXPECT_TRUE(FileSystem::ForPath("/").ListDirectory(out).empty());
}

TEST(MakeCifar10, TakesTheFirstSoMany) {
  const std::string from = WriteFiles(CifarFiles(true), NewFolder()), out = NewFolder();
  std::ostringstream text;
  MakeCifar10({.out = out, .from = from, .train = 3, .validation = 0, .eval = 1}, text);
  EXPECT_EQ(ReadRecords(out + "/train.tfrecords").labels, (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(ReadRecords(out + "/validation.tfrecords").labels.size(), 0u);
  EXPECT_EQ(WhyNot(MakeCifar10, {.out = out, .from = from, .train = 9}),
            "9 examples are wanted for train, but there are only 8");
}

// Image i is all i, its label i % 10.
void WriteMnist(const std::string& folder, int64_t train, int64_t test, bool gzip) {
  const auto write = [&](const std::string& name, IdxArray array) {
    const std::string path = JoinPath(folder, name);
    WriteIdx(path, array);
    if (!gzip) return;
    FileSystem::ForPath("/").WriteFileAtomically(path + ".gz",
                                                 Gzip(FileSystem::ForPath("/").ReadFile(path)));
    FileSystem::ForPath("/").Delete(path);
  };
  for (const auto& [name, count] : {std::pair{"train", train}, {"t10k", test}}) {
    IdxArray images{{count, 28, 28}, ""}, labels{{count}, ""};
    for (int64_t i = 0; i < count; ++i) {
      images.bytes += std::string(784, static_cast<char>(i));
      labels.bytes.push_back(static_cast<char>(i % 10));
    }
    write(fmt::format("{}-images-idx3-ubyte", name), images);
    write(fmt::format("{}-labels-idx1-ubyte", name), labels);
  }
}

TEST(MakeMnist, TakesIdxFiles) {
  for (const bool gzip : {false, true}) {
    const std::string from = NewFolder(), out = NewFolder();
    WriteMnist(from, 5003, 4, gzip);
    std::ostringstream text;
    MakeMnist({.out = out, .from = from}, text);
    EXPECT_EQ(ReadRecords(out + "/train.tfrecords").labels, (std::vector<int64_t>{0, 1, 2}));
    EXPECT_EQ(ReadRecords(out + "/validation.tfrecords").labels.size(), 5000u);
    const Records test = ReadRecords(out + "/test.tfrecords");
    EXPECT_EQ(test.labels, (std::vector<int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(test.images[3], std::string(784, 3));
    EXPECT_EQ(text.str().find("Extracting") != std::string::npos, gzip);
  }
}

TEST(MakeMnist, RefusesDamagedFiles) {
  const std::string from = NewFolder(), out = NewFolder();
  WriteMnist(from, 5, 4, false);
  const std::string path = from + "/train-images-idx3-ubyte";
  const std::string whole = FileSystem::ForPath("/").ReadFile(path);
  for (const std::string& bytes :
       {std::string(), whole.substr(0, 3), whole.substr(0, 10), whole.substr(0, 100), whole + "x",
        "\x01" + whole.substr(1), std::string("\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff", 12),
        whole.substr(0, 4) + std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12)}) {
    FileSystem::ForPath("/").WriteFileAtomically(path, bytes);
    EXPECT_NE(WhyNot(MakeMnist, {.out = out, .from = from}).find("train-images"),
              std::string::npos);
  }
  FileSystem::ForPath("/").WriteFileAtomically(path, whole);
  const std::string labels = from + "/train-labels-idx1-ubyte";
  WriteIdx(labels, {{4}, {0, 1, 2, 3}});
  EXPECT_EQ(WhyNot(MakeMnist, {.out = out, .from = from}),
            labels + " has not as many labels as " + path + " has images");
  WriteIdx(labels, {{5}, {0, 1, 2, 3, 10}});
  EXPECT_EQ(WhyNot(MakeMnist, {.out = out, .from = from}),
            labels + ": image 4 has the label 10, but there are 10 classes");
  WriteIdx(path, {{0, 28, 28}, {}});
  EXPECT_EQ(WhyNot(MakeMnist, {.out = out, .from = from}),
            path + " holds no images of 28 x 28 pixels");
  FileSystem::ForPath("/").Delete(path);
  EXPECT_NE(WhyNot(MakeMnist, {.out = out, .from = from}).find("train-images-idx3-ubyte.gz"),
            std::string::npos);
}

TEST(MakeCensus, Cleans) {
  const std::string row =
      "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, "
      "Not-in-family, White, Male, 2174, 0, 40, United-States, ";
  EXPECT_EQ(CleanCensus("|1x3 Cross validator\n" + row + "<=50K.\n\n" + row + ">50K.\r\n", -1, "t"),
            row + "<=50K\n" + row + ">50K\n");
  EXPECT_EQ(CleanCensus(row + "<=50K\n" + row + ">50K\n\n", 1, "t"), row + "<=50K\n");
  try {
    CleanCensus(row + "<=50K\n" + row + "50K\n", -1, "adult.data");
    FAIL();
  } catch (const Error& e) {
    EXPECT_TRUE(e.message().starts_with("adult.data, line 2,")) << e.message();
  }
}

TEST(MakeCensus, ByteOrderMarksAreNoData) {
  const std::string from = NewFolder(), out = NewFolder();
  const std::string rows = SyntheticCensus(2, 1, 0);
  for (const char* name : {"adult.data", "adult.test"}) {
    FileSystem::ForPath(from).WriteFileAtomically(JoinPath(from, name), "\xef\xbb\xbf" + rows);
  }
  std::ostringstream printed;
  MakeCensus({.out = out, .from = from}, printed);
  EXPECT_EQ(FileSystem::ForPath(out).ReadFile(JoinPath(out, "adult.data.csv")), rows);
}

TEST(Synthetic, IsTheSameForTheSameSeed) {
  std::array<std::string, 3> folders = {NewFolder(), NewFolder(), NewFolder()};
  for (int i = 0; i < 3; ++i) {
    std::ostringstream text;
    const DataOptions options{.out = folders[i],
                              .synthetic = true,
                              .seed = i / 2,
                              .train = 300,
                              .validation = 50,
                              .eval = 60};
    MakeCifar10(options, text);
    MakeMnist(options, text);
    MakeCensus(options, text);
  }
  for (const char* name : {"train.tfrecords", "validation.tfrecords", "eval.tfrecords",
                           "test.tfrecords", "adult.data.csv", "adult.test.csv"}) {
    const std::string first = FileSystem::ForPath("/").ReadFile(JoinPath(folders[0], name));
    EXPECT_EQ(first, FileSystem::ForPath("/").ReadFile(JoinPath(folders[1], name))) << name;
    EXPECT_NE(first, FileSystem::ForPath("/").ReadFile(JoinPath(folders[2], name))) << name;
  }
  EXPECT_EQ(ReadRecords(folders[0] + "/train.tfrecords").labels.size(), 300u);
  const std::string rows = FileSystem::ForPath("/").ReadFile(folders[0] + "/adult.data.csv");
  EXPECT_EQ(CleanCensus(rows, -1, "rows"), rows);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 300);
}

}  // namespace
}  // namespace sextant::datasets
