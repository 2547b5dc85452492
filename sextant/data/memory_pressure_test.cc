// Threads of iterators that get no memory, or whose functions throw anything: what comes is an
// Error, and the elements that did not fail. Replaces operator new, as sanitizers do, so it is a
// program of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <stdexcept>

#include "sextant/base/error.h"
#include "sextant/data/sources.h"
#include "sextant/data/tensor_sources.h"

namespace {

thread_local bool is_test_thread = false;
// How many allocations of other threads succeed before one fails, and how many fail then.
std::atomic<int64_t> succeed{INT64_MAX}, fail{0};

bool Refused() {
  if (is_test_thread || succeed.fetch_sub(1) > 0) return false;
  return fail.fetch_sub(1) > 0;
}

}  // namespace

void* operator new(size_t bytes) {
  void* const memory = Refused() ? nullptr : std::malloc(bytes ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t bytes, std::align_val_t align) {
  const auto a = static_cast<size_t>(align);
  void* const memory = Refused() ? nullptr : std::aligned_alloc(a, (bytes + a - 1) / a * a);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace sextant::data {
namespace {

constexpr int64_t kElements = 40;

// More than a short string holds, so that a message or a copy takes memory.
const std::string kText(100, 'x');

Element Doubled(const Element& e) {
  return {{"value", Tensor(2 * e["value"].scalar<int64_t>())}, {"text", Tensor(kText)}};
}

std::string WriteNumbers() {
  std::string path = testing::TempDir() + "memory_pressure.csv";
  std::ofstream file(path);
  for (int64_t i = 0; i < kElements; ++i) file << 2 * i << "," << kText << "\n";
  return path;
}

struct Named {
  std::string name;
  Dataset dataset;
};

// Each gives the values 0, 2, 4 …, in order.
std::vector<Named> PipelinesWithThreads() {
  const auto part = [](const Element& e) {
    const int64_t i = e["value"].scalar<int64_t>();
    return Range(i * 10, i * 10 + 10).Map(Doubled);
  };
  const CsvFileOptions columns = {.columns = {{"value", DType::kInt64}, {"text"}}};
  const std::string path = WriteNumbers();
  return {
      {"Prefetch", Range(kElements).Map(Doubled).Prefetch()},
      {"Map", Range(kElements).Map(Doubled, {.parallel = 2})},
      {"Batch", Range(kElements).Map(Doubled, {.parallel = 2}).Batch(4)},
      {"Interleave", Range(kElements / 10).Interleave(part, {.cycle = 1, .parallel = 2})},
      {"Lines", ParseCsv(TextLines({path}), columns).Batch(8)},
      {"ShuffledLines", ParseCsv(TextLines({path}).Shuffle(1), columns).Batch(8).Prefetch()},
      {"Rows", Csv({path}, columns).Batch(8).Prefetch()},
  };
}

struct Iterated {
  std::vector<int64_t> values;
  int errors = 0;
};

// The values of the elements, or of the rows of batches; all errors are for want of memory.
Iterated IterateUnderPressure(const Dataset& dataset, int64_t allocations, int64_t refused) {
  Iterated iterated;
  const auto iterator = dataset.MakeIterator();
  fail = refused;
  succeed = allocations;
  for (;;) {
    Element element;
    try {
      if (!iterator->Next(&element)) break;
      const auto values = element["value"].flat<int64_t>();
      iterated.values.insert(iterated.values.end(), values.begin(), values.end());
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kResourceExhausted) << e.what();
      ++iterated.errors;
    }
  }
  succeed = INT64_MAX;
  return iterated;
}

TEST(MemoryPressureTest, AnyAllocationOfAThreadMayFail) {
  is_test_thread = true;
  for (const Named& pipeline : PipelinesWithThreads()) {
    int with_errors = 0;
    // A failed allocation alone, and one whose handlers get no memory either.
    for (const int64_t refused : {1, 3, 10}) {
      for (int64_t n = 0; n < 200; ++n) {
        const Iterated iterated = IterateUnderPressure(pipeline.dataset, n, refused);
        with_errors += iterated.errors > 0;
        EXPECT_TRUE(std::ranges::is_sorted(iterated.values)) << pipeline.name << " " << n;
        EXPECT_EQ(std::ranges::adjacent_find(iterated.values), iterated.values.end());
        // What is missing was an error.
        EXPECT_GE(static_cast<int64_t>(iterated.values.size()) + iterated.errors, kElements)
            << pipeline.name << " " << n << " of " << refused;
        EXPECT_LE(iterated.errors, 8 * refused);
      }
    }
    EXPECT_GT(with_errors, 0) << pipeline.name;
    EXPECT_EQ(IterateUnderPressure(pipeline.dataset, INT64_MAX, 0).values.size(), kElements);
  }
}

// Of elements 0 … 9, of which one throws.
template <typename Exception>
Status ErrorOf(int parallel, Exception exception, bool batch) {
  const auto throws = [exception](Element e) {
    if (e["value"].scalar<int64_t>() == 5) throw exception;
    return e;
  };
  Dataset dataset = Range(10).Map(throws, {.parallel = parallel});
  if (batch) dataset = dataset.Batch(3);
  const auto iterator = dataset.Prefetch().MakeIterator();
  Status status;
  int64_t rows = 0;
  for (Element element;;) {
    try {
      if (!iterator->Next(&element)) break;
      rows += element["value"].num_elements();
    } catch (const Error& error) {
      EXPECT_TRUE(status.ok());
      status = error.status();
    }
  }
  EXPECT_EQ(rows, 9);
  return status;
}

TEST(MemoryPressureTest, WhatFunctionsThrowIsAnErrorWithItsText) {
  is_test_thread = true;
  for (const int parallel : {1, 2}) {
    for (const bool batch : {false, true}) {
      const Status memory = ErrorOf(parallel, std::bad_alloc(), batch);
      EXPECT_EQ(memory.code(), Code::kResourceExhausted);
      EXPECT_EQ(memory.message(), "Map of element 5: out of memory");
      const Status other = ErrorOf(parallel, std::runtime_error("no such colour"), batch);
      EXPECT_EQ(other.code(), Code::kInternal);
      EXPECT_EQ(other.message(), "Map of element 5: no such colour");
      EXPECT_EQ(ErrorOf(parallel, 7, batch).code(), Code::kInternal);
    }
  }
}

TEST(MemoryPressureTest, GeneratorsThrowErrorsToo) {
  const auto source = FromGenerator([] {
    return [calls = 0]() mutable -> std::optional<Element> {
      if (++calls == 2) throw std::runtime_error("disconnected");
      if (calls == 4) return std::nullopt;
      return Element{{"value", Tensor(int64_t{calls})}};
    };
  });
  for (const Dataset& dataset : {source, source.Prefetch()}) {
    const auto iterator = dataset.MakeIterator();
    Element element;
    EXPECT_TRUE(iterator->Next(&element));
    try {
      iterator->Next(&element);
      ADD_FAILURE() << "Next returned";
    } catch (const Error& e) {
      EXPECT_EQ(e.status().ToString(), "INTERNAL: disconnected");
    }
    EXPECT_TRUE(iterator->Next(&element));
    EXPECT_FALSE(iterator->Next(&element));
    const auto ignoring = dataset.IgnoreErrors().MakeIterator();
    EXPECT_TRUE(ignoring->Next(&element));
    EXPECT_TRUE(ignoring->Next(&element));
    EXPECT_FALSE(ignoring->Next(&element));
  }
}

}  // namespace
}  // namespace sextant::data
