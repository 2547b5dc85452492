// Input without an end is an error, not the end of the memory.
#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/data/batch_limit.h"
#include "sextant/data/dataset.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/sources.h"
#include "sextant/data/tensor_sources.h"

namespace sextant::data {
namespace {

template <typename Fn>
std::string ErrorText(const Fn& fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
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
  EXPECT_EQ(ErrorText([] { CheckBatchBytes(1 << 20, 2048); }), "");
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

}  // namespace
}  // namespace sextant::data
