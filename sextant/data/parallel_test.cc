// Threads of iterators: what they change (speed, waiting) and what they do not (elements, order).
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <set>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/data/pipelines_for_testing.h"
#include "sextant/data/tensor_sources.h"

namespace sextant::data {
namespace {

using Texts = std::vector<std::string>;

Element Scrambled(Element e, MapContext& context) {
  int64_t& value = e["value"].data<int64_t>()[0];
  if (value % 97 == 13) throw DataLoss("{} is unlucky", value);
  // Work of uneven length, so that threads overtake each other.
  for (int64_t i = 0; i < value % 50; ++i) context.random.Next();
  value = value << 32 | context.random.Next()[0];
  return e;
}

Dataset Numbers(int parallel) {
  return Range(5000).Shuffle(100, {.seed = 1}).Map(Scrambled, {.parallel = parallel, .seed = 2});
}

TEST(ParallelTest, MapKeepsOrderAndErrors) {
  const Texts serial = ElementTexts(Numbers(1), 10000);
  ASSERT_EQ(serial.size(), 5001u);
  EXPECT_EQ(std::ranges::count_if(serial, [](auto& s) { return s.starts_with("error"); }), 52);
  for (const int parallel : {2, 5, kAutotune}) {
    EXPECT_EQ(ElementTexts(Numbers(parallel), 10000), serial);
    EXPECT_EQ(ElementTexts(Numbers(parallel).Prefetch().Prefetch(3), 10000), serial);
  }
}

TEST(ParallelTest, BatchesAreThoseOfOneThread) {
  for (const int64_t size : {1, 7, 128, 5000, 100000}) {
    const Texts serial = ElementTexts(Numbers(1).Repeat(2).Batch(size), 20000);
    EXPECT_EQ(ElementTexts(Numbers(2).Repeat(2).Batch(size), 20000), serial) << size;
    EXPECT_EQ(ElementTexts(Numbers(kAutotune).Repeat(2).Batch(size).Prefetch(), 20000), serial)
        << size;
  }
}

TEST(ParallelTest, BatchesRejectWhatOneThreadRejects) {
  // Runs of like shapes, so that rows fit the first of their batch or not.
  const auto ragged = [](Element e) {
    const int64_t n = e["value"].scalar<int64_t>();
    e.Set("numbers", Tensor::Zeros(DType::kFloat, {n / 5 % 3}));
    if (n % 11 == 0) e.Set("name", std::string("text"));
    return e;
  };
  const auto batches = [&](int parallel) {
    return ElementTexts(Range(1000).Map(ragged, {.parallel = parallel}).Batch(8), 2000);
  };
  const Texts serial = batches(1);
  EXPECT_GT(std::ranges::count_if(serial, [](auto& s) { return s.starts_with("error"); }), 100);
  EXPECT_EQ(batches(2), serial);
  EXPECT_EQ(batches(3), serial);
}

TEST(ParallelTest, CancelEndsAFilterThatKeepsNothing) {
  const auto nothing = [](const Element&) { return false; };
  const auto iterator = Range(3).Repeat().Filter(nothing).MakeIterator();
  std::thread canceller([&] { iterator->Cancel(); });
  Element element;
  EXPECT_THROW(iterator->Next(&element), Error);
  canceller.join();
}

TEST(ParallelTest, AnyOrderGivesEachElementOnce) {
  const auto same = [](Element e) { return e; };
  const auto values = Values(Range(5000).Map(same, {.parallel = 3, .ordered = false}));
  EXPECT_EQ(values.size(), 5000u);
  EXPECT_EQ(std::set(values.begin(), values.end()).size(), 5000u);
  const auto part = [](const Element& e) {
    const int64_t i = e["value"].scalar<int64_t>();
    return Range(i * 1000, i * 1000 + 300);
  };
  const auto read = Values(Range(20).Interleave(part, {.parallel = 3, .ordered = false}));
  EXPECT_EQ(read.size(), 6000u);
  EXPECT_EQ(std::set(read.begin(), read.end()).size(), 6000u);
}

// A source that waits until it is told to go on.
struct Gate {
  std::latch reached{1}, open{1};
};
Dataset Gated(const std::shared_ptr<Gate>& gate) {
  return FromGenerator([gate] {
    return [gate]() -> std::optional<Element> {
      gate->reached.count_down();
      gate->open.wait();
      return std::nullopt;
    };
  });
}

TEST(ParallelTest, CancelEndsAWaitingNext) {
  const auto same = [](Element e) { return e; };
  const auto part = [](const Element&) { return Range(3); };
  using Make = std::function<Dataset(Dataset)>;
  for (const Make& make :
       {Make([](Dataset d) { return d.Prefetch(); }),
        Make([&](Dataset d) { return d.Map(same, {.parallel = 2}); }),
        Make([&](Dataset d) { return d.Map(same, {.parallel = 2}).Batch(4).Repeat(); }),
        Make([&](Dataset d) { return d.Prefetch().Interleave(part, {.parallel = 2}); })}) {
    const auto gate = std::make_shared<Gate>();
    const auto iterator = make(Gated(gate)).MakeIterator();
    std::thread canceller([&] {
      gate->reached.wait();
      iterator->Cancel();
    });
    Element element;
    try {
      iterator->Next(&element);
      ADD_FAILURE() << "Next returned";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kCancelled);
    }
    EXPECT_THROW(iterator->Next(&element), Error);
    canceller.join();
    gate->open.count_down();
  }
}

TEST(ParallelTest, IteratorsCanBeDestroyedWhileTheirThreadsWork) {
  for (int i = 0; i < 200; ++i) {
    const auto iterator = Numbers(2)
                              .Repeat()
                              .Prefetch()
                              .Map(Scrambled, {.parallel = 2})
                              .Batch(8)
                              .Prefetch()
                              .MakeIterator();
    for (int k = 0; k < i % 5; ++k) NextText(*iterator);
  }
}

TEST(ParallelTest, DatasetsOutliveTheirDescription) {
  std::unique_ptr<Iterator> iterator;
  {
    const Dataset dataset = Range(100).Map([](Element e) { return e; }, {.parallel = 2}).Prefetch();
    iterator = dataset.MakeIterator();
  }
  EXPECT_EQ(Rest(*iterator).size(), 101u);
}

TEST(ParallelTest, OneCallAtATimeUnlessAskedFor) {
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  const auto alone = [&](Element e) {
    if (++inside > 1) overlapped = true;
    --inside;
    return e;
  };
  const auto same = [](Element e) { return e; };
  ElementTexts(Range(3000).Map(alone).Map(same, {.parallel = 3}).Batch(16).Prefetch());
  EXPECT_FALSE(overlapped);
}

TEST(ParallelTest, PrefetchReadsOn) {
  // The consumer takes one element; the thread reads those that fit in the buffer.
  std::latch read(3);
  const auto count = [&](Element e) {
    read.count_down();
    return e;
  };
  const auto iterator = Range(3).Map(count).Prefetch(3).MakeIterator();
  Element element;
  ASSERT_TRUE(iterator->Next(&element));
  read.wait();
}

// Some fail after they were made, some are of another shape.
Element Squares(const Element& e, Tensor squares) {
  const int64_t value = e["value"].scalar<int64_t>();
  for (int64_t& square : squares.flat<int64_t>()) square = value * value;
  if (value % 97 == 13) throw DataLoss("{} is unlucky", value);
  return {{"x", squares}, {"value", e["value"]}};
}

TEST(ParallelTest, NewFieldsAreRowsOfTheBatch) {
  const auto shape = [](const Element& e) {
    return Shape{e["value"].scalar<int64_t>() % 41 == 7 ? 99 : 100};
  };
  const auto own = [=](const Element& e) { return Squares(e, Tensor(DType::kInt64, shape(e))); };
  const auto fields = [=](const Element& e, MapContext& context) {
    return Squares(e, context.NewField("x", DType::kInt64, shape(e)));
  };
  const Texts expected = ElementTexts(Range(500).Map(own).Batch(16), 1000);
  for (const int parallel : {1, 2, kAutotune}) {
    const MapOptions options = {.parallel = parallel};
    EXPECT_EQ(ElementTexts(Range(500).Map(fields, options).Batch(16), 1000), expected);
    EXPECT_EQ(ElementTexts(Range(500).Map(fields, options), 1000),
              ElementTexts(Range(500).Map(own), 1000));
    const auto iterator = Range(7).Repeat(20).Map(fields, options).Batch(7).MakeIterator();
    for (Element batch; iterator->Next(&batch);) EXPECT_TRUE(batch["x"].unique());
  }
}

TEST(ParallelTest, AllocatesNoNewBuffersInALoop) {
  const auto grow = [](Element) { return Element{{"x", Tensor::Zeros(DType::kFloat, {100})}}; };
  for (const int parallel : {1, 2}) {
    const auto iterator =
        Range(64).Map(grow, {.parallel = parallel}).Repeat().Batch(64).Prefetch(2).MakeIterator();
    std::set<const void*> buffers;
    Element batch;
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(iterator->Next(&batch));
      buffers.insert(batch["x"].raw_data());
    }
    EXPECT_LE(buffers.size(), 8u);
  }
}

}  // namespace
}  // namespace sextant::data
