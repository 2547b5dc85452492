#include <gtest/gtest.h>

#include <thread>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/formats/tensor_bundle_index.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/formats/tensor_bundle_writer.h"

namespace sextant {
namespace {

const std::string kPrefix = "dir/model.ckpt-7";
const std::string kData = kPrefix + ".data-00000-of-00001";

class TensorBundleTest : public testing::Test {
 protected:
  using Tensors = std::map<std::string, Tensor>;

  void Write(const Tensors& tensors, int64_t alignment = 1) {
    TensorBundleWriter writer(kPrefix, {.alignment = alignment, .files = &files_});
    for (const auto& [name, tensor] : tensors) writer.Add(name, tensor);
    writer.Finish();
  }
  Tensor Read(std::string_view name) { return TensorBundleReader(files_, kPrefix).Read(name); }

  Status StatusOf(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& e) {
      return e.status();
    }
    return {};
  }

  MemoryFileSystem files_;
};

Tensor Bytes(DType dtype, const Shape& shape) {
  Tensor tensor(dtype, shape);
  auto* bytes = static_cast<char*>(tensor.raw_data());
  for (size_t i = 0; i < tensor.bytes(); ++i) {
    bytes[i] = static_cast<char>(dtype == DType::kBool ? i % 2 : i * 37 + 11);
  }
  return tensor;
}

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

TEST_F(TensorBundleTest, SlicesMakeUpTensorsAndOtherSlices) {
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

TEST_F(TensorBundleTest, GapsAndOverlapsOfSlicesAreErrors) {
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

TEST_F(TensorBundleTest, SlicesOfStrings) {
  TensorBundleWriter writer(kPrefix, {.files = &files_});
  writer.AddSlice("s", {3}, TensorSlice::Parse("1,2"), Tensor::Of<std::string>({"b", "c"}));
  writer.AddSlice("s", {3}, TensorSlice::Parse("0,1"), Tensor::Of<std::string>({"a"}));
  writer.Finish();
  EXPECT_TRUE(Read("s").Identical(Tensor::Of<std::string>({"a", "b", "c"})));
}

TEST_F(TensorBundleTest, MergesBundles) {
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

TEST_F(TensorBundleTest, MergingTheSameTensorTwiceIsAnError) {
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

// Rewrites the index with a change to its header and entries.
void ChangeIndex(
    FileSystem& files,
    const std::function<void(tensorflow::BundleHeaderProto*, BundleEntries*)>& change) {
  BundleEntries entries;
  tensorflow::BundleHeaderProto header;
  {
    const auto index = OpenBundleIndex(files, kPrefix);
    header = ReadBundleHeader(*index);
    index->Scan("\1", [&](std::string_view key, std::string_view value) {
      entries[std::string(key)] = ParseBundleEntry(*index, key, value);
      return true;
    });
  }
  change(&header, &entries);
  PendingFile file(files, BundleIndexPath(kPrefix));
  WriteBundleIndex(header, entries, file);
  file.Rename();
}

TEST_F(TensorBundleTest, ReadsBigEndianFiles) {
  const std::string data(
      "\x3f\x80\x00\x00"
      "\x40\x00\x00\x00"
      "\xc0\x40\x00\x00"
      "\x12\x34",
      14);  // 1, 2 - 3i, 0x1234
  Write({{"c", Tensor::Scalar<std::complex<float>>({0, 0})},
         {"f", Tensor(0.0f)},
         {"i", Tensor(DType::kInt16, {})}});
  files_.WriteFileAtomically(kData, data);
  ChangeIndex(files_, [&](auto* header, BundleEntries* entries) {
    header->set_endianness(tensorflow::BundleHeaderProto::BIG);
    int offset = 0;
    for (const char* name : {"f", "c", "i"}) {
      auto& entry = (*entries)[name];
      entry.set_offset(offset);
      entry.set_crc32c(MaskedCrc32c(std::string_view(data).substr(offset, entry.size())));
      offset += static_cast<int>(entry.size());
    }
  });
  EXPECT_EQ(Read("f").scalar<float>(), 1.0f);
  EXPECT_EQ(Read("c").scalar<std::complex<float>>(), std::complex<float>(2, -3));
  EXPECT_EQ(Read("i").scalar<int16_t>(), 0x1234);
}

TEST_F(TensorBundleTest, ImpossibleEntriesAreDataLoss) {
  using Change = std::function<void(tensorflow::BundleEntryProto*)>;
  const Change changes[] = {
      [](auto* e) { e->set_shard_id(1); },
      [](auto* e) { e->set_shard_id(-1); },
      [](auto* e) { e->set_offset(-4); },
      [](auto* e) { e->set_offset(INT64_MAX); },
      [](auto* e) { e->set_size(8); },
      [](auto* e) { e->set_size(INT64_MAX); },
      [](auto* e) { e->mutable_shape()->mutable_dim(0)->set_size(-1); },
      [](auto* e) { e->mutable_shape()->mutable_dim(0)->set_size(INT64_MAX); },
      [](auto* e) { e->mutable_shape()->mutable_dim(0)->set_size(int64_t{1} << 40); },
      [](auto* e) { e->set_dtype(tensorflow::DT_STRING); },
      [](auto* e) { e->set_dtype(tensorflow::DT_VARIANT); },
      [](auto* e) { e->set_crc32c(0); },
      [](auto* e) { e->add_slices()->add_extent()->set_length(5); },
      [](auto* e) { e->add_slices()->add_extent()->set_length(-1); },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    Write({{"a", Tensor::Of<float>({1, 2, 3})}});
    ChangeIndex(files_, [&](auto*, BundleEntries* entries) { changes[i](&(*entries)["a"]); });
    const Status status = StatusOf([&] { Read("a"); });
    EXPECT_EQ(status.code(), Code::kDataLoss) << i << ": " << status.message();
    EXPECT_NE(status.message().find(kPrefix), std::string::npos) << status.message();
  }
  Write({{"a", Tensor::Of<float>({1, 2, 3})}});
  ChangeIndex(files_,
              [](auto* header, BundleEntries*) { header->mutable_version()->set_min_consumer(2); });
  EXPECT_EQ(StatusOf([&] { Read("a"); }).code(), Code::kUnimplemented);
  Write({{"a", Tensor::Of<float>({1, 2, 3})}});
  ChangeIndex(files_, [](auto*, BundleEntries* entries) {
    (*entries)["a"].set_dtype(static_cast<tensorflow::DataType>(25));
  });
  EXPECT_EQ(StatusOf([&] { Read("a"); }).code(), Code::kUnimplemented);
}

TEST_F(TensorBundleTest, DamageIsDataLoss) {
  const Tensors tensors = {{"a", Tensor::Of<float>({1, 2, 3})},
                           {"b", Tensor::Of<std::string>({"x", "yy", ""})},
                           {"c", Tensor::Of<bool>({true, false})},
                           {"v", Tensor(DType::kVariant, {2})}};
  Write(tensors);
  const auto check = [&](const std::string& what) {
    try {
      const TensorBundleReader reader(files_, kPrefix);
      EXPECT_EQ(reader.Tensors().size(), tensors.size()) << what;
      for (const auto& [name, tensor] : tensors) {
        const Status status = StatusOf([&, &name = name, &tensor = tensor] {
          const Tensor read = reader.Read(name);
          EXPECT_EQ(read.shape(), tensor.shape()) << what;
          EXPECT_TRUE(name == "v" || read.Identical(tensor)) << what << " in " << name;
        });
        EXPECT_TRUE(status.ok() || status.code() == Code::kDataLoss)
            << what << ": " << status.message();
      }
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kDataLoss) << what << ": " << e.message();
    }
  };
  for (const std::string& path : {BundleIndexPath(kPrefix), kData}) {
    const std::string bytes = files_.ReadFile(path);
    for (size_t size = 0; size < bytes.size(); ++size) {
      files_.WriteFileAtomically(path, bytes.substr(0, size));
      check(fmt::format("{} cut to {}", path, size));
    }
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
      files_.WriteFileAtomically(path, damaged);
      check(fmt::format("{} with bit {} flipped", path, bit));
    }
    files_.WriteFileAtomically(path, bytes);
  }
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
