#include "sextant/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

TEST(BufferTest, AlignedAndCounted) {
  for (const size_t bytes : {0, 1, 64, 1000}) {
    const BufferRef buffer = NewBuffer(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % kBufferAlignment, 0u);
    EXPECT_EQ(buffer->size(), bytes);
  }
  // Small blocks and large ones, each whole and its own.
  std::vector<BufferRef> buffers;
  for (size_t bytes = 0; bytes < 1100; bytes += 9) {
    buffers.push_back(NewBuffer(bytes));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(buffers.back()->data()) % kBufferAlignment, 0u) << bytes;
    std::memset(buffers.back()->data(), static_cast<int>(bytes % 251), bytes);
  }
  for (const BufferRef& buffer : buffers) {
    const auto* data = static_cast<const unsigned char*>(buffer->data());
    for (size_t i = 0; i < buffer->size(); ++i) ASSERT_EQ(data[i], buffer->size() % 251);
  }
  BufferRef a = NewBuffer(8);
  EXPECT_TRUE(a->unique());
  BufferRef b = a;
  EXPECT_FALSE(a->unique());
  b = BufferRef();
  EXPECT_TRUE(a->unique());
}

TEST(BufferTest, TooMuchIsResourceExhausted) {
  EXPECT_EQ(StatusOf([] { NewBuffer(SIZE_MAX); }).code(), Code::kResourceExhausted);
  EXPECT_EQ(StatusOf([] { NewBuffer(size_t{1} << 62); }).code(), Code::kResourceExhausted);
  EXPECT_EQ(StatusOf([] { Tensor(DType::kDouble, Shape{int64_t{1} << 62}); }).code(),
            Code::kResourceExhausted);
}

TEST(TensorTest, Values) {
  const Tensor t = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(t.dtype(), DType::kFloat);
  EXPECT_EQ(t.shape(), (Shape{2, 2}));
  EXPECT_EQ(t.bytes(), 16u);
  EXPECT_EQ(t.flat<float>()[3], 4);
  EXPECT_EQ(t.Describe(), "float[2,2]");
  EXPECT_EQ(StatusOf([&] { t.data<double>(); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { t.scalar<float>(); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([] { Tensor::Of<float>({3}, {1, 2}); }).code(), Code::kInvalidArgument);
  EXPECT_FALSE(Tensor().valid());
  EXPECT_EQ(StatusOf([] { Tensor(DType::kInvalid, Shape()); }).code(), Code::kInvalidArgument);
}

TEST(TensorTest, Scalars) {
  EXPECT_EQ(Tensor(1.5f).scalar<float>(), 1.5f);
  EXPECT_EQ(Tensor("abc").scalar<std::string>(), "abc");
  EXPECT_EQ(Tensor(true).scalar<bool>(), true);
  EXPECT_EQ(Tensor(int64_t{7}).AsInt64(), 7);
  EXPECT_EQ(Tensor(7).AsInt64(), 7);
  EXPECT_EQ(Tensor::Scalar(Half(0.5f)).AsDouble(), 0.5);
  EXPECT_EQ(Tensor::Scalar(uint8_t{200}).AsDouble(), 200);
  EXPECT_EQ(StatusOf([] { Tensor("x").AsDouble(); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([] { Tensor(1.0f).AsInt64(); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(Tensor::FromVector<int32_t>({4, 5}).AsInt64s(), (std::vector<int64_t>{4, 5}));
  EXPECT_TRUE(Tensor::FromVector<bool>({false, true}).flat<bool>()[1]);
}

TEST(TensorTest, ViewsShareTheBuffer) {
  Tensor t = Tensor::Of<int32_t>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor rows = t.Rows(1, 3);
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_TRUE(rows.SharesBufferWith(t));
  EXPECT_FALSE(t.unique());
  t.data<int32_t>()[2] = 33;
  EXPECT_EQ(rows.flat<int32_t>()[0], 33);
  EXPECT_EQ(t.Reshaped(Shape{6}).flat<int32_t>()[5], 6);
  EXPECT_EQ(t.Rows(1, 1).num_elements(), 0);
  EXPECT_EQ(StatusOf([&] { t.Rows(2, 4); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { t.Reshaped(Shape{5}); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([] { Tensor(1).Rows(0, 0); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(Tensor(1.0f).BitCast(DType::kUInt32).scalar<uint32_t>(), 0x3f800000u);
  EXPECT_EQ(StatusOf([] { Tensor(1.0f).BitCast(DType::kInt64); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([] { Tensor("a").BitCast(DType::kString); }).code(), Code::kInvalidArgument);
}

TEST(TensorTest, PersistentCopiesOnlyTransientBuffers) {
  const BufferRef arena = NewBuffer(64);
  Tensor t(DType::kFloat, Shape{2}, arena, 8);
  EXPECT_EQ(t.raw_data(), static_cast<char*>(arena->data()) + 8);
  t.data<float>()[0] = 1;
  t.data<float>()[1] = 2;
  EXPECT_TRUE(t.Persistent().SharesBufferWith(t));
  arena->set_transient(true);
  const Tensor kept = t.Persistent();
  EXPECT_FALSE(kept.SharesBufferWith(t));
  t.data<float>()[0] = 9;
  EXPECT_TRUE(kept.Identical(Tensor::Of<float>({1, 2})));
}

TEST(TensorTest, StringsAreObjects) {
  const std::string long_text(100, 'x');
  Tensor t(DType::kString, Shape{3});
  EXPECT_EQ(t.flat<std::string>()[2], "");
  t.data<std::string>()[1] = long_text;
  const Tensor copy = t.Clone();
  t.data<std::string>()[1] = "changed";
  EXPECT_EQ(copy.flat<std::string>()[1], long_text);
  const Tensor row = copy.Rows(1, 2);
  EXPECT_EQ(row.scalar<std::string>(), long_text);
}

struct Counted : Resource {
  explicit Counted(int* count) : alive(count) { ++*alive; }
  ~Counted() override { --*alive; }
  int* alive;
};

TEST(TensorTest, HandlesAndVariantsAreDestroyed) {
  int alive = 0;
  {
    Tensor t =
        Tensor::Scalar(ResourceHandle{.name = "v", .resource = std::make_shared<Counted>(&alive)});
    const Tensor v = Tensor::Scalar(Variant::Of(std::make_shared<Counted>(&alive)));
    const Tensor copy = v.Clone();
    EXPECT_TRUE(copy.Identical(v));
    EXPECT_FALSE(Tensor::Scalar(Variant::Of(1)).Identical(v));
    EXPECT_EQ(v.scalar<Variant>().Get<int>(), nullptr);
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

TEST(TensorTest, IdenticalIsBitwise) {
  EXPECT_TRUE(Tensor(std::nanf("")).Identical(Tensor(std::nanf(""))));
  EXPECT_FALSE(Tensor(0.0f).Identical(Tensor(-0.0f)));
  EXPECT_FALSE(Tensor(1).Identical(Tensor(1.0f)));
  EXPECT_FALSE(Tensor::Of<int32_t>({1}).Identical(Tensor(1)));
  EXPECT_TRUE(Tensor::Zeros(DType::kString, Shape{2}).Identical(Tensor::Of<std::string>({"", ""})));
  EXPECT_TRUE(
      Tensor::Zeros(DType::kFloat, Shape{0, 3}).Identical(Tensor(DType::kFloat, Shape{0, 3})));
}

}  // namespace
}  // namespace sextant
