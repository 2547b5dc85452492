// Checkpoints: every element type, slices, two data files, thousands of variables, and the state of
// a directory. Elements are bytes 37 k + 11, so that the reading side can make them itself.
#include <fmt/format.h>

#include "sextant/base/file_system.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/checkpoint_v1.h"
#include "sextant/formats/tensor_bundle_writer.h"
#include "tests/interop/writers.h"

namespace sextant::interop {
namespace {

Tensor Patterned(DType dtype, const Shape& shape) {
  Tensor tensor(dtype, shape);
  auto* bytes = static_cast<char*>(tensor.raw_data());
  for (size_t k = 0; k < tensor.bytes(); ++k) {
    bytes[k] = static_cast<char>(dtype == DType::kBool ? k % 2 : 37 * k + 11);
  }
  return tensor;
}

std::map<std::string, Tensor> EveryType() {
  std::map<std::string, Tensor> tensors;
  for (int number = 1; number <= static_cast<int>(DType::kUInt64); ++number) {
    const auto dtype = static_cast<DType>(number);
    if (!IsPlain(dtype)) continue;
    tensors["t/" + DTypeName(dtype)] = Patterned(dtype, {2, 3});
    tensors["s/" + DTypeName(dtype)] = Patterned(dtype, {});
    tensors["e/" + DTypeName(dtype)] = Patterned(dtype, {0, 3});
  }
  tensors["t/string"] = Tensor::Of<std::string>(
      {2, 2}, {"", "abc", std::string(70000, 'x'), std::string("\0\xFF", 2)});
  tensors["s/string"] = Tensor("scalar text");
  tensors["e/string"] = Tensor(DType::kString, {0});
  return tensors;
}

void AddParts(TensorBundleWriter& writer, int first, int last) {
  const Tensor rows = Patterned(DType::kInt32, {7, 4});
  const int bounds[] = {0, 3, 5, 7};
  for (int i = first; i < last; ++i) {
    const int64_t begin = bounds[i], size = bounds[i + 1] - begin;
    writer.AddSlice("scope/rows", {7, 4}, TensorSlice({{begin, size}, {0, 4}}),
                    rows.Rows(begin, begin + size));
  }
}

}  // namespace

void WriteCheckpoints(const std::string& folder) {
  const auto path = [&](const char* name) { return JoinPath(folder, name); };
  WriteCheckpoint(path("types"), EveryType());

  std::map<std::string, Tensor> many;
  for (int i = 0; i < 3000; ++i) {
    many[fmt::format("layer_{}/some_longer_scope/kernel", i)] =
        Patterned(DType::kFloat, {i % 7, 3});
  }
  WriteCheckpoint(path("many"), many);

  TensorBundleWriter slices(path("slices"));
  AddParts(slices, 0, 3);
  slices.Finish();

  const std::string parts[] = {path("temp/part-00000-of-00002"), path("temp/part-00001-of-00002")};
  for (int shard = 0; shard < 2; ++shard) {
    TensorBundleWriter writer(parts[shard]);
    writer.Add(fmt::format("only_{}", shard), Patterned(DType::kDouble, {5}));
    AddParts(writer, shard, 2 * shard + 1);
    writer.Finish();
  }
  MergeTensorBundles(parts, path("sharded"));

  TensorBundleWriter aligned(path("aligned"), {.alignment = 64});
  aligned.Add("a", Patterned(DType::kInt8, {3}));
  aligned.Add("b", Patterned(DType::kFloat, {5}));
  aligned.Finish();

  CheckpointV1Writer v1(path("v1"));
  v1.Add("a", Patterned(DType::kInt32, {3}));
  v1.AddSlice("w", {2, 2}, TensorSlice::Parse("0,1:-"), Patterned(DType::kInt32, {1, 2}));
  v1.AddSlice("w", {2, 2}, TensorSlice::Parse("1,1:-"), Patterned(DType::kInt32, {1, 2}));
  v1.Finish();

  WriteCheckpointState(folder,
                       {path("types"), {path("many"), path("types")}, {1.5e9, 1.5e9 + 0.25}});
}

}  // namespace sextant::interop
