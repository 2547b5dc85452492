// Reads V2 checkpoints (tensor_bundle_writer.cc says how they are laid out). The index is a table:
// only its own index block is read on opening, so that a checkpoint with many thousands of tensors
// opens in the time of a few reads; an entry is found when its tensor is asked for.
//
// A tensor stored in slices is put together by copying the intersection of each stored slice with
// the wanted one (slice_assembly.h). Example: rows 0–5 and 5–10 of [10, 4] are stored, rows 3–7 are
// asked for: rows 3–5 come from the first, 5–7 from the second. Every wanted element must be in
// exactly one stored slice: where the sizes of the intersections add up, elements are marked, since
// an overlap could hide a gap.
//
// Invariant: no element is given out whose checksum was not compared. A part of a tensor is
// therefore read with the whole of the slice that holds it.
#include "sextant/formats/tensor_bundle_reader.h"

#include <algorithm>
#include <mutex>

#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/ordered_code.h"
#include "sextant/formats/slice_assembly.h"
#include "sextant/formats/tensor_bundle_entry.h"
#include "sextant/formats/tensor_bundle_index.h"

namespace sextant {
namespace {

using proto::BundleEntryProto;

Error WrongEntry(const TableReader& table, std::string_view name, std::string_view what) {
  return DataLoss("{}: the entry of '{}' {}", table.path(), name, what);
}

}  // namespace

class TensorBundleReader::Impl {
 public:
  Impl(FileSystem& files, std::string prefix)
      : files_(files),
        prefix_(std::move(prefix)),
        table_(OpenBundleIndex(files_, prefix_)),
        header_(ReadBundleHeader(*table_)) {}

  const std::string& prefix() const { return prefix_; }
  int num_shards() const { return header_.num_shards(); }
  const TableReader& table() const { return *table_; }

  std::optional<BundleEntryProto> Find(std::string_view name) const {
    if (name.empty()) return std::nullopt;
    const std::optional<std::string> value = table_->Find(name);
    if (!value) return std::nullopt;
    return ParseBundleEntry(*table_, name, *value);
  }

  BundleEntryProto Get(std::string_view name) const {
    if (auto entry = Find(name)) return *entry;
    throw NotFound("{}: there is no tensor '{}' in this checkpoint", prefix_, name);
  }

  BundleTensorInfo Info(std::string_view name, const BundleEntryProto& entry) const {
    BundleTensorInfo info;
    info.name = name;
    info.dtype = static_cast<DType>(entry.dtype());
    if (static_cast<int>(info.dtype) != entry.dtype() || DTypeSize(info.dtype) == 0) {
      throw Unimplemented("{}: '{}' has the element type {}, which is not known here",
                          table_->path(), name, static_cast<int>(entry.dtype()));
    }
    try {
      info.shape = BundleEntryShape(entry);
      for (const auto& slice : entry.slices()) {
        info.slices.push_back(TensorSlice::FromProto(slice));
        info.slices.back().In(info.shape);
      }
    } catch (const Error& e) {  // a bad entry of a file, not a bad argument
      throw WrongEntry(*table_, name, "is wrong: " + e.message());
    }
    return info;
  }

  // Where the elements of an entry are.
  StoredTensor Stored(std::string_view name, const BundleEntryProto& entry) const {
    const int shard = entry.shard_id();
    if (shard < 0 || shard >= header_.num_shards() || entry.offset() < 0 || entry.size() < 0) {
      throw WrongEntry(*table_, name,
                       fmt::format("names shard {} of {}, offset {} and size {}", shard,
                                   header_.num_shards(), entry.offset(), entry.size()));
    }
    const Shard& file = OpenShard(shard);
    return {.file = file.reader.get(),
            .file_size = file.size,
            .offset = static_cast<uint64_t>(entry.offset()),
            .size = static_cast<uint64_t>(entry.size()),
            .crc = UnmaskCrc32c(entry.crc32c()),
            .big_endian = header_.endianness() == proto::BundleHeaderProto::BIG,
            .name = std::string(name)};
  }

  void ReadStored(std::string_view name, const BundleEntryProto& entry, Tensor* dst) const {
    const StoredTensor stored = Stored(name, entry);
    CheckStoredSize(stored, dst->dtype(), dst->shape());
    ReadElements(stored, dst);
  }

  // A tensor or part that is stored in one piece.
  Tensor ReadPiece(std::string_view name, const BundleEntryProto& entry) const {
    const BundleTensorInfo info = Info(name, entry);
    const StoredTensor stored = Stored(name, entry);
    CheckStoredSize(stored, info.dtype, info.shape);
    Tensor tensor(info.dtype, info.shape);
    ReadElements(stored, &tensor);
    return tensor;
  }

  BundleEntryProto PartEntry(const BundleTensorInfo& info, const TensorSlice& slice) const {
    const std::optional<BundleEntryProto> entry = Find(SliceKey(info.name, slice));
    if (!entry) {
      throw WrongEntry(*table_, info.name,
                       "names a slice " + slice.ToString() + " that is not there");
    }
    const BundleTensorInfo part = Info(info.name, *entry);
    if (part.dtype != info.dtype || part.shape != slice.ShapeIn(info.shape)) {
      throw WrongEntry(*table_, info.name, "does not agree with its slice " + slice.ToString());
    }
    return *entry;
  }

