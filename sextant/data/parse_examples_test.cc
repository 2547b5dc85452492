#include "sextant/data/parse_examples.h"

#include <gtest/gtest.h>

#include "sextant/data/source_test_helpers.h"
#include "sextant/data/sources.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/example.pb.h"

namespace sextant::data {
namespace {

// Example i: x has 2 floats, words i % 4 strings, label one integer, raw 4 bytes, unused many;
// "rare" is in every third.
std::string MakeExample(int i) {
  proto::Example example;
  auto& features = *example.mutable_features()->mutable_feature();
  features["x"].mutable_float_list()->add_value(static_cast<float>(i) + 0.5f);
  features["x"].mutable_float_list()->add_value(static_cast<float>(-i));
  features["words"].mutable_bytes_list();
  for (int w = 0; w < i % 4; ++w) {
    features["words"].mutable_bytes_list()->add_value(std::string(static_cast<size_t>(w + i), 'w'));
  }
  features["label"].mutable_int64_list()->add_value(i - 3);
  features["raw"].mutable_bytes_list()->add_value(std::string{char(i), 1, char(200), char(255)});
  features["unused"].mutable_bytes_list()->add_value(std::string(1000, 'u'));
  if (i % 3 == 0) features["rare"].mutable_int64_list()->add_value(100 + i);
  return example.SerializeAsString();
}

std::string WriteExamples(const std::string& name, int count) {
  std::string path = "memory://" + name;
  TFRecordWriter writer(path);
  for (int i = 0; i < count; ++i) writer.Write(MakeExample(i));
  writer.Close();
  return path;
}

ExampleSpec FixedSpec() {
  return {{.name = "label", .dtype = DType::kInt64},
          {.name = "raw", .dtype = DType::kString, .shape = {2, 2}, .decode_raw = DType::kUInt8},
          {.name = "x", .dtype = DType::kFloat, .shape = {2}},
          {.name = "rare", .dtype = DType::kInt64, .default_value = Tensor(int64_t{-1})}};
}

TEST(ParseExamplesTest, ParsesOneByOne) {
  const Dataset parsed = TFRecordFiles({WriteExamples("one_by_one", 5)}).ParseExamples(FixedSpec());
  const std::vector<Element> elements = AllOf(parsed);
  ASSERT_EQ(elements.size(), 5u);
  EXPECT_EQ(elements[4].Describe(), "label: int64[], raw: uint8[2,2], x: float[2], rare: int64[]");
  EXPECT_EQ(elements[4]["label"].scalar<int64_t>(), 1);
  EXPECT_TRUE(elements[4]["raw"].Identical(Tensor::Of<uint8_t>({2, 2}, {4, 1, 200, 255})));
  EXPECT_TRUE(elements[4]["x"].Identical(Tensor::Of<float>({4.5f, -4.0f})));
  EXPECT_EQ(elements[4]["rare"].scalar<int64_t>(), -1);
  EXPECT_EQ(elements[3]["rare"].scalar<int64_t>(), 103);
  EXPECT_EQ(parsed.Spec()[1], (FieldSpec{"raw", DType::kUInt8, {2, 2}}));
}

TEST(ParseExamplesTest, BatchesAreTheSameEitherWay) {
  const Dataset records = TFRecordFiles({WriteExamples("either_way", 103)});
  const std::vector<Element> elements = AllOf(records.ParseExamples(FixedSpec()));
  const Dataset rows_first = records.ParseExamples(FixedSpec()).Batch(10);
  const Dataset batch_first = records.Batch(10).ParseExamples(FixedSpec());
  ExpectSame(AllOf(rows_first.Unbatch()), elements);
  ExpectSame(AllOf(batch_first), AllOf(rows_first));
  EXPECT_EQ(batch_first.Spec()[1].shape.rank(), 3);
  ExpectResumes(rows_first);
  ExpectResumes(batch_first);
  ExpectResumes(records.Shuffle(20, {.seed = 5}).ParseExamples(FixedSpec()).Batch(10));
}

TEST(ParseExamplesTest, PadsSequences) {
  const Dataset records = TFRecordFiles({WriteExamples("padded", 4)});
  const ExampleSpec spec = {
      {.name = "words", .dtype = DType::kString, .shape = {-1}, .default_value = Tensor("-")}};
  Element batch;
  ASSERT_TRUE(records.Batch(4).ParseExamples(spec).MakeIterator()->Next(&batch));
  EXPECT_TRUE(batch["words"].Identical(Tensor::Of<std::string>(
      {4, 3}, {"-", "-", "-", "w", "-", "-", "ww", "www", "-", "www", "wwww", "wwwww"})));
  const std::vector<Element> elements = AllOf(records.ParseExamples(spec));
  EXPECT_EQ(elements[0]["words"].num_elements(), 0);
  EXPECT_TRUE(elements[2]["words"].Identical(Tensor::Of<std::string>({"ww", "www"})));
  ExpectSame(AllOf(records.ParseExamples(spec).PaddedBatch(4, {.values = {{"words", "-"}}})),
             {batch});
}

// Shuffle keeps what threads have not finished; the elements are those of an iterator without
// threads.
TEST(ParseExamplesTest, ShufflesBeforeItParses) {
  const Dataset records = TFRecordFiles({WriteExamples("shuffled_later", 50)}).Repeat(2);
  const auto noisy = [](Element element, MapContext& context) {
    element.Set("noise", Tensor(UniformFloat(context.random.Next()[0])));
    return element;
  };
  const auto made = [&](int parallel) {
    return records.ParseExamples(FixedSpec())
        .Map(noisy, {.parallel = parallel, .seed = 4})
        .Shuffle(20, {.seed = 5})
        .Batch(8);
  };
  ExpectSame(AllOf(made(kAutotune)), AllOf(made(1)));
  ExpectResumes(made(2));
  auto iterator = made(2).MakeIterator();
  Element batch;
  iterator->Next(&batch);
  // Positions: the records of the buffer alone have more.
  EXPECT_LT(iterator->SaveState().size(), 20 * MakeExample(0).size());
}

std::string ErrorOfParsing(const FeatureSpec& spec) {
  const Dataset records = TFRecordFiles({WriteExamples("wrong", 8)});
  const std::string one = ErrorOf([&] { AllOf(records.ParseExamples({spec})); });
  const std::string batched = ErrorOf([&] { AllOf(records.ParseExamples({spec}).Batch(4)); });
  EXPECT_EQ(one, batched);
  const std::string place = "INVALID_ARGUMENT: memory://wrong, record at offset 0: ";
  EXPECT_TRUE(one.starts_with(place)) << one;
  return one.substr(std::min(one.size(), place.size()));
}

TEST(ParseExamplesTest, SaysWhatIsWrongWithAFeature) {
  EXPECT_EQ(ErrorOfParsing({.name = "label", .dtype = DType::kFloat}),
            "feature 'label': holds int64 values, expected float");
  EXPECT_EQ(ErrorOfParsing({.name = "absent", .dtype = DType::kFloat}),
            "feature 'absent': is missing and has no default");
  EXPECT_EQ(ErrorOfParsing({.name = "x", .dtype = DType::kFloat, .shape = {3}}),
            "feature 'x': has 2 values, expected 3 for shape [3]");
  EXPECT_EQ(ErrorOfParsing({.name = "x", .dtype = DType::kFloat, .shape = {-1, 3}}),
            "feature 'x': has 2 values, expected a multiple of 3 for shape "
            "[?,3]");
  EXPECT_EQ(
      ErrorOfParsing(
          {.name = "raw", .dtype = DType::kString, .shape = {3}, .decode_raw = DType::kUInt16}),
      "feature 'raw': has 1 values, the first of 4 bytes, expected one of "
      "6");
}

TEST(ParseExamplesTest, PassesOverBadRecords) {
  const std::string path = "memory://some_bad";
  TFRecordWriter writer(path);
  for (int i = 0; i < 30; ++i) writer.Write(i % 7 == 3 ? "not an example" : MakeExample(i));
  writer.Close();
  const Dataset parsed = TFRecordFiles({path}).ParseExamples(FixedSpec());
  const std::vector<Element> kept = AllOf(parsed.IgnoreErrors());
  EXPECT_EQ(kept.size(), 26u);
  ExpectSame(AllOf(parsed.Batch(4).IgnoreErrors().Unbatch()), kept);
  EXPECT_EQ(ErrorOf([&] { AllOf(TFRecordFiles({path}).Batch(5).ParseExamples(FixedSpec())); }),
            "INVALID_ARGUMENT: record 3 of the batch: its 14 bytes are not a tf.train.Example");
}

// Also behind a Shuffle, and after a restore.
TEST(ParseExamplesTest, NamesFileAndOffsetOfABadRecord) {
  const std::string path = "memory://one_bad";
  TFRecordWriter writer(path);
  writer.Write("not an example");
  for (int i = 0; i < 5; ++i) writer.Write(MakeExample(i));
  writer.Close();
  const Dataset parsed =
      TFRecordFiles({WriteExamples("all_good", 6), path}).Repeat(1).Shuffle(20, {.seed = 2});
  const Dataset batches = parsed.ParseExamples(FixedSpec()).Batch(2);
  const std::string expected =
      "INVALID_ARGUMENT: memory://one_bad, record at offset 0: its 14 bytes are not a "
      "tf.train.Example";
  EXPECT_EQ(ErrorOf([&] { AllOf(batches); }), expected);
  EXPECT_EQ(ErrorOf([&] { AllOf(parsed.ParseExamples(FixedSpec())); }), expected);
  const auto same = [](Element element) { return element; };
  const auto all = [](const Element&) { return true; };
  for (const int parallel : {1, 2}) {
    const Dataset mapped = parsed.Map(same, {.parallel = parallel});
    EXPECT_EQ(ErrorOf([&] { AllOf(mapped.ParseExamples(FixedSpec())); }), expected);
    EXPECT_EQ(ErrorOf([&] { AllOf(mapped.ParseExamples(FixedSpec()).Batch(2)); }), expected);
    const Dataset passed = mapped.Filter(all).Take(20).Skip(0).Shard(1, 0).Prefetch(2);
    EXPECT_EQ(ErrorOf([&] { AllOf(passed.ParseExamples(FixedSpec())); }), expected);
  }
  const auto fails = [](Element) -> Element { throw InvalidArgument("no"); };
  EXPECT_EQ(ErrorOf([&] { AllOf(TFRecordFiles({path}).Map(fails)); }),
            "INVALID_ARGUMENT: memory://one_bad, record at offset 0: Map of element 0: no");
}

TEST(ParseExamplesTest, RefusesASpecThatContradictsItself) {
  const Dataset records = TFRecordFiles({"memory://unused"});
  EXPECT_NE(ErrorOf([&] {
              records.ParseExamples({{.name = "a", .dtype = DType::kInt32}});
            }).find("cannot be int32"),
            std::string::npos);
  EXPECT_NE(ErrorOf([&] {
              records.ParseExamples({{.name = "a", .dtype = DType::kInt64, .shape = {2, -1}}});
            }).find("only the first dimension"),
            std::string::npos);
  EXPECT_EQ(ErrorOf([&] {
              records.ParseExamples({{.name = "a", .dtype = DType::kInt64, .shape = {-1, 0}}});
            }),
            "INVALID_ARGUMENT: feature 'a': rows of shape [?,0] have no elements");
  EXPECT_NE(ErrorOf([&] {
              records.ParseExamples(
                  {{.name = "a", .dtype = DType::kFloat, .default_value = Tensor(int64_t{1})}});
            }).find("the default must be"),
            std::string::npos);
  EXPECT_NE(ErrorOf([&] {
              AllOf(TextLines({WriteMemoryFile("text", "a\n")}).ParseExamples(FixedSpec()));
            }).find("field \"record\""),
            std::string::npos);
}

}  // namespace
}  // namespace sextant::data
