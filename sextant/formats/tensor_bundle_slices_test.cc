// Slices of tensors, and bundles merged of several.
#include "sextant/formats/tensor_bundle_test_helpers.h"

namespace sextant {
namespace {

using TensorBundleSlicesTest = TensorBundleTest;

TEST_F(TensorBundleSlicesTest, SlicesMakeUpTensorsAndOtherSlices) {
  Tensor whole(DType::kInt32, {7, 4});
  for (int i = 0; i < 28; ++i) whole.data<int32_t>()[i] = i;
  {
    TensorBundleWriter writer(kPrefix, {.files = &files_});
    const Shape shape{7, 4};
    writer.AddSlice("w", shape, TensorSlice::Parse("3,4:0,4"), whole.Rows(3, 7));
    writer.AddSlice("w", shape, TensorSlice::Parse("0,3:-"), whole.Rows(0, 3));
    writer.AddSlice("one", shape, TensorSlice::Parse("0,7:0,4"), whole);
    EXPECT_EQ(StatusOf([&] {
                writer.AddSlice("w", shape, TensorSlice::Parse("0,3:-"), whole.Rows(0, 3));
              }).code(),
              Code::kInvalidArgument);
    EXPECT_EQ(StatusOf([&] {
                writer.AddSlice("w", shape, TensorSlice::Parse("0,2:-"), whole.Rows(0, 3));
              }).code(),
              Code::kInvalidArgument);
    EXPECT_EQ(StatusOf([&] { writer.Add("w", whole); }).code(), Code::kInvalidArgument);
    writer.Finish();
  }
  const TensorBundleReader reader(files_, kPrefix);
  EXPECT_EQ(reader.Tensors().size(), 2u);
  EXPECT_EQ(reader.Info("w").slices.size(), 2u);
  EXPECT_TRUE(reader.Info("one").slices.empty());
  EXPECT_TRUE(reader.Read("w").Identical(whole));
  EXPECT_TRUE(reader.Read("one").Identical(whole));
  EXPECT_TRUE(
      reader.ReadSlice("w", TensorSlice::Parse("3,4:-")).Identical(whole.Rows(3, 7).Clone()));
  EXPECT_TRUE(
      reader.ReadSlice("one", TensorSlice::Parse("2,2:-")).Identical(whole.Rows(2, 4).Clone()));
  EXPECT_TRUE(reader.ReadSlice("w", TensorSlice::Parse("2,2:1,2"))
                  .Identical(Tensor::Of<int32_t>({2, 2}, {9, 10, 13, 14})));
}

TEST_F(TensorBundleSlicesTest, GapsAndOverlapsOfSlicesAreErrors) {
  const Tensor row = Bytes(DType::kInt8, {1, 2});
  const auto status = [&](std::vector<const char*> slices) {
    TensorBundleWriter writer(kPrefix, {.files = &files_});
    for (const char* slice : slices) {
      const Shape shape = TensorSlice::Parse(slice).ShapeIn({3, 2});
      writer.AddSlice("w", {3, 2}, TensorSlice::Parse(slice), Bytes(DType::kInt8, shape));
    }
    writer.Finish();
    return StatusOf([&] { Read("w"); });
  };
  EXPECT_TRUE(status({"0,1:-", "1,2:-"}).ok());
  EXPECT_EQ(status({"0,1:-", "2,1:-"}).message(),
            "dir/model.ckpt-7: the stored slices of 'w' do not make up the slice 0,3:0,2: they "
            "leave a gap");
  EXPECT_EQ(status({"0,2:-", "1,2:-"}).code(), Code::kInvalidArgument);
  EXPECT_EQ(status({"0,2:-", "1,1:-"}).code(),
            Code::kInvalidArgument);  // sums to 3 rows, but one is missing
}

TEST_F(TensorBundleSlicesTest, SlicesOfStrings) {
  TensorBundleWriter writer(kPrefix, {.files = &files_});
  writer.AddSlice("s", {3}, TensorSlice::Parse("1,2"), Tensor::Of<std::string>({"b", "c"}));
  writer.AddSlice("s", {3}, TensorSlice::Parse("0,1"), Tensor::Of<std::string>({"a"}));
  writer.Finish();
  EXPECT_TRUE(Read("s").Identical(Tensor::Of<std::string>({"a", "b", "c"})));
}

TEST_F(TensorBundleSlicesTest, MergesBundles) {
  Tensor whole = Bytes(DType::kFloat, {4, 3});
  for (int part = 0; part < 2; ++part) {
    TensorBundleWriter writer(fmt::format("temp/part-{:05}-of-00002", part), {.files = &files_});
    writer.Add(fmt::format("only{}", part), Tensor(part));
    writer.AddSlice("w", {4, 3}, TensorSlice({{2 * part, 2}, {}}),
                    whole.Rows(2 * part, 2 * part + 2));
    writer.Finish();
  }
  const std::string parts[] = {"temp/part-00000-of-00002", "temp/part-00001-of-00002",
                               "temp/part-missing"};
  const auto merge = [&](bool allow_missing) {
    MergeTensorBundles(parts, kPrefix, {.allow_missing_files = allow_missing, .files = &files_});
  };
  EXPECT_EQ(StatusOf([&] { merge(false); }).code(), Code::kInvalidArgument);
  merge(true);
  EXPECT_EQ(files_.ListDirectory("dir"),
            (std::vector<std::string>{"model.ckpt-7.data-00000-of-00002",
                                      "model.ckpt-7.data-00001-of-00002", "model.ckpt-7.index"}));
  EXPECT_TRUE(files_.ListDirectory("temp").empty());
  const TensorBundleReader reader(files_, kPrefix);
  EXPECT_EQ(reader.num_shards(), 2);
  EXPECT_TRUE(reader.Read("w").Identical(whole));
  EXPECT_TRUE(reader.Read("only0").Identical(Tensor(0)));
  EXPECT_TRUE(reader.Read("only1").Identical(Tensor(1)));
  EXPECT_EQ(StatusOf([&] { merge(true); }).code(), Code::kInvalidArgument);
}

TEST_F(TensorBundleSlicesTest, MergingTheSameTensorTwiceIsAnError) {
  const std::string parts[] = {"temp/a", "temp/b"};
  for (const std::string& part : parts) {
    TensorBundleWriter writer(part, {.files = &files_});
    writer.Add("v", Tensor(1.0f));
    writer.Finish();
  }
  const Status status = StatusOf([&] { MergeTensorBundles(parts, kPrefix, {.files = &files_}); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("'v'"), std::string::npos);
  EXPECT_TRUE(files_.Exists("temp/a.index"));  // nothing was moved
}

}  // namespace
}  // namespace sextant
