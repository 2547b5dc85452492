#include "sextant/net/grpc_frame.h"

#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant::net {
namespace {

std::vector<Tensor> SomeTensors() {
  Tensor large(DType::kFloat, {1000});
  for (int i = 0; i < 1000; ++i) large.data<float>()[i] = static_cast<float>(i);
  return {large, Tensor("text"), Tensor(2.5)};
}

TEST(GrpcFrameTest, LargeTensorsAreSentFromWhereTheyAre) {
  const std::vector<Tensor> tensors = SomeTensors();
  const grpc::ByteBuffer buffer = ToByteBuffer(EncodeFrame("message", tensors));
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(buffer.Dump(&slices).ok());
  const bool borrowed = std::any_of(slices.begin(), slices.end(), [&](const grpc::Slice& slice) {
    return slice.begin() == tensors[0].raw_data() && slice.size() == tensors[0].bytes();
  });
  EXPECT_TRUE(borrowed);
}

TEST(GrpcFrameTest, SlicesMayBeCutAnywhere) {
  const std::vector<Tensor> tensors = SomeTensors();
  const grpc::ByteBuffer buffer = ToByteBuffer(EncodeFrame("message", tensors));
  grpc::Slice whole;
  ASSERT_TRUE(buffer.DumpToSingleSlice(&whole).ok());
  for (const size_t size : {size_t{1}, size_t{7}, size_t{100}, whole.size()}) {
    std::vector<grpc::Slice> slices;
    for (size_t at = 0; at < whole.size(); at += size)
      slices.emplace_back(whole.begin() + at, std::min(size, whole.size() - at));
    const DecodedFrame frame = FromByteBuffer(grpc::ByteBuffer(slices.data(), slices.size()));
    EXPECT_EQ(frame.message, "message");
    ASSERT_EQ(frame.tensors.size(), tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i)
      EXPECT_TRUE(frame.tensors[i].Identical(tensors[i])) << size << " " << i;
  }
}

TEST(GrpcFrameTest, WhatIsNoFrameIsSaid) {
  const grpc::Slice slice("hello");
  EXPECT_THROW(FromByteBuffer(grpc::ByteBuffer(&slice, 1)), Error);
  EXPECT_THROW(FromByteBuffer(grpc::ByteBuffer()), Error);
}

}  // namespace
}  // namespace sextant::net
