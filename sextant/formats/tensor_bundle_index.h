// The index of a checkpoint as a table of messages: a header under the empty key, an entry under
// the name of each tensor and under the key of each part of a sliced one (formats/ordered_code.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "sextant/base/file_system.h"
#include "sextant/formats/pending_file.h"
#include "sextant/formats/table.h"
#include "sextant/proto/tensor_bundle.pb.h"
#include "sextant/tensor/shape.h"

namespace sextant {

using BundleEntries = std::map<std::string, proto::BundleEntryProto, std::less<>>;

// Throws NOT_FOUND when there is no index of this prefix, DATA_LOSS when it is damaged.
std::unique_ptr<TableReader> OpenBundleIndex(FileSystem& files, const std::string& prefix);
// Throws DATA_LOSS when there is none, UNIMPLEMENTED when it asks for a newer reader.
proto::BundleHeaderProto ReadBundleHeader(const TableReader& index);
// Throws DATA_LOSS when the value does not parse.
proto::BundleEntryProto ParseBundleEntry(const TableReader& index, std::string_view key,
                                         std::string_view value);
// Throws INVALID_ARGUMENT on an unknown size.
Shape BundleEntryShape(const proto::BundleEntryProto& entry);

// The header of a bundle as this code writes them.
proto::BundleHeaderProto NewBundleHeader(int num_shards);
// Writes an index and brings it to disk, under its temporary name still.
void WriteBundleIndex(const proto::BundleHeaderProto& header, const BundleEntries& entries,
                      PendingFile& file);

}  // namespace sextant
