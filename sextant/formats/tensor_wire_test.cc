#include "sextant/formats/tensor_wire.h"

#include <gtest/gtest.h>

#include "sextant/proto/tensor.pb.h"
#include "sextant/tensor/float16.h"
#include "sextant/tensor/tensor_proto.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

std::string Wire(const Tensor& tensor) {
  std::string bytes;
  AppendTensorWire(tensor, &bytes);
  return bytes;
}

// What is written is a TensorProto with these elements, and is read back.
void ExpectTravels(const Tensor& tensor) {
  proto::TensorProto message;
  ASSERT_TRUE(message.ParseFromString(Wire(tensor))) << tensor.Describe();
  EXPECT_EQ(message.tensor_content(), "");
  EXPECT_TRUE(TensorFromProto(message).Identical(tensor)) << tensor.Describe();
  EXPECT_TRUE(TensorFromWire(Wire(tensor)).Identical(tensor)) << tensor.Describe();
  proto::TensorProto content;
  TensorToProto(tensor, &content);
  EXPECT_TRUE(TensorFromWire(content.SerializeAsString()).Identical(tensor)) << tensor.Describe();
}

TEST(TensorWire, TravelsByAllTypes) {
  ExpectTravels(Tensor::Of<float>({2, 2}, {1, -2, 3.5f, 0}));
  ExpectTravels(Tensor::Of<double>({1e300, -0.0}));
  ExpectTravels(Tensor::Of<int32_t>({-1, 2147483647}));
  ExpectTravels(Tensor::Of<int64_t>({-9223372036854775807, 5}));
  ExpectTravels(Tensor::Of<int16_t>({-7, 300}));
  ExpectTravels(Tensor::Of<int8_t>({-128, 127}));
  ExpectTravels(Tensor::Of<uint8_t>({0, 255}));
  ExpectTravels(Tensor::Of<uint32_t>({4294967295u, 1}));
  ExpectTravels(Tensor::Of<uint64_t>({18446744073709551615u, 1}));
  ExpectTravels(Tensor::Of<bool>({true, false, true}));
  ExpectTravels(Tensor::Of<Half>({Half(1.5f), Half(-2.0f)}));
  ExpectTravels(Tensor::Of<BFloat16>({BFloat16(1.5f), BFloat16(-2.0f)}));
  ExpectTravels(Tensor::Of<std::string>({"a", "", std::string("\0b", 2)}));
  ExpectTravels(Tensor(3.0f));
  ExpectTravels(Tensor(DType::kFloat, Shape{0, 3}));
}

TEST(TensorWire, TakesShortListsAndRefusesWrongSizes) {
  proto::TensorProto message;
  message.set_dtype(proto::DT_FLOAT);
  message.mutable_tensor_shape()->add_dim()->set_size(3);
  message.add_float_val(7);
  EXPECT_TRUE(TensorFromWire(message.SerializeAsString()).Identical(Tensor::Of<float>({7, 7, 7})));
  const auto code = [](const proto::TensorProto& wrong) {
    return StatusOf([&] { TensorFromWire(wrong.SerializeAsString()); }).code();
  };
  proto::TensorProto wrong = message;
  wrong.clear_float_val();
  wrong.set_tensor_content("12345");
  EXPECT_EQ(code(wrong), Code::kInvalidArgument);
  wrong.mutable_tensor_shape()->mutable_dim(0)->set_size(-3);
  EXPECT_EQ(code(wrong), Code::kInvalidArgument);
  wrong.mutable_tensor_shape()->mutable_dim(0)->set_size(int64_t{1} << 62);
  wrong.mutable_tensor_shape()->add_dim()->set_size(int64_t{1} << 62);
  EXPECT_EQ(code(wrong), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([] { TensorFromWire("\xff\xff"); }).code(), Code::kInvalidArgument);
}

// A few bytes could ask for 256 GB.
TEST(TensorWire, BoundsWhatIsFilledUp) {
  proto::TensorProto message;
  message.set_dtype(proto::DT_FLOAT);
  message.mutable_tensor_shape()->add_dim()->set_size(int64_t{1} << 36);
  message.add_float_val(7);
  const auto code = [&] {
    return StatusOf([&] { TensorFromWire(message.SerializeAsString()); }).code();
  };
  EXPECT_EQ(code(), Code::kInvalidArgument);
  message.set_dtype(proto::DT_STRING);
  message.mutable_tensor_shape()->mutable_dim(0)->set_size(1 << 20);
  message.add_string_val(std::string(1000, 'a'));
  EXPECT_EQ(code(), Code::kInvalidArgument);
  message.set_string_val(0, "a");
  EXPECT_EQ(code(), Code::kOk);
}

// Protobuf takes the last of a field that is given twice.
TEST(TensorWire, FloatsOfAnotherDTypeAreNoElements) {
  proto::TensorProto message;
  message.set_dtype(proto::DT_FLOAT);
  message.mutable_tensor_shape()->add_dim()->set_size(1);
  message.add_float_val(7);
  const std::string bytes = message.SerializeAsString() + std::string("\x08\x03", 2);  // DT_INT32
  EXPECT_TRUE(TensorFromWire(bytes).Identical(Tensor::Of<int32_t>({0})));
}

TEST(TensorWire, SaysNothingToPeopleAboutNamesThatAreNoText) {
  // DT_FLOAT; a shape with a dimension whose name is the byte 0xff.
  const std::string bytes("\x08\x01\x12\x05\x12\x03\x12\x01\xff", 9);
  testing::internal::CaptureStderr();
  EXPECT_EQ(StatusOf([&] { TensorFromWire(bytes); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace sextant