  // `wanted` is made by In.
  Tensor ReadPart(const BundleTensorInfo& info, const TensorSlice& wanted) const {
    return AssembleSlice(prefix_, info, wanted, [&](const TensorSlice& slice) {
      return ReadPiece(info.name, PartEntry(info, slice));
    });
  }

 private:
  struct Shard {
    std::unique_ptr<FileReader> reader;
    uint64_t size = 0;
  };

  const Shard& OpenShard(int shard) const {
    std::lock_guard lock(mutex_);
    Shard& file = shards_[shard];
    if (file.reader == nullptr) {
      const std::string path = BundleDataPath(prefix_, shard, header_.num_shards());
      if (!files_.Exists(path)) {
        throw NotFound("{}: this file of the checkpoint {} is missing", path, prefix_);
      }
      file.size = files_.Stat(path).size;
      file.reader = files_.NewReader(path);
    }
    return file;
  }

  FileSystem& files_;
  const std::string prefix_;
  const std::unique_ptr<TableReader> table_;
  const proto::BundleHeaderProto header_;
  mutable std::mutex mutex_;
  mutable std::map<int, Shard> shards_;
};

TensorBundleReader::TensorBundleReader(const std::string& prefix)
    : TensorBundleReader(FileSystem::ForPath(prefix), prefix) {}
TensorBundleReader::TensorBundleReader(FileSystem& files, std::string prefix)
    : impl_(std::make_unique<const Impl>(files, std::move(prefix))) {}
TensorBundleReader::~TensorBundleReader() = default;

const std::string& TensorBundleReader::prefix() const { return impl_->prefix(); }
int TensorBundleReader::num_shards() const { return impl_->num_shards(); }

bool TensorBundleReader::Contains(std::string_view name) const {
  return impl_->Find(name).has_value();
}

BundleTensorInfo TensorBundleReader::Info(std::string_view name) const {
  return impl_->Info(name, impl_->Get(name));
}

std::vector<BundleTensorInfo> TensorBundleReader::Tensors() const {
  std::vector<BundleTensorInfo> all;
  // The header's key is empty, and those of slices begin with a zero byte.
  impl_->table().Scan("\1", [&](std::string_view name, std::string_view value) {
    all.push_back(impl_->Info(name, ParseBundleEntry(impl_->table(), name, value)));
    return true;
  });
  return all;
}

Tensor TensorBundleReader::Read(std::string_view name) const {
  const BundleEntryProto entry = impl_->Get(name);
  if (entry.slices().empty()) return impl_->ReadPiece(name, entry);
  const BundleTensorInfo info = impl_->Info(name, entry);
  return impl_->ReadPart(info, TensorSlice::Full(info.shape.rank()).In(info.shape));
}

Tensor TensorBundleReader::ReadSlice(std::string_view name, const TensorSlice& slice) const {
  const BundleEntryProto entry = impl_->Get(name);
  const BundleTensorInfo info = impl_->Info(name, entry);
  const TensorSlice wanted = slice.In(info.shape);
  if (!entry.slices().empty()) return impl_->ReadPart(info, wanted);
  Tensor whole = impl_->ReadPiece(name, entry);
  if (wanted.Covers(info.shape)) return whole;
  Tensor part(info.dtype, wanted.ShapeIn(info.shape));
  CopyCommonElements(TensorSlice::Full(info.shape.rank()).In(info.shape), whole, wanted, &part);
  return part;
}

void TensorBundleReader::ReadInto(std::string_view name, Tensor* dst) const {
  const BundleEntryProto entry = impl_->Get(name);
  const BundleTensorInfo info = impl_->Info(name, entry);
  if (dst->dtype() != info.dtype || dst->shape() != info.shape) {
    throw InvalidArgument("{}: '{}' is {}{}, not {}", prefix(), name, DTypeName(info.dtype),
                          info.shape.ToString(), dst->Describe());
  }
  if (entry.slices().empty()) return impl_->ReadStored(name, entry, dst);
  const TensorSlice whole = TensorSlice::Full(info.shape.rank()).In(info.shape);
  CopyCommonElements(whole, impl_->ReadPart(info, whole), whole, dst);
}

std::vector<TensorBundleReader::Location> TensorBundleReader::Locations() const {
  std::vector<Location> all;
  const auto add = [&](const BundleTensorInfo& info, TensorSlice slice, const Shape& shape,
                       const BundleEntryProto& entry) {
    all.push_back({info.name, std::move(slice), info.dtype, shape, entry.shard_id(), entry.offset(),
                   entry.size()});
  };
  for (const BundleTensorInfo& info : Tensors()) {
    if (info.slices.empty()) {
      add(info, TensorSlice::Full(info.shape.rank()), info.shape, impl_->Get(info.name));
    }
    for (const TensorSlice& slice : info.slices) {
      add(info, slice, slice.ShapeIn(info.shape), impl_->PartEntry(info, slice));
    }
  }
  return all;
}

std::map<std::string, Tensor> ReadCheckpoint(const std::string& prefix) {
  const TensorBundleReader reader(prefix);
  std::map<std::string, Tensor> tensors;
  for (const BundleTensorInfo& info : reader.Tensors()) {
    tensors.emplace(info.name, reader.Read(info.name));
  }
  return tensors;
}

std::string BundleIndexPath(std::string_view prefix) { return fmt::format("{}.index", prefix); }

std::string BundleDataPath(std::string_view prefix, int shard, int num_shards) {
  return fmt::format("{}.data-{:05}-of-{:05}", prefix, shard, num_shards);
}

}  // namespace sextant
