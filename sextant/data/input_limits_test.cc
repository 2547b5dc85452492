// Input without an end is an error, not the end of the memory.
#include <gtest/gtest.h>

#include <fstream>

#include "sextant/base/error.h"
#include "sextant/data/batch_limit.h"
#include "sextant/data/dataset.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/sources.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/testing/status_of.h"

namespace sextant::data {
namespace {

template <typename Fn>
std::string ErrorText(const Fn& fn) {
  return sextant::StatusOf(fn).ToString();
}

void ExpectExhausted(const std::string& error, const std::string& words) {
  EXPECT_TRUE(error.starts_with("RESOURCE_EXHAUSTED: ")) << error;
  EXPECT_NE(error.find(words), std::string::npos) << error;
}

TEST(InputLimitsTest, LinesWithoutAnEnd) {
  const std::vector<Dataset> endless = {
      TextLines({"/dev/zero"}), Csv({"/dev/zero"}, {.columns = {{"a", DType::kString}}}),
      Csv({"/dev/zero"}, {.columns = {{"a", DType::kString}}, .header = true}),
      FixedLengthRecords({"/dev/zero"}, {.record = int64_t{1} << 40})};
  for (const Dataset& dataset : endless) {
    Element element;
    ExpectExhausted(ErrorText([&] { dataset.MakeIterator()->Next(&element); }), "/dev/zero: ");
  }
}

TEST(InputLimitsTest, BatchesOfTooManyBytes) {
  EXPECT_EQ(ErrorText([] { CheckBatchBytes(1 << 20, 2048); }), "OK");
  ExpectExhausted(ErrorText([] { CheckBatchBytes(1 << 20, 2049); }), "choose a smaller batch");
  ExpectExhausted(ErrorText([] { CheckBatchBytes(1'000'000'000, 784); }), "1000000000 rows of 784");
  ExpectExhausted(ErrorText([] { CheckBatchBytes(INT64_MAX, 8); }), "choose a smaller batch");
}

TEST(InputLimitsTest, RowsOfABatch) {
  RowBatch batch;
  batch.Reset(INT64_MAX, {});
  // Never touched, so that it costs no memory.
  Element huge{{"x", Tensor(DType::kUInt8, Shape({int64_t{3} << 30}))}};
  ExpectExhausted(ErrorText([&] { batch.Append(&huge); }), "1 rows of 3221225472 bytes");
  // Room for all rows is made at once only where they fit.
  batch.Reset(1 << 20, {});
  EXPECT_FALSE(batch.Prepare({{"x", DType::kFloat, Shape({1024})}}));
  Element row{{"x", Tensor::Of<float>({2}, {1, 2})}};
  batch.Append(&row);
  EXPECT_EQ(batch.Take(1)["x"].dim(1), 2);
}

TEST(InputLimitsTest, LargeBatchesOfFewRowsAreFine) {
  const auto iterator = Range(3).Batch(INT64_MAX).MakeIterator();
  Element batch;
  ASSERT_TRUE(iterator->Next(&batch));
  EXPECT_EQ(batch["value"].num_elements(), 3);
}

TEST(InputLimitsTest, PaddedRows) {
  const Dataset padded = Range(3)
                             .Map([](Element e) {
                               return Element{{"value", e["value"].Reshaped(Shape({1}))}};
                             })
                             .PaddedBatch(3, {.shapes = {{"value", {int64_t{1} << 40}}}});
  Element batch;
  ExpectExhausted(ErrorText([&] { padded.MakeIterator()->Next(&batch); }),
                  "choose a smaller batch");
}

// On the thread that asks for elements and on those of the pipeline.
TEST(InputLimitsTest, FollowTheMemoryLimit) {
  const InputLimitsScope scope(1 << 20);
  const std::string path = testing::TempDir() + "input_limits_lines";
  std::ofstream(path) << std::string(1 << 20, 'x') << "\n" << std::string(3 << 20, 'y') << "\n";
  const Dataset lines = TextLines({path}), ahead = lines.Prefetch();
  for (const Dataset& dataset : {lines, ahead}) {
    const auto iterator = dataset.MakeIterator();
    Element element;
    EXPECT_EQ(ErrorText([&] { iterator->Next(&element); }), "OK");
    ExpectExhausted(ErrorText([&] { iterator->Next(&element); }), "within 1048576 bytes");
  }
  const Dataset rows = Range(4).Map(
      [](const Element&) {
        return Element{{"x", Tensor::Zeros(DType::kFloat, Shape({1 << 17}))}};
      },
      {.parallel = 2});
  for (const Dataset& dataset : {rows.Batch(3), rows.Batch(3).Prefetch(), rows.PaddedBatch(3)}) {
    Element element;
    ExpectExhausted(ErrorText([&] { dataset.MakeIterator()->Next(&element); }),
                    "choose a smaller batch");
  }
  Element element;
  EXPECT_EQ(ErrorText([&] { rows.Batch(2).Prefetch().MakeIterator()->Next(&element); }), "OK");
  const Dataset records = FixedLengthRecords({path}, {.record = 2 << 20});
  ExpectExhausted(ErrorText([&] { records.MakeIterator()->Next(&element); }), "at once");
}

// Elements one by one, and rows as columns.
TEST(InputLimitsTest, ShuffleBuffers) {
  const std::string path = testing::TempDir() + "input_limits_rows";
  {
    std::ofstream lines(path);
    for (int i = 0; i < 100; ++i) lines << std::string(2000, 'x') << "\n";
  }
  Element element;
  const Dataset numbers = Range(int64_t{1} << 40), lines = TextLines({path}).Repeat();
  for (const Dataset& dataset : {numbers, lines, lines.Prefetch()}) {
    const InputLimitsScope scope(1 << 20);
    ExpectExhausted(ErrorText([&] { dataset.Shuffle(1 << 30).MakeIterator()->Next(&element); }),
                    "take more than 1048576 bytes; choose a smaller buffer");
    EXPECT_EQ(ErrorText([&] { dataset.Shuffle(300).MakeIterator()->Next(&element); }), "OK");
  }
  // What it holds counts, not what it may hold.
  EXPECT_EQ(ErrorText([&] { Range(9).Shuffle(INT64_MAX).MakeIterator()->Next(&element); }), "OK");
  // What has left the buffer does not count.
  const InputLimitsScope scope(1 << 20);
  const auto iterator = Range(20000).Shuffle(1000).MakeIterator();
  EXPECT_EQ(ErrorText([&] {
              while (iterator->Next(&element)) {
              }
            }),
            "OK");
}

}  // namespace
}  // namespace sextant::data
