// Iterators that read many elements before they give one end when they are cancelled.
#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <memory>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/data/dataset.h"
#include "sextant/data/tensor_sources.h"

namespace sextant::data {
namespace {

constexpr int64_t kEndless = int64_t{1} << 60;

struct Case {
  const char* name;
  std::function<Dataset(Dataset)> make;
};

std::vector<Case> Cases() {
  return {
      {"skip", [](Dataset d) { return d.Skip(kEndless / 2); }},
      {"shard", [](Dataset d) { return d.Shard(kEndless, kEndless / 2); }},
      {"shuffle", [](Dataset d) { return d.Shuffle(kEndless); }},
      {"batch", [](Dataset d) { return d.Batch(kEndless); }},
      {"batch of a shuffle", [](Dataset d) { return d.Shuffle(10).Batch(kEndless); }},
      {"padded batch", [](Dataset d) { return d.PaddedBatch(kEndless); }},
      {"window", [](Dataset d) { return d.Window(kEndless); }},
      {"bucket",
       [](Dataset d) {
         return d.BucketByLength([](const Element&) { return int64_t{1}; }, {}, {kEndless});
       }},
      {"unbatch",
       [](Dataset d) {
         return d
             .Map([](const Element&) {
               return Element{{"value", Tensor::Zeros(DType::kInt64, Shape({0}))}};
             })
             .Unbatch();
       }},
      {"filter", [](Dataset d) { return d.Filter([](const Element&) { return false; }); }},
      {"flat map", [](Dataset d) { return d.FlatMap([](const Element&) { return Range(0); }); }},
      {"repeat", [](Dataset d) { return d.Take(1).Repeat().Batch(kEndless); }},
      {"zip", [](Dataset d) { return Zip({d.Skip(kEndless / 2)}); }},
  };
}

// Of the calling thread, and of one that reads ahead: the iterator's destructor waits for it.
TEST(CancellationTest, EndsLoops) {
  for (const Case& c : Cases()) {
    for (const bool ahead : {false, true}) {
      SCOPED_TRACE(c.name);
      const auto begun = std::make_shared<std::latch>(1);
      const auto tell = [begun](Element e) {
        if (e["value"].scalar<int64_t>() == 0 && !begun->try_wait()) begun->count_down();
        return e;
      };
      const Dataset dataset = c.make(Range(kEndless).Map(tell));
      const auto iterator = (ahead ? dataset.Prefetch() : dataset).MakeIterator();
      std::thread canceller([&] {
        begun->wait();
        iterator->Cancel();
      });
      Element element;
      try {
        iterator->Next(&element);
        ADD_FAILURE() << "Next returned";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::kCancelled) << error.what();
      }
      canceller.join();
    }
  }
}

}  // namespace
}  // namespace sextant::data
