#include "sextant/formats/table.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include <map>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/testing/hex.h"

namespace sextant {
namespace {

using Content = std::map<std::string, std::string>;

std::string TableOf(const Content& content) {
  MemoryFileSystem files;
  const auto file = files.NewWriter("t");
  TableWriter writer(*file);
  for (const auto& [key, value] : content) writer.Add(key, value);
  writer.Finish();
  file->Close();
  return files.ReadFile("t");
}

// Reads all entries of a file with these bytes.
Content ReadTable(const std::string& bytes) {
  MemoryFileSystem files;
  files.WriteFileAtomically("t", bytes);
  const TableReader reader(files.NewReader("t"), bytes.size());
  Content content;
  reader.Scan("", [&](std::string_view key, std::string_view value) {
    content.emplace(key, value);
    return true;
  });
  return content;
}

TEST(TableTest, WritesTheBytesThatTensorFlowWrites) {
  // A checkpoint of three float scalars a, b and c.
  const Content content = {{"", FromHex("08011a020801")},
                           {"a", FromHex("080112002804350638271f")},
                           {"b", FromHex("08011200200428043510fd784f")},
                           {"c", FromHex("080112002008280435efd682c3")}};
  const std::string expected = FromHex(
      "00000608011a02080100010b61080112002804350638271f00010d6208011200200428043510fd784f00010d63"
      "080112002008280435efd682c3000000000100000000e415b6bc000000000100000000c0f2a1b0000102640042"
      "00000000010000000058b2e9f74708540e0000000000000000000000000000000000000000000000000000000000"
      "0000000000000057fb808b247547db");
  EXPECT_EQ(TableOf(content), expected);
  EXPECT_EQ(ReadTable(expected), content);
}

TEST(TableTest, FindsEveryKeyAmongManyBlocks) {
  Content content;
  for (int i = 0; i < 20000; ++i)
    content[fmt::format("variable_{:05}/weights", i)] = std::string(i % 50, 'x');
  content["huge"] = std::string(700000, 'h');
  content[std::string(3, '\xFF')] = "last";
  const std::string bytes = TableOf(content);
  EXPECT_EQ(ReadTable(bytes), content);
  MemoryFileSystem files;
  files.WriteFileAtomically("t", bytes);
  const TableReader reader(files.NewReader("t"), bytes.size());
  for (const auto& [key, value] : content) {
    ASSERT_EQ(reader.Find(key), value);
    ASSERT_EQ(reader.Find(key + "\x01"), std::nullopt);
  }
  EXPECT_EQ(reader.Find(""), std::nullopt);
  EXPECT_EQ(reader.Find(std::string(4, '\xFF')), std::nullopt);
  std::string first;
  reader.Scan("variable_12", [&](std::string_view key, std::string_view) {
    first = key;
    return false;
  });
  EXPECT_EQ(first, "variable_12000/weights");
}

TEST(TableTest, EmptyTable) { EXPECT_EQ(ReadTable(TableOf({})), Content()); }

TEST(TableTest, ReadsSnappyBlocks) {
  TableBlockBuilder data(16), index(1);
  Content content;
  for (int i = 0; i < 100; ++i) content[fmt::format("key{:03}", i)] = std::string(40, 'v');
  for (const auto& [key, value] : content) data.Add(key, value);
  std::string bytes;
  const auto append = [&](const std::string& block) {
    std::string stored;
    snappy::Compress(block.data(), block.size(), &stored);
    std::string handle;
    PutVarint64(&handle, bytes.size());
    PutVarint64(&handle, stored.size());
    stored.push_back(table_format::kSnappy);
    PutFixed32(&stored, MaskedCrc32c(stored));
    bytes += stored;
    return handle;
  };
  index.Add("key1", append(data.Finish()));
  std::string footer = append(TableBlockBuilder(16).Finish());
  footer += append(index.Finish());
  footer.resize(40);
  PutFixed64(&footer, table_format::kMagic);
  bytes += footer;
  EXPECT_EQ(ReadTable(bytes), content);
}

TEST(TableTest, RejectsKeysOutOfOrder) {
  MemoryFileSystem files;
  const auto file = files.NewWriter("t");
  TableWriter writer(*file);
  writer.Add("b", "1");
  EXPECT_THROW(writer.Add("a", "2"), Error);
  EXPECT_THROW(writer.Add("b", "2"), Error);
}

TEST(TableTest, DamageIsDataLossOrHarmless) {
  const Content content = {{"", "head"}, {"alpha", "one"}, {"alphabet", "two"}, {"b", "three"}};
  const std::string bytes = TableOf(content);
  int lost = 0;
  const auto check = [&](const std::string& damaged, const std::string& what) {
    try {
      // Zeros that pad the footer mean nothing.
      EXPECT_EQ(ReadTable(damaged), content) << what;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kDataLoss) << what;
      EXPECT_NE(e.message().find("offset"), std::string::npos) << e.message();
      ++lost;
    }
  };
  for (size_t size = 0; size < bytes.size(); ++size) {
    check(bytes.substr(0, size), fmt::format("cut to {}", size));
  }
  EXPECT_EQ(lost, static_cast<int>(bytes.size()));
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    check(damaged, fmt::format("bit {}", bit));
  }
}

}  // namespace
}  // namespace sextant
