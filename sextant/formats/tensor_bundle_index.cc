#include "sextant/formats/tensor_bundle_index.h"

#include <algorithm>

#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

constexpr int kVersion = 1;  // of bundles that this code writes and reads

}  // namespace

std::unique_ptr<TableReader> OpenBundleIndex(FileSystem& files, const std::string& prefix) {
  const std::string path = BundleIndexPath(prefix);
  if (!files.Exists(path)) {
    throw NotFound("{}: there is no such checkpoint ({} does not exist)", prefix, path);
  }
  return std::make_unique<TableReader>(files.NewReader(path), files.Stat(path).size);
}

proto::BundleHeaderProto ReadBundleHeader(const TableReader& index) {
  proto::BundleHeaderProto header;
  const std::optional<std::string> value = index.Find("");
  if (!value || !header.ParseFromString(*value) || header.num_shards() < 0) {
    throw DataLoss("{}: damaged at offset 0: no header of a checkpoint", index.path());
  }
  const proto::VersionDef& version = header.version();
  const auto& bad = version.bad_consumers();
  if (version.min_consumer() > kVersion ||
      std::find(bad.begin(), bad.end(), kVersion) != bad.end()) {
    throw Unimplemented("{}: needs a reader of checkpoint version {}, this one reads version {}",
                        index.path(), std::max(version.min_consumer(), kVersion + 1), kVersion);
  }
  return header;
}

proto::BundleEntryProto ParseBundleEntry(const TableReader& index, std::string_view key,
                                         std::string_view value) {
  proto::BundleEntryProto entry;
  if (!entry.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    throw DataLoss("{}: the entry of '{}' does not parse", index.path(), key);
  }
  return entry;
}

Shape BundleEntryShape(const proto::BundleEntryProto& entry) {
  const PartialShape shape = ShapeFromProto(entry.shape());
  if (!shape.fully_known()) throw InvalidArgument("a stored tensor of shape {}", shape.ToString());
  return shape.AsShape();
}

proto::BundleHeaderProto NewBundleHeader(int num_shards) {
  proto::BundleHeaderProto header;
  header.set_num_shards(num_shards);
  header.mutable_version()->set_producer(kVersion);
  return header;
}

void WriteBundleIndex(const proto::BundleHeaderProto& header, const BundleEntries& entries,
                      PendingFile& file) {
  TableWriter table(file.writer());
  table.Add("", header.SerializeAsString());
  for (const auto& [key, entry] : entries) table.Add(key, entry.SerializeAsString());
  table.Finish();
  file.SyncAndClose();
}

}  // namespace sextant
