// TensorBundleReader: reads a V2 checkpoint, the files PREFIX.index and PREFIX.data-SSSSS-of-NNNNN.
//
// Every byte given out has been checked against its CRC. Errors: NOT_FOUND when the index or a data
// file is missing or holds no such tensor (the message names it), DATA_LOSS with path and offset
// when bytes are damaged, INVALID_ARGUMENT when what is asked for does not fit what is stored,
// UNIMPLEMENTED for element types and versions this build does not know.
//
// Thread-safe. Opening reads the index's own index only, reading a tensor its bytes only; large
// tensors are read by the threads of the process's team straight into the result.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/formats/tensor_slice.h"
#include "sextant/tensor/dtype.h"
#include "sextant/tensor/shape.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

class FileSystem;

// A tensor in a checkpoint.
struct BundleTensorInfo {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;                      // of the whole tensor
  std::vector<TensorSlice> slices;  // the parts it is stored in; empty when it is stored whole
};

class TensorBundleReader {
 public:
  // Opens `prefix`, e.g. "runs/mnist/model.ckpt-200".
  explicit TensorBundleReader(const std::string& prefix);
  // The same in a given file system, which must outlive the reader.
  TensorBundleReader(FileSystem& files, std::string prefix);
  ~TensorBundleReader();
  TensorBundleReader(const TensorBundleReader&) = delete;
  TensorBundleReader& operator=(const TensorBundleReader&) = delete;

  const std::string& prefix() const;
  int num_shards() const;

  bool Contains(std::string_view name) const;
  BundleTensorInfo Info(std::string_view name) const;
  // All tensors, sorted by name.
  std::vector<BundleTensorInfo> Tensors() const;

  // A whole tensor; one stored in slices is put together, and INVALID_ARGUMENT is thrown when they
  // leave a gap.
  Tensor Read(std::string_view name) const;
  // A part of a tensor, whether it is stored whole or in other parts.
  Tensor ReadSlice(std::string_view name, const TensorSlice& slice) const;
  // Reads a whole tensor into the elements of *dst, which has its dtype and shape.
  void ReadInto(std::string_view name, Tensor* dst) const;

  // Where the bytes of tensors lie; parts of sliced tensors have their own entries. For tools.
  struct Location {
    std::string name;
    TensorSlice slice;  // Full unless it is a part
    DType dtype = DType::kInvalid;
    Shape shape;  // of the part
    int shard = 0;
    int64_t offset = 0;
    int64_t size = 0;
  };
  std::vector<Location> Locations() const;

 private:
  class Impl;
  const std::unique_ptr<const Impl> impl_;
};

// All tensors of a checkpoint by name.
std::map<std::string, Tensor> ReadCheckpoint(const std::string& prefix);

// "PREFIX.index" and "PREFIX.data-00000-of-00002".
std::string BundleIndexPath(std::string_view prefix);
std::string BundleDataPath(std::string_view prefix, int shard, int num_shards);

}  // namespace sextant
