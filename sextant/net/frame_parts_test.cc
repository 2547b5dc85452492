#include "sextant/net/frame_parts.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant::net {
namespace {

TEST(FramePartsTest, JoinsWhatItCut) {
  Tensor numbers(DType::kInt32, {1000});
  for (int i = 0; i < 1000; ++i) numbers.data<int32_t>()[i] = i;
  const std::vector<Tensor> tensors = {numbers, Tensor("text"), Tensor(2.5)};
  const EncodedFrame frame = EncodeFrame("message", tensors);
  for (const size_t size : {size_t{1}, size_t{64}, size_t{1000}, frame.bytes, size_t{1} << 20}) {
    const std::vector<Tensor> parts = CutFrame(frame, size);
    EXPECT_EQ(parts.size(), (frame.bytes + size - 1) / size);
    const DecodedFrame joined = JoinFrame(parts);
    EXPECT_EQ(joined.message, "message");
    ASSERT_EQ(joined.tensors.size(), tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i)
      EXPECT_TRUE(joined.tensors[i].Identical(tensors[i])) << i;
  }
}

TEST(FramePartsTest, MissingAndForeignPartsAreFound) {
  std::vector<Tensor> parts = CutFrame(EncodeFrame("", std::vector{Tensor(1)}), 16);
  std::vector<Tensor> less(parts.begin(), parts.end() - 1);
  EXPECT_THROW(JoinFrame(less), Error);
  parts.back() = Tensor(1.0f);
  EXPECT_THROW(JoinFrame(parts), Error);
}

}  // namespace
}  // namespace sextant::net
