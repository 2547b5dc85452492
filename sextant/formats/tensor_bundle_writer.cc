// A V2 checkpoint is two kinds of files. PREFIX.data-00000-of-00001 has the bytes of the tensors,
// one behind the other, and nothing else. PREFIX.index is a table (table.h) from a tensor's name to
// a BundleEntryProto: type, shape, shard, offset, size and checksum; the empty key has the header.
// A tensor that is saved in parts, e.g. a partitioned variable, has an entry with the list of its
// slices, and for each slice an entry of its own under an encoded key (ordered_code.h) that sorts
// behind the name.
//
//   ""        → header {shards: 1}
//   "bias"    → {float, [10], offset 0, size 40, crc}
//   "weights" → {float, [784, 10], offset 40, size 31360, crc}
//
// Data is streamed to the file as tensors are added; entries wait in a map, because the index must
// be sorted, and are written by Finish.
//
// Invariant for crashes: an index that is there under its final name is complete, and so is the
// data it points to. Both files are written under temporary names and synced; then the data is
// renamed, then the index, with the directory synced after each. A process killed before the second
// rename leaves no index, so no checkpoint; the temporaries are deleted by a later save.
#include "sextant/formats/tensor_bundle_writer.h"

#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_file.h"
#include "sextant/formats/ordered_code.h"
#include "sextant/formats/pending_file.h"
#include "sextant/formats/tensor_bundle_entry.h"
#include "sextant/formats/tensor_bundle_index.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

using proto::BundleEntryProto;
FileSystem& FilesOf(FileSystem* given, const std::string& prefix) {
  return given ? *given : FileSystem::ForPath(prefix);
}

void CreateDirectoryOf(FileSystem& files, const std::string& prefix) {
  if (const std::string directory(DirectoryName(prefix)); !directory.empty()) {
    files.CreateDirectories(directory);
  }
}

FileSystem& Prepared(FileSystem& files, const std::string& prefix) {
  if (prefix.empty() || prefix.ends_with('/')) {
    throw InvalidArgument("'{}' is not a prefix of files for a checkpoint", prefix);
  }
  CreateDirectoryOf(files, prefix);
  return files;
}

}  // namespace

class TensorBundleWriter::Impl {
 public:
  Impl(std::string prefix, const TensorBundleWriterOptions& options)
      : prefix_(std::move(prefix)),
        alignment_(options.alignment),
        files_(Prepared(FilesOf(options.files, prefix_), prefix_)),
        data_(files_, BundleDataPath(prefix_, 0, 1)) {
    if (alignment_ < 1) throw InvalidArgument("an alignment of {} bytes", alignment_);
  }

  void Add(std::string_view name, const Tensor& tensor) {
    CheckOpen();
    CheckNew(name);
    Append(std::string(name), tensor);
  }

  void AddSlice(std::string_view name, const Shape& full_shape, const TensorSlice& slice,
                const Tensor& tensor) {
    if (tensor.shape() != slice.ShapeIn(full_shape)) {
      throw InvalidArgument("the slice {} of '{}' {} has another shape than its tensor {}",
                            slice.ToString(), name, full_shape.ToString(), tensor.Describe());
    }
    if (slice.Covers(full_shape)) return Add(name, tensor);
    CheckOpen();
    const auto full = entries_.find(name);
    if (full == entries_.end()) {
      CheckNew(name);
    } else if (full->second.slices().empty() || BundleEntryShape(full->second) != full_shape ||
               full->second.dtype() != static_cast<int>(tensor.dtype())) {
      throw InvalidArgument("'{}' was added before with another type or shape, or whole", name);
    }
    const std::string key = SliceKey(name, slice);
    if (entries_.contains(key)) {
      throw InvalidArgument("the slice {} of '{}' was added before", slice.ToString(), name);
    }
    Append(key, tensor);
    BundleEntryProto& entry = entries_[std::string(name)];
    entry.set_dtype(static_cast<proto::DataType>(tensor.dtype()));
    ShapeToProto(full_shape, entry.mutable_shape());
    slice.ToProto(entry.add_slices());
  }

  void Finish() {
    CheckOpen();
    open_ = false;
    data_.SyncAndClose();
    PendingFile index(files_, BundleIndexPath(prefix_));
    WriteBundleIndex(NewBundleHeader(1), entries_, index);
    data_.Rename();
    index.Rename();
    // What killed saves left, those of earlier steps too.
    std::string_view base = BaseName(prefix_);
    const size_t stem = base.find_last_not_of("0123456789");
    if (stem != base.npos && base[stem] == '-') base = base.substr(0, stem);
    DeleteStaleTemporaries(files_, std::string(DirectoryName(prefix_)), base);
  }

 private:
  void CheckOpen() const {
    if (!open_) throw FailedPrecondition("{}: this checkpoint is finished or has failed", prefix_);
  }

  void CheckNew(std::string_view name) const {
    if (name.empty() || name[0] == '\0') throw InvalidArgument("a tensor without a name");
    if (entries_.contains(name)) {
      throw InvalidArgument("'{}' is twice among the tensors of {}", name, prefix_);
    }
  }

  void Append(std::string key, const Tensor& tensor) {
    BundleEntryProto entry;
    entry.set_dtype(static_cast<proto::DataType>(tensor.dtype()));
    ShapeToProto(tensor.shape(), entry.mutable_shape());
    open_ = false;  // after an error the offsets would be wrong
    const WrittenTensor written = AppendElements(data_.writer(), tensor);
    entry.set_offset(offset_);
    entry.set_size(written.size);
    entry.set_crc32c(MaskCrc32c(written.crc));
    offset_ += written.size;
    if (const int64_t rest = offset_ % alignment_; rest != 0) {
      data_.writer().Append(std::string(alignment_ - rest, '\0'));
      offset_ += alignment_ - rest;
    }
    open_ = true;
    entries_.emplace(std::move(key), std::move(entry));
  }

  const std::string prefix_;
  const int64_t alignment_;
  FileSystem& files_;
  PendingFile data_;
  int64_t offset_ = 0;
  BundleEntries entries_;
  bool open_ = true;
};

TensorBundleWriter::TensorBundleWriter(std::string prefix, TensorBundleWriterOptions options)
    : impl_(std::make_unique<Impl>(std::move(prefix), options)) {}
TensorBundleWriter::~TensorBundleWriter() = default;

void TensorBundleWriter::Add(std::string_view name, const Tensor& tensor) {
  impl_->Add(name, tensor);
}
void TensorBundleWriter::AddSlice(std::string_view name, const Shape& full_shape,
                                  const TensorSlice& slice, const Tensor& tensor) {
  impl_->AddSlice(name, full_shape, slice, tensor);
}
void TensorBundleWriter::Finish() { impl_->Finish(); }

void WriteCheckpoint(const std::string& prefix, const std::map<std::string, Tensor>& tensors) {
  TensorBundleWriter writer(prefix);
  for (const auto& [name, tensor] : tensors) writer.Add(name, tensor);
  writer.Finish();
}

}  // namespace sextant
