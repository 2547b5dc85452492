// V1 checkpoints, which TensorFlow wrote before its first release and its ops Save and Restore
// still do: each file is one table (formats/table.h) with the tensors in it as messages.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/formats/tensor_slice.h"
#include "sextant/tensor/tensor.h"

namespace sextant::proto {
class SavedTensorSliceMeta;
}  // namespace sextant::proto

namespace sextant {

class PendingFile;
class TableReader;
class TableWriter;

// Reads the tensors of all files that match a pattern. Errors are those of TensorBundleReader.
// Thread-safe.
class CheckpointV1Reader {
 public:
  // Throws NOT_FOUND when no file matches.
  explicit CheckpointV1Reader(const std::string& pattern);
  ~CheckpointV1Reader();

  bool Contains(std::string_view name) const { return tensors_.contains(name); }
  BundleTensorInfo Info(std::string_view name) const { return Find(name).info; }
  // All tensors, sorted by name.
  std::vector<BundleTensorInfo> Tensors() const;
  Tensor Read(std::string_view name) const;
  Tensor ReadSlice(std::string_view name, const TensorSlice& slice) const;

 private:
  struct Entry {
    BundleTensorInfo info;
    std::vector<const TableReader*> tables;  // of each slice
  };
  void AddTable(const TableReader& table);
  const Entry& Find(std::string_view name) const;
  Tensor ReadStored(const Entry& entry, const TensorSlice& slice) const;

  const std::string pattern_;
  std::vector<std::unique_ptr<TableReader>> tables_;
  std::map<std::string, Entry, std::less<>> tensors_;
};

// Writes a file of whole tensors and slices, with TensorFlow's bytes. Used by one thread.
class CheckpointV1Writer {
 public:
  explicit CheckpointV1Writer(std::string path) : path_(std::move(path)) {}

  // Throws INVALID_ARGUMENT on a name or slice that was added before, UNIMPLEMENTED on types that
  // V1 files do not hold (bfloat16, uint16 and newer ones).
  void Add(std::string_view name, const Tensor& tensor);
  void AddSlice(std::string_view name, const Shape& full_shape, const TensorSlice& slice,
                const Tensor& tensor);
  // Writes the file, all or nothing.
  void Finish();

 private:
  const std::string path_;
  std::map<std::string, BundleTensorInfo, std::less<>> infos_;
  std::map<std::string, std::string> values_;  // by key of the table
};

}  // namespace sextant
