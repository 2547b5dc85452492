// What each transformation gives. The expected values are tf.data's (2.15) where it has the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "sextant/base/error.h"
#include "sextant/data/dataset_node.h"
#include "sextant/data/pipelines_for_testing.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/testing/status_of.h"

namespace sextant::data {
namespace {

using Ints = std::vector<int64_t>;

// Batches of one int64 field, row-major, as nested lists.
std::vector<Ints> Batches(const Dataset& dataset, const std::string& field = "value") {
  std::vector<Ints> batches;
  const auto iterator = dataset.MakeIterator();
  for (Element e; iterator->Next(&e);) {
    const auto flat = e[field].flat<int64_t>();
    batches.emplace_back(flat.begin(), flat.end());
  }
  return batches;
}

std::string ErrorOf(const std::function<void()>& run) { return sextant::StatusOf(run).ToString(); }

// 0 … length - 1 beside the number itself.
Element Sequence(int64_t length) {
  Tensor numbers(DType::kInt64, {length});
  std::iota(numbers.flat<int64_t>().begin(), numbers.flat<int64_t>().end(), 1);
  return {{"numbers", numbers}};
}
Dataset Sequences() {
  return FromTensorSlices({{"n", Tensor::Of<int64_t>({1, 5, 2, 7, 3, 3, 9, 1, 2, 6, 4})}})
      .Map([](Element e) { return Sequence(e["n"].scalar<int64_t>()); });
}

TEST(TransformationsTest, Sources) {
  EXPECT_EQ(Values(Range(10, 3, -3)), (Ints{10, 7, 4}));
  EXPECT_EQ(Values(Range(3, 10, 3)), (Ints{3, 6, 9}));
  EXPECT_EQ(Values(Range(5, 5)), Ints{});
  EXPECT_EQ(ElementTexts(FromTensors({{"x", Tensor::Of<int32_t>({1, 2})}})),
            (std::vector<std::string>{"x:int32[2]=[1 2] ", "end"}));
  EXPECT_EQ(ElementTexts(FromTensorSlices(
                {{"x", Tensor::Of<int32_t>({2, 1}, {1, 2})}, {"y", Tensor::Of<int32_t>({3, 4})}})),
            (std::vector<std::string>{"x:int32[1]=[1] y:int32[]=3 ", "x:int32[1]=[2] y:int32[]=4 ",
                                      "end"}));
  EXPECT_EQ(ErrorOf([] {
              FromTensorSlices({{"x", 1}});
            }),
            "INVALID_ARGUMENT: FromTensorSlices: field \"x\" is a scalar, which has no rows");
  EXPECT_EQ(
      ErrorOf([] {
        FromTensorSlices({{"x", Tensor::Of<int32_t>({1})}, {"y", Tensor::Of<int32_t>({1, 2})}});
      }),
      "INVALID_ARGUMENT: FromTensorSlices: the fields have different numbers of rows: "
      "x: int32[1], y: int32[2]");
}

TEST(TransformationsTest, ElementsAreTheReceiversOwn) {
  const Dataset source = FromTensorSlices({{"value", Tensor::Of<int64_t>({1, 2, 3})}});
  const auto doubled = [](Element e) {
    e["value"].data<int64_t>()[0] *= 2;
    return e;
  };
  EXPECT_EQ(Values(source.Map(doubled).Repeat(2)), (Ints{2, 4, 6, 2, 4, 6}));
  EXPECT_EQ(Values(source.Cache().Map(doubled).Repeat(2)), (Ints{2, 4, 6, 2, 4, 6}));
  std::vector<Element> kept;
  const auto iterator = source.MakeIterator();
  for (Element e; iterator->Next(&e);) kept.push_back(e);
  EXPECT_EQ(kept[0]["value"].scalar<int64_t>(), 1);
  EXPECT_EQ(kept[2]["value"].scalar<int64_t>(), 3);
}

TEST(TransformationsTest, MapAndFilter) {
  const auto odd = [](const Element& e) { return e["value"].scalar<int64_t>() % 2 == 1; };
  EXPECT_EQ(Values(Range(7).Filter(odd)), (Ints{1, 3, 5}));
  EXPECT_EQ(
      ElementTexts(Range(2).Map([](Element) -> Element { throw NotFound("no such thing"); }))[1],
      "error: NOT_FOUND: Map of element 1: no such thing");
  EXPECT_EQ(ElementTexts(
                Range(1).Filter([](const Element& e) { return e.Has("x") || e["x"].valid(); }))[0],
            "error: NOT_FOUND: Filter of element 0: the element has no field \"x\"; it has value: "
            "int64[]");
}

TEST(TransformationsTest, MapGivesEveryElementItsOwnRandomStream) {
  const auto draw = [](Element e, MapContext& context) {
    e["value"] = static_cast<int64_t>(context.random.Next()[0]);
    return e;
  };
  const Ints serial = Values(Range(500).Map(draw, {.seed = 1}).Repeat(2));
  EXPECT_EQ(std::set(serial.begin(), serial.end()).size(), 1000u);
  EXPECT_EQ(Values(Range(500).Map(draw, {.parallel = 3, .seed = 1}).Repeat(2)), serial);
  EXPECT_NE(Values(Range(500).Map(draw, {.seed = 2}).Repeat(2)), serial);
}

TEST(TransformationsTest, InterleaveTakesTurns) {
  const Ints lengths{3, 0, 4, 1, 2, 5, 0, 0, 2};
  const auto part = [&](const Element& e) {
    const int64_t i = e["value"].scalar<int64_t>();
    return Range(i * 100, i * 100 + lengths[i]);
  };
  const auto interleaved = [&](int cycle, int block, int parallel) {
    return Values(
        Range(9).Interleave(part, {.cycle = cycle, .block = block, .parallel = parallel}));
  };
  for (const int parallel : {1, 2, kAutotune}) {
    EXPECT_EQ(interleaved(2, 1, parallel), (Ints{0, 1, 200, 2, 201, 202, 300, 203, 400, 500, 401,
                                                 501, 502, 503, 504, 800, 801}));
    EXPECT_EQ(interleaved(3, 2, parallel), (Ints{0, 1, 200, 201, 2, 300, 202, 203, 400, 401, 500,
                                                 501, 502, 503, 504, 800, 801}));
    EXPECT_EQ(interleaved(4, 3, parallel), (Ints{0, 1, 2, 200, 201, 202, 300, 400, 401, 203, 500,
                                                 501, 502, 800, 801, 503, 504}));
    EXPECT_EQ(interleaved(2, 5, parallel), (Ints{0, 1, 2, 200, 201, 202, 203, 300, 400, 401, 500,
                                                 501, 502, 503, 504, 800, 801}));
  }
  EXPECT_EQ(Values(Range(9).FlatMap(part)), interleaved(1, 1, 1));
}

TEST(TransformationsTest, ShuffleIsUniformWithinItsBuffer) {
  // With a buffer of 3 the first of 0 1 2 … is 0, 1 or 2, each as often.
  std::map<int64_t, int> first, last;
  const Dataset shuffled = Range(5).Shuffle(3, {.seed = 11}).Repeat(3000);
  const Ints values = Values(shuffled);
  for (size_t i = 0; i < values.size(); i += 5) {
    ++first[values[i]];
    ++last[values[i + 4]];
    const std::set<int64_t> epoch(&values[i], &values[i] + 5);
    ASSERT_EQ(epoch.size(), 5u);
  }
  ASSERT_EQ(first.size(), 3u);
  for (const auto& [value, count] : first) EXPECT_NEAR(count, 1000, 100) << value;
  // 4 is read as the third element is given, so it is last in half of the cases where … 1/2 * 2/3.
  EXPECT_EQ(last.size(), 5u);
}

TEST(TransformationsTest, ShuffleSeeds) {
  const auto epochs = [](const ShuffleOptions& options) {
    return Batches(Range(50).Shuffle(50, options).Repeat(2).Batch(50));
  };
  const auto seeded = epochs({.seed = 3});
  EXPECT_EQ(epochs({.seed = 3}), seeded);
  EXPECT_NE(epochs({.seed = 4}), seeded);
  EXPECT_NE(seeded[0], seeded[1]);
  const auto fixed = epochs({.seed = 3, .reshuffle = false});
  EXPECT_EQ(fixed[0], fixed[1]);
  const auto unseeded = epochs({.reshuffle = false});
  EXPECT_EQ(unseeded[0], unseeded[1]);
  EXPECT_NE(epochs({.reshuffle = false}), unseeded);
  // Two shuffles without a seed in one pipeline are independent.
  const auto rename = [](Element e) { return Element{{"other", e["value"]}}; };
  const Dataset both = Zip({Range(50).Shuffle(50), Range(50).Shuffle(50).Map(rename)});
  EXPECT_NE(Values(both), Values(both, "other"));
}

TEST(TransformationsTest, RepeatTakeSkipShard) {
  EXPECT_EQ(Values(Range(2).Repeat(3)), (Ints{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(Values(Range(3).Repeat(0)), Ints{});
  EXPECT_EQ(Values(Range(0).Repeat()), Ints{});
  EXPECT_EQ(Values(Range(3).Repeat().Take(7)), (Ints{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(Values(Range(3).Take(-1)), (Ints{0, 1, 2}));
  EXPECT_EQ(Values(Range(3).Skip(-1)), Ints{});
  EXPECT_EQ(Values(Range(5).Skip(3)), (Ints{3, 4}));
  EXPECT_EQ(Values(Range(10).Shard(3, 1)), (Ints{1, 4, 7}));
  EXPECT_EQ(ErrorOf([] { Range(3).Shard(2, 2); }), "INVALID_ARGUMENT: Shard 2 of 2 does not exist");
}

TEST(TransformationsTest, BatchAndUnbatch) {
  EXPECT_EQ(Batches(Range(7).Batch(3)), (std::vector<Ints>{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(Batches(Range(7).Batch(3, {.drop_remainder = true})),
            (std::vector<Ints>{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(Batches(Range(5).Repeat(2).Batch(4)),
            (std::vector<Ints>{{0, 1, 2, 3}, {4, 0, 1, 2}, {3, 4}}));
  EXPECT_EQ(Values(Range(7).Batch(3).Unbatch()), (Ints{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Values(Range(9000).Batch(int64_t{1} << 40)).size(), 9000u);
  EXPECT_EQ(ElementTexts(Range(2).Unbatch())[0],
            "error: INVALID_ARGUMENT: Unbatch: the fields do not have the same number of rows: "
            "value: int64[]");
}

TEST(TransformationsTest, BatchLeavesOutWhatFails) {
  const auto fails_at_1 = [](Element e) {
    if (e["value"].scalar<int64_t>() == 1) throw InvalidArgument("one");
    return e;
  };
  for (const int parallel : {1, 2}) {
    const Dataset batches = Range(5).Map(fails_at_1, {.parallel = parallel}).Batch(2);
    EXPECT_EQ(ElementTexts(batches),
              (std::vector<std::string>{"error: INVALID_ARGUMENT: Map of element 1: one",
                                        "value:int64[2]=[0 2] ", "value:int64[2]=[3 4] ", "end"}));
  }
  EXPECT_EQ(ElementTexts(Sequences().Batch(2))[0],
            "error: INVALID_ARGUMENT: cannot put numbers: int64[5] in row 1 of a batch: the rows "
            "before it have numbers: int64[1]; PaddedBatch pads unequal shapes");
}

TEST(TransformationsTest, PaddedBatch) {
  const PaddedBatchOptions minus{.values = {{"numbers", Tensor(int64_t{-1})}}};
  EXPECT_EQ(Batches(Sequences().Take(3).PaddedBatch(2, minus), "numbers"),
            (std::vector<Ints>{{1, -1, -1, -1, -1, 1, 2, 3, 4, 5}, {1, 2}}));
  EXPECT_EQ(Batches(Sequences().Take(2).PaddedBatch(2, {.shapes = {{"numbers", {6}}}}), "numbers"),
            (std::vector<Ints>{{1, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 0}}));
  EXPECT_EQ(ElementTexts(Sequences().PaddedBatch(2, {.shapes = {{"numbers", {4}}}}))[0],
            "error: INVALID_ARGUMENT: PaddedBatch: dimension 0 of field numbers is 5 long, more "
            "than the 4 asked for");
  // Two dimensions and strings.
  const auto table = [](Element e) {
    const int64_t n = e["value"].scalar<int64_t>() + 1;
    Tensor cells(DType::kInt64, {n, 3 - n}), names(DType::kString, {n});
    std::iota(cells.flat<int64_t>().begin(), cells.flat<int64_t>().end(), 10 * n);
    std::ranges::fill(names.flat<std::string>(), "n");
    return Element{{"cells", cells}, {"names", names}};
  };
  EXPECT_EQ(ElementTexts(Range(2).Map(table).PaddedBatch(2))[0],
            "cells:int64[2,2,2]=[[[10 11]\n  [ 0  0]]\n\n [[20  0]\n  [21  0]]] "
            "names:string[2,2]=[[b'n' b'']\n [b'n' b'n']] ");
}

TEST(TransformationsTest, BucketByLength) {
  const auto length = [](const Element& e) { return e["numbers"].dim(0); };
  EXPECT_EQ(Batches(Sequences().BucketByLength(length, {3, 6}, {2, 3, 2}), "numbers"),
            (std::vector<Ints>{{1, 0, 1, 2},
                               {1, 2, 3, 4, 5, 1, 2, 3, 0, 0, 1, 2, 3, 0, 0},
                               {1, 2, 3, 4, 5, 6, 7, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
                               {1, 0, 1, 2},
                               {1, 2, 3, 4},
                               {1, 2, 3, 4, 5, 6}}));
  EXPECT_EQ(Batches(Sequences().BucketByLength(length, {3, 6}, {2, 3, 2}, {.drop_remainder = true}),
                    "numbers")
                .size(),
            4u);
  EXPECT_THROW(Sequences().BucketByLength(length, {6, 3}, {2, 3, 2}), Error);
  EXPECT_THROW(Sequences().BucketByLength(length, {3}, {2}), Error);
}

TEST(TransformationsTest, Window) {
  const auto windows = [](int64_t size, int64_t shift, int64_t stride, bool drop) {
    return Batches(Range(7).Window(size, shift, stride, drop));
  };
  EXPECT_EQ(windows(3, -1, 1, false), (std::vector<Ints>{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(windows(3, 1, 2, false),
            (std::vector<Ints>{{0, 2, 4}, {1, 3, 5}, {2, 4, 6}, {3, 5}, {4, 6}, {5}, {6}}));
  EXPECT_EQ(windows(2, 3, 1, false), (std::vector<Ints>{{0, 1}, {3, 4}, {6}}));
  EXPECT_EQ(windows(3, 2, 2, true), (std::vector<Ints>{{0, 2, 4}, {2, 4, 6}}));
  EXPECT_EQ(windows(2, 4, 3, false), (std::vector<Ints>{{0, 3}, {4}}));
  EXPECT_EQ(windows(3, 1, 1, true),
            (std::vector<Ints>{{0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5}, {4, 5, 6}}));
}

TEST(TransformationsTest, ZipConcatenateEnumerate) {
  const Dataset other = Range(5, 20).Enumerate("n", 5).Map([](Element e) {
    e.Erase("value");
    return e;
  });
  EXPECT_EQ(Values(Zip({Range(3), other}), "n"), (Ints{5, 6, 7}));
  EXPECT_EQ(ElementTexts(Zip({Range(3), Range(3)}))[0],
            "error: INVALID_ARGUMENT: Zip: two of the datasets have a field \"value\"");
  EXPECT_EQ(Values(Range(2).Concatenate(Range(7, 9))), (Ints{0, 1, 7, 8}));
  EXPECT_EQ(Values(Range(3).Enumerate("n", 5), "n"), (Ints{5, 6, 7}));
}

TEST(TransformationsTest, IgnoreErrorsCounts) {
  const auto fails_often = [](Element e) {
    if (e["value"].scalar<int64_t>() % 3 == 0) throw DataLoss("bad");
    return e;
  };
  const auto counted = std::make_shared<std::atomic<int64_t>>(0);
  const Dataset source = Range(10).Map(fails_often);
  EXPECT_EQ(Values(source.IgnoreErrors({.counted = counted})), (Ints{1, 2, 4, 5, 7, 8}));
  EXPECT_EQ(*counted, 4);
  EXPECT_EQ(ElementTexts(source.IgnoreErrors({.budget = 1}))[2],
            "error: DATA_LOSS: IgnoreErrors has skipped 1 elements, its budget; then: Map of "
            "element 3: bad");
}

// Whole batches are copied from the source; the last one, and those after a Repeat, row by row.
TEST(TransformationsTest, BatchesOfTensorsAreTheirRows) {
  Tensor pixels(DType::kUInt8, {7, 2, 3});
  for (int i = 0; i < 42; ++i) pixels.data<uint8_t>()[i] = static_cast<uint8_t>(i);
  const Dataset rows =
      FromTensorSlices({{"pixels", pixels},
                        {"name", Tensor::Of<std::string>({"a", "b", "c", "d", "e", "f", "g"})},
                        {"none", Tensor(DType::kFloat, {7, 0})}});
  const auto same = [](Element e) { return e; };
  for (const int64_t size : {1, 2, 3, 7, 8}) {
    EXPECT_EQ(ElementTexts(rows.Repeat(3).Batch(size)),
              ElementTexts(rows.Map(same).Repeat(3).Batch(size)));
    EXPECT_EQ(ElementTexts(Range(5, -12, -2).Repeat(2).Batch(size)),
              ElementTexts(Range(5, -12, -2).Map(same).Repeat(2).Batch(size)));
  }
}

TEST(TransformationsTest, SpecsAreKnown) {
  const Dataset rows = FromTensorSlices({{"x", Tensor::Zeros(DType::kFloat, {4, 3})}});
  EXPECT_EQ(rows.Batch(2).Spec(), (ElementSpec{{"x", DType::kFloat, {-1, 3}}}));
  EXPECT_EQ(rows.Batch(2, {.drop_remainder = true}).Repeat().Prefetch().Spec(),
            (ElementSpec{{"x", DType::kFloat, {2, 3}}}));
  EXPECT_EQ(rows.Batch(2).Unbatch().Spec(), rows.Spec());
  EXPECT_EQ(rows.PaddedBatch(2).Spec(), (ElementSpec{{"x", DType::kFloat, {-1, -1}}}));
  const auto to_ints = [](Element) { return Element{{"y", Tensor::Of<int32_t>({1, 2})}}; };
  EXPECT_EQ(rows.Map(to_ints).Shuffle(100).Spec(), (ElementSpec{{"y", DType::kInt32, {2}}}));
  EXPECT_THROW(Range(0).Map(to_ints).Spec(), Error);
  EXPECT_THROW(Dataset().Spec(), Error);
  EXPECT_THROW(Dataset().Batch(2), Error);
}

}  // namespace
}  // namespace sextant::data
