#include "sextant/formats/example_wire.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "sextant/formats/example_index.h"
#include "sextant/proto/example.pb.h"

namespace sextant {
namespace {

// Fields of fewer than 128 bytes.
std::string Field(int number, const std::string& body) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(body.size())} + body;
}
std::string Int64Feature(const std::string& packed) { return Field(3, Field(1, packed)); }
std::string Entry(const std::string& key, const std::string& feature) {
  return Field(1, Field(1, key) + Field(2, feature));
}
std::string Example(const std::string& entries) { return Field(1, entries); }

// The int64 values of the last feature "n", or nothing when the bytes are refused.
std::vector<int64_t> ReadN(const std::string& example, bool* ok = nullptr) {
  JoinedBytes joined;
  std::vector<int64_t> values;
  const bool read = ReadExample(example, joined, [&](std::string_view key, const WireFeature& f) {
    if (key != "n" || f.kind != FeatureKind::kInt64) return;
    values.resize(static_cast<size_t>(std::max<int64_t>(CountValues(f), 0)));
    ReadValues(f.list, std::span<int64_t>(values));
  });
  if (ok != nullptr) *ok = read;
  return values;
}
using Values = std::vector<int64_t>;

TEST(ExampleWireTest, PackedAndUnpacked) {
  EXPECT_EQ(ReadN(Example(Entry("n", Int64Feature("\x01\x96\x01\x02")))), (Values{1, 150, 2}));
  const std::string unpacked = "\x08\x05\x08\x07";
  EXPECT_EQ(ReadN(Example(Entry("n", Field(3, unpacked)))), (Values{5, 7}));
  EXPECT_EQ(ReadN(Example(Entry("n", Field(3, unpacked + Field(1, "\x09"))))), (Values{5, 7, 9}));
}

TEST(ExampleWireTest, NegativeNumbersTakeTenBytes) {
  EXPECT_EQ(ReadN(Example(Entry("n", Int64Feature("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")))),
            Values{-1});
}

TEST(ExampleWireTest, PiecesAreMerged) {
  EXPECT_EQ(ReadN(Example(Entry("n", Int64Feature("\x01") + Int64Feature("\x02")))),
            (Values{1, 2}));
  const std::string two_values =
      Field(1, "n") + Field(2, Int64Feature("\x03")) + Field(2, Int64Feature("\x04"));
  EXPECT_EQ(ReadN(Example(Field(1, two_values))), (Values{3, 4}));
  // Another kind replaces what came before.
  EXPECT_EQ(ReadN(Example(Entry("n", Field(1, Field(1, "text")) + Int64Feature("\x02")))),
            Values{2});
  // Value before key, unknown fields and groups, two messages one after another.
  EXPECT_EQ(ReadN(Example(Field(1, Field(2, Int64Feature("\x05")) + Field(1, "n")))), Values{5});
  EXPECT_EQ(ReadN("\x20\x07" + Example(Entry("n", "\x2b\x08\x01\x2c" + Int64Feature("\x06")))),
            Values{6});
  EXPECT_EQ(
      ReadN(Example(Entry("n", Int64Feature("\x01"))) + Example(Entry("n", Int64Feature("\x02")))),
      Values{2});
}

TEST(ExampleWireTest, RefusesWhatIsNoMessage) {
  const std::string good = Example(Entry("n", Int64Feature("\x01")));
  bool ok = true;
  for (size_t size = 1; size < good.size(); ++size) {
    ReadN(good.substr(0, size), &ok);
    EXPECT_FALSE(ok) << size;
  }
  for (const std::string bad : {"\x0f not", "\x02", "\x0c", "\x0b\x08\x01", "\x0b\x14",
                                "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}) {
    ReadN(bad, &ok);
    EXPECT_FALSE(ok);
  }
  EXPECT_EQ(CountValues({FeatureKind::kInt64, "\x0a\x01\x80"}), -1);
  EXPECT_EQ(CountValues({FeatureKind::kFloat,
                         "\x0a\x03"
                         "abc"}),
            -1);
}

TEST(ExampleWireTest, AgreesWithProtobuf) {
  proto::SequenceExample example;
  auto& context = *example.mutable_context()->mutable_feature();
  for (const float v : {1.5f, -2.0f}) context["f"].mutable_float_list()->add_value(v);
  context["b"].mutable_bytes_list()->add_value("text");
  auto& list = (*example.mutable_feature_lists()->mutable_feature_list())["l"];
  for (int i = 0; i < 3; ++i) list.add_feature()->mutable_int64_list()->add_value(i << 20);
  JoinedBytes joined;
  std::map<std::string, WireFeature> found;
  std::string_view rows;
  const std::string bytes = example.SerializeAsString();
  ASSERT_TRUE(ReadSequenceExample(
      bytes, joined,
      [&](std::string_view key, const WireFeature& f) { found[std::string(key)] = f; },
      [&](std::string_view, std::string_view body) { rows = body; }));
  ASSERT_EQ(CountValues(found["f"]), 2);
  float reals[2];
  ReadValues(found["f"].list, std::span<float>(reals));
  EXPECT_EQ(reals[1], -2.0f);
  ASSERT_EQ(CountValues(found["b"]), 1);
  std::string text;
  ReadValues(found["b"].list, std::span<std::string>(&text, 1));
  EXPECT_EQ(text, "text");
  int64_t i = 0;
  ASSERT_TRUE(ReadFeatureList(rows, joined, [&](const WireFeature& f) {
    int64_t value = -1;
    ASSERT_EQ(CountValues(f), 1);
    ReadValues(f.list, std::span<int64_t>(&value, 1));
    EXPECT_EQ(value, i++ << 20);
  }));
  EXPECT_EQ(i, 3);
}

TEST(ExampleIndexTest, FindsWantedFeatures) {
  const std::string one = Example(Entry("n", Int64Feature("\x01\x02")) + Entry("other", "")),
                    two = Example(Entry("n", Field(1, Field(1, "text"))));
  ExampleIndex index;
  index.SetWanted(
      {{"missing", FeatureKind::kFloat}, {"n", FeatureKind::kInt64}, {"n", FeatureKind::kInt64}});
  index.Reset({&one, 1});
  index.Scan(0, 1);
  EXPECT_TRUE(index.missing(0, 0));
  EXPECT_EQ(index.count(0, 1), 2);
  EXPECT_EQ(index.count(0, 2), 2);  // wanted twice
  const std::string name = "row";
  index.Reset({&two, 1}, {&name, 1});
  try {
    index.Scan(0, 1);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "example 0 ('row'), feature 'n': it holds bytes values, expected int64");
  }
}

}  // namespace
}  // namespace sextant
