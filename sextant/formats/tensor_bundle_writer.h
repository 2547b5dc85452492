// TensorBundleWriter: writes a V2 checkpoint with one data file; MergeTensorBundles makes one with
// several of them. The bytes are those that TensorFlow writes for the same tensors in the same
// order.
//
// Files are written under temporary names. Only when all of it is on disk is the data file renamed,
// then the index, so a checkpoint whose index is there is complete, and other checkpoints are never
// touched. Where `prefix` itself names an older checkpoint, a crash between the two renames leaves
// its index with the new data: reading that is DATA_LOSS, never wrong values. Give every save a
// prefix of its own.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sextant/formats/tensor_slice.h"
#include "sextant/tensor/shape.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

class FileSystem;

struct TensorBundleWriterOptions {
  // Tensors begin at multiples of this in the data file.
  int64_t alignment = 1;
  // Where to write; null: the file system of the prefix's scheme. Must outlive the writer.
  FileSystem* files = nullptr;
};

// Used by one thread at a time. Throws what the file system throws.
class TensorBundleWriter {
 public:
  // Creates the directory of `prefix` when it is missing.
  explicit TensorBundleWriter(std::string prefix, TensorBundleWriterOptions options = {});
  // Removes what was written unless Finish has returned.
  ~TensorBundleWriter();
  TensorBundleWriter(const TensorBundleWriter&) = delete;
  TensorBundleWriter& operator=(const TensorBundleWriter&) = delete;

  // Appends a tensor. Its bytes are written at once and not kept. Throws INVALID_ARGUMENT on a name
  // that is empty or was there before, UNIMPLEMENTED on resources and on variants without a proto
  // form.
  void Add(std::string_view name, const Tensor& tensor);
  // Appends a part of a tensor of shape `full_shape`. Parts of one tensor may be in several bundles
  // that are merged later.
  void AddSlice(std::string_view name, const Shape& full_shape, const TensorSlice& slice,
                const Tensor& tensor);
  // Puts the checkpoint in place; it survives a loss of power when this returns.
  void Finish();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

struct MergeTensorBundlesOptions {
  // Prefixes without an index are passed over, unless all are.
  bool allow_missing_files = false;
  FileSystem* files = nullptr;  // as above
};

// Makes one checkpoint of several, in this order: data files are renamed, indexes merged and the
// old ones deleted. Throws INVALID_ARGUMENT when one of them is missing, and when a tensor is in
// two of them, other than in different slices.
void MergeTensorBundles(std::span<const std::string> prefixes, const std::string& destination,
                        const MergeTensorBundlesOptions& options = {});

// Writes a checkpoint of these tensors, sorted by name.
void WriteCheckpoint(const std::string& prefix, const std::map<std::string, Tensor>& tensors);

}  // namespace sextant
