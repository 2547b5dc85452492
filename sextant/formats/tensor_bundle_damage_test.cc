// Bundles that are not as we write them: of other machines, and damaged.
#include "sextant/base/crc32c.h"
#include "sextant/formats/tensor_bundle_index.h"
#include "sextant/formats/tensor_bundle_test_helpers.h"

namespace sextant {
namespace {

using TensorBundleDamageTest = TensorBundleTest;

// Rewrites the index with a change to its header and entries.
void ChangeIndex(FileSystem& files,
                 const std::function<void(proto::BundleHeaderProto*, BundleEntries*)>& change) {
  BundleEntries entries;
  proto::BundleHeaderProto header;
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

TEST_F(TensorBundleDamageTest, ReadsBigEndianFiles) {
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
    header->set_endianness(proto::BundleHeaderProto::BIG);
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

TEST_F(TensorBundleDamageTest, ImpossibleEntriesAreDataLoss) {
  using Change = std::function<void(proto::BundleEntryProto*)>;
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
      [](auto* e) { e->set_dtype(proto::DT_STRING); },
      [](auto* e) { e->set_dtype(proto::DT_VARIANT); },
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
    (*entries)["a"].set_dtype(static_cast<proto::DataType>(25));
  });
  EXPECT_EQ(StatusOf([&] { Read("a"); }).code(), Code::kUnimplemented);
}

TEST_F(TensorBundleDamageTest, DamageIsDataLoss) {
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

}  // namespace
}  // namespace sextant
