#include <thread>

#include "sextant/formats/tensor_bundle_test_helpers.h"

namespace sextant {
namespace {

TEST_F(TensorBundleTest, ReadsWhatItWroteOfEveryType) {
  Tensors tensors;
  for (int number = 1; number <= 23; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (!IsPlain(dtype)) continue;
    tensors[DTypeName(dtype)] = Bytes(dtype, {2, 3});
    tensors["scalar/" + DTypeName(dtype)] = Bytes(dtype, {});
    tensors["empty/" + DTypeName(dtype)] = Bytes(dtype, {0, 3});
  }
  tensors["string"] =
      Tensor::Of<std::string>({4}, {"", "abc", std::string(70000, 'x'), std::string("\0\xFF", 2)});
  tensors["scalar/string"] = Tensor("hello");
  tensors["empty/string"] = Tensor(DType::kString, {0});
  Write(tensors);
  const TensorBundleReader reader(files_, kPrefix);
  EXPECT_EQ(reader.Tensors().size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const BundleTensorInfo info = reader.Info(name);
    EXPECT_EQ(info.dtype, tensor.dtype());
    EXPECT_EQ(info.shape, tensor.shape());
    EXPECT_TRUE(reader.Read(name).Identical(tensor)) << name;
    Tensor into(tensor.dtype(), tensor.shape());
    reader.ReadInto(name, &into);
    EXPECT_TRUE(into.Identical(tensor)) << name;
  }
}

TEST_F(TensorBundleTest, EmptyVariantsAreKept) {
  Write({{"v", Tensor(DType::kVariant, {3})}});
  EXPECT_EQ(Read("v").shape(), Shape({3}));
  Tensor full(DType::kVariant, {});
  *full.data<Variant>() = Variant::Of<int>(5);
  EXPECT_EQ(StatusOf([&] { Write({{"v", full}}); }).code(), Code::kUnimplemented);
  EXPECT_EQ(StatusOf([&] {
              Write({{"r", Tensor(DType::kResource, {})}});
            }).code(),
            Code::kUnimplemented);
}

TEST_F(TensorBundleTest, StringsHaveTensorFlowsBytes) {
  Write({{"a", Tensor("hello")}, {"b", Tensor::Of<std::string>({1}, {""})}});
  const std::string expected("\x05\xd9\xc6\x9c\x43hello\x00\xa6\x7b\x11\x3a", 15);
  EXPECT_EQ(files_.ReadFile(kData), expected);
}

TEST_F(TensorBundleTest, LargeTensorsAreReadInParts) {
  Tensor large(DType::kInt32, {5, 1000003});
  for (int64_t i = 0; i < large.num_elements(); ++i)
    large.data<int32_t>()[i] = static_cast<int32_t>(i * 7);
  Write({{"a", Tensor(1.5f)}, {"large", large}});
  EXPECT_TRUE(Read("large").Identical(large));
}

TEST_F(TensorBundleTest, AlignsTensors) {
  Write({{"a", Bytes(DType::kInt8, {3})},
         {"b", Bytes(DType::kInt8, {64})},
         {"c", Bytes(DType::kInt8, {1})}},
        32);
  const TensorBundleReader reader(files_, kPrefix);
  const auto locations = reader.Locations();
  EXPECT_EQ(locations[0].offset, 0);
  EXPECT_EQ(locations[1].offset, 32);
  EXPECT_EQ(locations[2].offset, 96);
  EXPECT_TRUE(reader.Read("c").Identical(Bytes(DType::kInt8, {1})));
}

TEST_F(TensorBundleTest, NamesWhatIsMissing) {
  Write({{"a", Tensor(1.0f)}});
  const TensorBundleReader reader(files_, kPrefix);
  EXPECT_TRUE(reader.Contains("a"));
  EXPECT_FALSE(reader.Contains("b"));
  EXPECT_FALSE(reader.Contains(""));
  const Status missing = StatusOf([&] { reader.Read("b/c"); });
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_EQ(missing.message(), "dir/model.ckpt-7: there is no tensor 'b/c' in this checkpoint");
  EXPECT_EQ(StatusOf([&] { TensorBundleReader(files_, "dir/other"); }).code(), Code::kNotFound);
  files_.Delete(kData);
  const Status no_data = StatusOf([&] { Read("a"); });
  EXPECT_EQ(no_data.code(), Code::kNotFound);
  EXPECT_NE(no_data.message().find(kData), std::string::npos);
}

TEST_F(TensorBundleTest, RefusesWrongRequests) {
  Write({{"a", Tensor::Of<float>({1, 2, 3})}});
  const TensorBundleReader reader(files_, kPrefix);
  Tensor wrong_shape(DType::kFloat, {2}), wrong_type(DType::kInt32, {3});
  EXPECT_EQ(StatusOf([&] { reader.ReadInto("a", &wrong_shape); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { reader.ReadInto("a", &wrong_type); }).message(),
            "dir/model.ckpt-7: 'a' is float[3], not int32[3]");
  EXPECT_EQ(StatusOf([&] { reader.ReadSlice("a", TensorSlice::Parse("2,2")); }).code(),
            Code::kInvalidArgument);
  TensorBundleWriter writer("dir/w", {.files = &files_});
  writer.Add("a", Tensor(1.0f));
  EXPECT_EQ(StatusOf([&] { writer.Add("a", Tensor(1.0f)); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { writer.Add("", Tensor(1.0f)); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { TensorBundleWriter("dir/", {.files = &files_}); }).code(),
            Code::kInvalidArgument);
}

TEST_F(TensorBundleTest, ManyThreadsReadAtOnce) {
  Tensors tensors;
  for (int i = 0; i < 200; ++i) tensors[fmt::format("v{}", i)] = Bytes(DType::kFloat, {i + 1, 30});
  tensors["large"] = Bytes(DType::kFloat, {3, 1000000});
  Write(tensors);
  const TensorBundleReader reader(files_, kPrefix);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (const auto& [name, tensor] : tensors) {
        if (!reader.Read(name).Identical(tensor)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(TensorBundleTest, AnAbandonedWriterLeavesNothing) {
  {
    TensorBundleWriter writer(kPrefix, {.files = &files_});
    writer.Add("a", Tensor(1.0f));
  }
  EXPECT_TRUE(files_.ListDirectory("dir").empty());
}

}  // namespace
}  // namespace sextant
