#include "sextant/tensor/tensor_proto.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "sextant/proto/graph.pb.h"
#include "sextant/proto/tensor.pb.h"

namespace sextant {
namespace {

using proto::TensorProto;

TensorProto Parse(const std::string& text) {
  TensorProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}
Tensor Read(const std::string& text) { return TensorFromProto(Parse(text)); }

Code CodeOfReading(const std::string& text) {
  try {
    Read(text);
  } catch (const Error& error) {
    return error.code();
  }
  return Code::kOk;
}

void ExpectRoundTrip(const Tensor& tensor) {
  TensorProto proto;
  TensorToProto(tensor, &proto);
  EXPECT_TRUE(TensorFromProto(proto).Identical(tensor)) << proto.ShortDebugString();
}

TEST(TensorProtoTest, RoundTrips) {
  ExpectRoundTrip(Tensor(1.5f));
  ExpectRoundTrip(Tensor::Of<float>({2, 2}, {1, 2, 3, 4}));
  ExpectRoundTrip(Tensor::Of<double>({1, 2}));
  ExpectRoundTrip(Tensor::Scalar(Half(-0.1f)));
  ExpectRoundTrip(Tensor::Of<BFloat16>({BFloat16(1.5f), BFloat16(-2.0f)}));
  ExpectRoundTrip(Tensor::Scalar(int8_t{-8}));
  ExpectRoundTrip(Tensor::Scalar(int16_t{-300}));
  ExpectRoundTrip(Tensor::Scalar(uint8_t{200}));
  ExpectRoundTrip(Tensor::Scalar(uint16_t{60000}));
  ExpectRoundTrip(Tensor::Scalar(uint32_t{4000000000u}));
  ExpectRoundTrip(Tensor::Scalar(~uint64_t{0}));
  ExpectRoundTrip(Tensor(int64_t{-5}));
  ExpectRoundTrip(Tensor(true));
  ExpectRoundTrip(Tensor::Of<bool>({true, false}));
  ExpectRoundTrip(Tensor::Scalar(std::complex<float>(1, -2)));
  ExpectRoundTrip(Tensor::Of<std::complex<double>>({{1, -2}, {3, 4}}));
  ExpectRoundTrip(Tensor::Of<std::string>({"a", "", std::string("\0b", 2)}));
  ExpectRoundTrip(Tensor(DType::kFloat, Shape{0, 3}));
  ExpectRoundTrip(Tensor::Scalar(int8_t{-8}).BitCast(DType::kQInt8));
  ExpectRoundTrip(Tensor(DType::kVariant, Shape{2}));
  ExpectRoundTrip(Tensor::Scalar(ResourceHandle{"/cpu:0", "box", "v", "Variable", nullptr}));
}

TEST(TensorProtoTest, WritesContentOnlyForSeveralPlainElements) {
  TensorProto proto;
  TensorToProto(Tensor::Of<int32_t>({1, 2}), &proto);
  EXPECT_EQ(proto.tensor_content(), std::string("\1\0\0\0\2\0\0\0", 8));
  TensorToProto(Tensor(3), &proto);
  EXPECT_EQ(proto.tensor_content(), "");
  EXPECT_EQ(proto.int_val(0), 3);
  TensorToProto(Tensor::Of<std::string>({"a", "b"}), &proto);
  EXPECT_EQ(proto.string_val(1), "b");
}

TEST(TensorProtoTest, ShortListsRepeatTheirLastValue) {
  const std::string shape = "tensor_shape { dim { size: 3 } } ";
  EXPECT_TRUE(
      Read("dtype: DT_FLOAT float_val: [1, 2] " + shape).Identical(Tensor::Of<float>({1, 2, 2})));
  EXPECT_TRUE(Read("dtype: DT_FLOAT " + shape).Identical(Tensor::Of<float>({0, 0, 0})));
  EXPECT_TRUE(Read("dtype: DT_INT64 int64_val: [1, 2, 3, 4] " + shape)
                  .Identical(Tensor::Of<int64_t>({1, 2, 3})));
  EXPECT_TRUE(Read("dtype: DT_STRING string_val: 'x' " + shape)
                  .Identical(Tensor::Of<std::string>({"x", "x", "x"})));
  EXPECT_TRUE(Read("dtype: DT_COMPLEX64 scomplex_val: [1, 2] " + shape)
                  .Identical(Tensor::Of<std::complex<float>>({{1, 2}, {1, 2}, {1, 2}})));
  EXPECT_TRUE(Read("dtype: DT_HALF half_val: 15360 " + shape)
                  .Identical(Tensor::Of<Half>({Half(1), Half(1), Half(1)})));
}

TEST(TensorProtoTest, ContentWinsOverLists) {
  EXPECT_TRUE(Read("dtype: DT_INT32 int_val: 9 tensor_content: '\\001\\000\\000\\000'")
                  .Identical(Tensor(1)));
}

TEST(TensorProtoTest, StringsInContent) {
  const std::string two = "dtype: DT_STRING tensor_shape { dim { size: 2 } } ";
  EXPECT_TRUE(Read(two + "tensor_content: '\\002\\001abc'")
                  .Identical(Tensor::Of<std::string>({"ab", "c"})));
  for (const char* content :
       {"\\002\\001ab", "\\002\\001abcd", "\\002", "\\200\\200", "\\377\\377\\377\\377\\377\\377",
        "\\377\\377\\377\\377\\017\\001a"}) {
    EXPECT_EQ(CodeOfReading(two + "tensor_content: '" + content + "'"), Code::kInvalidArgument)
        << content;
  }
}

TEST(TensorProtoTest, BoolContentIsNormalised) {
  const Tensor t =
      Read("dtype: DT_BOOL tensor_shape { dim { size: 2 } } tensor_content: '\\007\\000'");
  EXPECT_TRUE(t.Identical(Tensor::Of<bool>({true, false})));
}

TEST(TensorProtoTest, RefusesMalformedProtos) {
  for (const char* text : {
           "",
           "dtype: DT_FLOAT_REF float_val: 1",
           "dtype: DT_INT4",
           "dtype: DT_FLOAT tensor_shape { unknown_rank: true }",
           "dtype: DT_FLOAT tensor_shape { unknown_rank: true dim { size: 1 } }",
           "dtype: DT_FLOAT tensor_shape { dim { size: -1 } }",
           "dtype: DT_FLOAT tensor_shape { dim { size: -7 } }",
           "dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } }",
           "dtype: DT_DOUBLE tensor_shape { dim { size: 4611686018427387904 } }",
           "dtype: DT_FLOAT tensor_content: 'abc'",
           "dtype: DT_FLOAT tensor_shape { dim { size: 1000000000 } } tensor_content: 'abcd'",
           "dtype: DT_FLOAT tensor_shape { dim { size: 0 } } tensor_content: 'abcd'",
           "dtype: DT_STRING tensor_shape { dim { size: 1000000000 } } tensor_content: 'abcd'",
           "dtype: DT_RESOURCE tensor_content: 'abcd'",
           "dtype: DT_COMPLEX64 scomplex_val: 1",
       }) {
    EXPECT_EQ(CodeOfReading(text), Code::kInvalidArgument) << text;
  }
  EXPECT_EQ(CodeOfReading("dtype: DT_VARIANT variant_val { type_name: 'tensorflow::TensorList' }"),
            Code::kUnimplemented);
  TensorProto unknown;
  unknown.set_dtype(static_cast<proto::DataType>(257));  // 257 is 1 in eight bits
  EXPECT_THROW(TensorFromProto(unknown), Error);
}

TEST(TensorProtoTest, ObeysTheLimit) {
  const TensorProto proto = Parse("dtype: DT_FLOAT tensor_shape { dim { size: 1024 } }");
  EXPECT_EQ(TensorFromProto(proto, 4096).num_elements(), 1024);
  EXPECT_THROW(TensorFromProto(proto, 4095), Error);
}

TEST(TensorProtoTest, RefusesWhatHasNoProto) {
  TensorProto proto;
  EXPECT_THROW(TensorToProto(Tensor(), &proto), Error);
  EXPECT_THROW(TensorToProto(Tensor::Scalar(Variant::Of(1)), &proto), Error);
}

TEST(ShapeProtoTest, RoundTrips) {
  for (const PartialShape& shape : {PartialShape(), PartialShape(Shape()), PartialShape{-1, 3}}) {
    proto::TensorShapeProto proto;
    ShapeToProto(shape, &proto);
    EXPECT_EQ(ShapeFromProto(proto), shape);
  }
}

// A node as TensorFlow writes it, with its full type, keeps every byte.
TEST(GraphProtoTest, CarriesFullTypesAndUnknownFields) {
  proto::NodeDef node;
  node.set_name("n");
  node.mutable_experimental_type()->set_type_id(proto::TFT_PRODUCT);
  node.mutable_experimental_type()->add_args()->set_type_id(proto::TFT_TENSOR);
  std::string bytes = node.SerializeAsString();
  bytes += std::string("\xa2\x06\x01x", 4);  // field 100: "x"
  proto::NodeDef read;
  ASSERT_TRUE(read.ParseFromString(bytes));
  EXPECT_EQ(read.experimental_type().args(0).type_id(), proto::TFT_TENSOR);
  EXPECT_EQ(read.SerializeAsString(), bytes);
}

}  // namespace
}  // namespace sextant
