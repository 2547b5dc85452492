#include "sextant/graph/attr.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

proto::AttrValue ParseAttr(const std::string& text) {
  proto::AttrValue proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

class AttrRoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(AttrRoundTrip, GivesTheSameMessage) {
  const proto::AttrValue proto = ParseAttr(GetParam());
  const Attr attr = Attr::FromProto(proto);
  proto::AttrValue again;
  attr.ToProto(&again);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(proto, again))
      << again.DebugString();
  EXPECT_TRUE(attr.undecoded() || attr == attr);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, AttrRoundTrip,
    testing::Values(
        "", "s: 'a\\000b'", "i: -9223372036854775808", "f: inf", "b: false", "type: DT_FLOAT_REF",
        "type: DT_FLOAT8_E5M2", "shape { unknown_rank: true }",
        "shape { dim { size: -1 name: 'batch' } dim { size: 3 } }", "shape { }",
        "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: 2 }",
        "tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } "
        "tensor_content: '\\001\\000\\000\\000\\002\\000\\000\\000' }",
        "tensor { dtype: DT_STRING tensor_shape { } string_val: 'x' }",
        "tensor { dtype: DT_INT32 tensor_shape { dim { size: 0 } } }",
        "tensor { dtype: DT_FLOAT8_E5M2 tensor_shape { dim { size: 1 } } float8_val: 'a' }",
        "tensor { dtype: DT_VARIANT tensor_shape { } variant_val { type_name: 'list' } }",
        "func { name: 'f' attr { key: 'T' value { type: DT_INT64 } } }", "placeholder: 'T'",
        "list { }", "list { s: 'a' s: '' }", "list { i: [1, 2] }", "list { f: [1.5] }",
        "list { b: [true, false] }", "list { type: [DT_FLOAT, DT_INT32] }",
        "list { shape { dim { size: 2 } } shape { unknown_rank: true } }",
        "list { tensor { dtype: DT_BOOL tensor_shape { } bool_val: true } }",
        "list { func { name: 'f' } func { name: 'g' attr { key: 'n' value { i: 1 } } } }"));

TEST(AttrTest, DecodesATensorWhoseLastValueRepeats) {
  const Attr attr = Attr::FromProto(
      ParseAttr("tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: [1, 2] }"));
  EXPECT_TRUE(attr.Get<Tensor>().Identical(Tensor::Of<float>({1, 2, 2})));
}

TEST(AttrTest, KeepsTensorsOfUnknownTypesEncodedOnly) {
  const Attr attr =
      Attr::FromProto(ParseAttr("tensor { dtype: DT_INT4 tensor_shape { } int_val: 3 }"));
  EXPECT_TRUE(attr.undecoded());
  EXPECT_THROW(attr.Get<Tensor>(), Error);
}

TEST(AttrTest, AnEmptyListIsAnyListAndNothingElse) {
  const Attr attr{Attr::Value(EmptyList())};
  EXPECT_TRUE(attr.Get<std::vector<DType>>().empty());
  EXPECT_TRUE(attr == Attr(std::vector<int64_t>{}));
  EXPECT_THROW(attr.Get<int64_t>(), Error);
  EXPECT_THROW(attr.Get<std::string>(), Error);
}

TEST(AttrTest, SaysWhatItIsWhenAskedForAnotherKind) {
  try {
    Attr(7).Get<std::string>();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_EQ(e.message(), "expected string, got int 7");
  }
}

TEST(AttrTest, RefusesMalformedValues) {
  for (const char* text :
       {"list { i: 1 f: 2 }", "type: 300", "type: -1",
        "tensor { dtype: DT_FLOAT tensor_shape { dim { size: -1 } } }",
        "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: 'abc' }",
        "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } "
        "} }",
        "shape { dim { size: -2 } }"}) {
    proto::AttrValue proto;
    // Numbers that no name stands for are legal in the message.
    if (std::string(text).starts_with("type:")) {
      proto.set_type(static_cast<proto::DataType>(std::stoi(text + 5)));
    } else {
      proto = ParseAttr(text);
    }
    EXPECT_THROW(Attr::FromProto(proto), Error) << text;
  }
}

// One value for many elements is no mistake: the message is kept, and decoded by what runs it.
TEST(AttrTest, KeepsTensorsTooLargeToDecode) {
  const Attr attr = Attr::FromProto(ParseAttr(
      "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1099511627776 } } float_val: 1 }"));
  EXPECT_THROW(attr.Get<Tensor>(), Error);
}

TEST(AttrTest, TensorsOfAListShareTheExpansion) {
  const std::string tensor =
      "tensor { dtype: DT_INT8 tensor_shape { dim { size: 1000 } } int_val: 7 } ";
  const auto list = ParseAttr("list { " + tensor + tensor + "}");
  EXPECT_EQ(Attr::FromProto(list, 2000).Get<std::vector<Tensor>>().size(), 2);
  EXPECT_TRUE(Attr::FromProto(list, 1900).undecoded());
  // Small ones are always decoded.
  const auto small = ParseAttr("tensor { dtype: DT_INT64 tensor_shape { } int64_val: 7 }");
  EXPECT_EQ(Attr::FromProto(small, 0).Get<Tensor>().scalar<int64_t>(), 7);
}

TEST(AttrTest, FunctionsAreEqualByNameAndAttributesInAnyOrder) {
  const auto attrs = [](AttrMap map) { return std::make_shared<AttrMap>(std::move(map)); };
  const Attr a(FuncAttr{"f", attrs({{"x", 1}, {"y", 2}})});
  EXPECT_TRUE(a == Attr(FuncAttr{"f", attrs({{"y", 2}, {"x", 1}})}));
  EXPECT_FALSE(a == Attr(FuncAttr{"f", attrs({{"y", 2}, {"x", 3}})}));
  EXPECT_FALSE(a == Attr(FuncAttr{"f", nullptr}));
}

}  // namespace
}  // namespace sextant
