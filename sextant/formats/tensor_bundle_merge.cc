#include <set>

#include "sextant/base/error.h"
#include "sextant/formats/tensor_bundle_index.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/formats/tensor_bundle_writer.h"

namespace sextant {
namespace {

using proto::BundleEntryProto;
using proto::BundleHeaderProto;

class Merger {
 public:
  Merger(FileSystem& files, const std::string& destination)
      : files_(files), destination_(destination) {}

  void AddBundle(const std::string& prefix) {
    const std::unique_ptr<TableReader> index = OpenBundleIndex(files_, prefix);
    const BundleHeaderProto header = ReadBundleHeader(*index);
    if (prefixes_.empty()) {
      header_ = header;
    } else if (header.endianness() != header_.endianness() ||
               header.version().SerializeAsString() != header_.version().SerializeAsString()) {
      throw InvalidArgument("{} and {} cannot be merged: they differ in byte order or version",
                            prefixes_.front(), prefix);
    }
    prefixes_.push_back(prefix);
    index->Scan("", [&](std::string_view key, std::string_view value) {
      if (!key.empty())
        AddEntry(prefix, header.num_shards(), key, ParseBundleEntry(*index, key, value));
      return true;
    });
  }

  void Finish() {
    header_.set_num_shards(static_cast<int>(shards_.size()));
    PendingFile index(files_, BundleIndexPath(destination_));
    WriteBundleIndex(header_, entries_, index);
    for (const auto& [path, shard] : shards_) {
      const std::string to = BundleDataPath(destination_, shard, header_.num_shards());
      if (path != to) files_.Rename(path, to);
    }
    files_.SyncDirectory(std::string(DirectoryName(destination_)));
    index.Rename();
    for (const std::string& prefix : prefixes_) {
      if (prefix != destination_) files_.Delete(BundleIndexPath(prefix));
    }
  }

 private:
  void AddEntry(const std::string& prefix, int num_shards, std::string_view key,
                BundleEntryProto entry) {
    const auto [it, is_new] = entries_.try_emplace(std::string(key));
    BundleEntryProto& merged = it->second;
    if (is_new) {
      const std::string path = BundleDataPath(prefix, entry.shard_id(), num_shards);
      const int next = static_cast<int>(shards_.size());
      entry.set_shard_id(shards_.try_emplace(path, next).first->second);
      merged = std::move(entry);
      return;
    }
    if (merged.slices().empty() || entry.slices().empty()) {
      throw InvalidArgument("'{}' is in {} and in another checkpoint it is to be merged with", key,
                            prefix);
    }
    if (merged.dtype() != entry.dtype() || BundleEntryShape(merged) != BundleEntryShape(entry)) {
      throw InvalidArgument("the slices of '{}' in {} have another type or shape than those before",
                            key, prefix);
    }
    merged.mutable_slices()->MergeFrom(entry.slices());
  }

  FileSystem& files_;
  const std::string& destination_;
  std::vector<std::string> prefixes_;
  BundleHeaderProto header_;
  BundleEntries entries_;
  std::map<std::string, int> shards_;  // by the path of the data file, numbered by first use
};

}  // namespace

void MergeTensorBundles(std::span<const std::string> prefixes, const std::string& destination,
                        const MergeTensorBundlesOptions& options) {
  FileSystem& files = options.files ? *options.files : FileSystem::ForPath(destination);
  Merger merger(files, destination);
  bool any = false;
  for (const std::string& prefix : prefixes) {
    if (!files.Exists(BundleIndexPath(prefix))) {
      if (options.allow_missing_files) continue;
      throw InvalidArgument("{}: cannot be made of {}, which does not exist", destination, prefix);
    }
    merger.AddBundle(prefix);
    any = true;
  }
  if (!any)
    throw InvalidArgument("{}: none of the checkpoints to be merged into it exists", destination);
  if (const std::string directory(DirectoryName(destination)); !directory.empty()) {
    files.CreateDirectories(directory);
  }
  merger.Finish();
}

}  // namespace sextant
