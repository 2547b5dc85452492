// What the tests of tensor bundles have in common: a bundle in memory.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "sextant/base/error.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/formats/tensor_bundle_writer.h"
#include "sextant/testing/status_of.h"

namespace sextant {

inline const std::string kPrefix = "dir/model.ckpt-7";
inline const std::string kData = kPrefix + ".data-00000-of-00001";

class TensorBundleTest : public testing::Test {
 protected:
  using Tensors = std::map<std::string, Tensor>;

  void Write(const Tensors& tensors, int64_t alignment = 1) {
    TensorBundleWriter writer(kPrefix, {.alignment = alignment, .files = &files_});
    for (const auto& [name, tensor] : tensors) writer.Add(name, tensor);
    writer.Finish();
  }
  Tensor Read(std::string_view name) { return TensorBundleReader(files_, kPrefix).Read(name); }

  MemoryFileSystem files_;
};

// Elements that differ.
inline Tensor Bytes(DType dtype, const Shape& shape) {
  Tensor tensor(dtype, shape);
  auto* bytes = static_cast<char*>(tensor.raw_data());
  for (size_t i = 0; i < tensor.bytes(); ++i) {
    bytes[i] = static_cast<char>(dtype == DType::kBool ? i % 2 : i * 37 + 11);
  }
  return tensor;
}

}  // namespace sextant
