#include "sextant/formats/checkpoint_v1.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/ordered_code.h"
#include "sextant/formats/pending_file.h"
#include "sextant/formats/slice_assembly.h"
#include "sextant/formats/table.h"
#include "sextant/proto/tensor_bundle.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

using proto::SavedTensorSlices;
using proto::TensorProto;

Error Damaged(const TableReader& table, std::string_view what) {
  return DataLoss("{}: damaged: {}", table.path(), what);
}

template <typename T, typename List>
void Fill(const Tensor& tensor, List* list) {
  for (const T& value : tensor.flat<T>()) list->Add(value);
}

template <typename T, typename List>
void FillComplex(const Tensor& tensor, List* list) {
  for (const std::complex<T>& value : tensor.flat<std::complex<T>>()) {
    list->Add(value.real());
    list->Add(value.imag());
  }
}

// The elements in the list of their type, which is all that V1 files store of a TensorProto.
void FillList(const Tensor& tensor, TensorProto* proto) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return Fill<float>(tensor, proto->mutable_float_val());
    case DType::kDouble:
      return Fill<double>(tensor, proto->mutable_double_val());
    case DType::kInt32:
      return Fill<int32_t>(tensor, proto->mutable_int_val());
    case DType::kUInt8:
      return Fill<uint8_t>(tensor, proto->mutable_int_val());
    case DType::kInt16:
      return Fill<int16_t>(tensor, proto->mutable_int_val());
    case DType::kInt8:
      return Fill<int8_t>(tensor, proto->mutable_int_val());
    case DType::kInt64:
      return Fill<int64_t>(tensor, proto->mutable_int64_val());
    case DType::kBool:
      return Fill<bool>(tensor, proto->mutable_bool_val());
    case DType::kHalf:
      return Fill<uint16_t>(tensor.BitCast(DType::kUInt16), proto->mutable_half_val());
    case DType::kQInt8:
      return Fill<int8_t>(tensor.BitCast(DType::kInt8), proto->mutable_int_val());
    case DType::kQUInt8:
      return Fill<uint8_t>(tensor.BitCast(DType::kUInt8), proto->mutable_int_val());
    case DType::kQInt32:
      return Fill<int32_t>(tensor.BitCast(DType::kInt32), proto->mutable_int_val());
    case DType::kComplex64:
      return FillComplex<float>(tensor, proto->mutable_scomplex_val());
    case DType::kComplex128:
      return FillComplex<double>(tensor, proto->mutable_dcomplex_val());
    case DType::kString:
      for (const std::string& value : tensor.flat<std::string>()) proto->add_string_val(value);
      return;
    default:
      throw Unimplemented("V1 checkpoints cannot hold the type {}; save V2 ones",
                          DTypeName(tensor.dtype()));
  }
}

}  // namespace

CheckpointV1Reader::CheckpointV1Reader(const std::string& pattern) : pattern_(pattern) {
  FileSystem& files = FileSystem::ForPath(pattern);
  std::vector<std::string> paths = files.Glob(pattern);
  if (paths.empty()) throw NotFound("{}: no such checkpoint file", pattern);
  for (const std::string& path : paths) {
    tables_.push_back(std::make_unique<TableReader>(files.NewReader(path), files.Stat(path).size));
    AddTable(*tables_.back());
  }
}

CheckpointV1Reader::~CheckpointV1Reader() = default;

void CheckpointV1Reader::AddTable(const TableReader& table) {
  const std::optional<std::string> value = table.Find("");
  SavedTensorSlices slices;
  if (!value || !slices.ParseFromString(*value) || !slices.has_meta()) {
    throw Damaged(table, "no list of tensors");
  }
  for (const auto& meta : slices.meta().tensor()) {
    Entry& entry = tensors_[meta.name()];
    BundleTensorInfo info;
    info.name = meta.name();
    info.dtype = static_cast<DType>(meta.type());
    try {
      info.shape = ShapeFromProto(meta.shape()).AsShape();
      for (const auto& slice : meta.slice()) {
        info.slices.push_back(TensorSlice::FromProto(slice));
        info.slices.back().In(info.shape);
      }
    } catch (const Error& e) {  // a bad entry of a file, not a bad argument
      throw Damaged(table, fmt::format("the entry of '{}': {}", meta.name(), e.message()));
    }
    if (entry.tables.empty()) {
      entry.info = info;
    } else if (entry.info.dtype != info.dtype || entry.info.shape != info.shape) {
      throw Damaged(
          table, fmt::format("'{}' has another type or shape than in another file", meta.name()));
    } else {
      entry.info.slices.insert(entry.info.slices.end(), info.slices.begin(), info.slices.end());
    }
    entry.tables.resize(entry.info.slices.size(), &table);
  }
}

const CheckpointV1Reader::Entry& CheckpointV1Reader::Find(std::string_view name) const {
  const auto it = tensors_.find(name);
  if (it == tensors_.end()) {
    throw NotFound("{}: there is no tensor '{}' in this checkpoint", pattern_, name);
  }
  return it->second;
}

std::vector<BundleTensorInfo> CheckpointV1Reader::Tensors() const {
  std::vector<BundleTensorInfo> all;
  for (const auto& [name, entry] : tensors_) all.push_back(entry.info);
  return all;
}

Tensor CheckpointV1Reader::Read(std::string_view name) const {
  const BundleTensorInfo& info = Find(name).info;
  return ReadSlice(name, TensorSlice::Full(info.shape.rank()));
}

Tensor CheckpointV1Reader::ReadSlice(std::string_view name, const TensorSlice& slice) const {
  const Entry& entry = Find(name);
  return AssembleSlice(pattern_, entry.info, slice.In(entry.info.shape),
                       [&](const TensorSlice& stored) { return ReadStored(entry, stored); });
}

Tensor CheckpointV1Reader::ReadStored(const Entry& entry, const TensorSlice& slice) const {
  const auto& slices = entry.info.slices;
  const TableReader& table =
      *entry.tables[std::find(slices.begin(), slices.end(), slice) - slices.begin()];
  const std::optional<std::string> value = table.Find(SliceKey(entry.info.name, slice));
  SavedTensorSlices saved;
  if (!value || !saved.ParseFromString(*value) || !saved.has_data()) {
    throw Damaged(table, fmt::format("no elements of '{}'", entry.info.name));
  }
  const Shape shape = slice.ShapeIn(entry.info.shape);
  // Each element takes a byte in its list at least; an empty or short list would mean repeats.
  if (static_cast<uint64_t>(shape.num_elements()) > value->size()) {
    throw Damaged(table, fmt::format("too few elements of '{}'", entry.info.name));
  }
  TensorProto& proto = *saved.mutable_data()->mutable_data();
  proto.set_dtype(static_cast<proto::DataType>(entry.info.dtype));
  ShapeToProto(shape, proto.mutable_tensor_shape());
  try {
    return TensorFromProto(proto);
  } catch (const Error& e) {  // a bad entry of a file, not a bad argument
    throw Damaged(table, fmt::format("the elements of '{}': {}", entry.info.name, e.message()));
  }
}

void CheckpointV1Writer::Add(std::string_view name, const Tensor& tensor) {
  AddSlice(name, tensor.shape(), TensorSlice::Full(tensor.rank()), tensor);
}

void CheckpointV1Writer::AddSlice(std::string_view name, const Shape& full_shape,
                                  const TensorSlice& slice, const Tensor& tensor) {
  if (tensor.shape() != slice.ShapeIn(full_shape)) {
    throw InvalidArgument("the slice {} of '{}' {} has another shape than its tensor {}",
                          slice.ToString(), name, full_shape.ToString(), tensor.Describe());
  }
  BundleTensorInfo& info = infos_[std::string(name)];
  if (info.slices.empty()) {
    info = {std::string(name), tensor.dtype(), full_shape, {}};
  } else if (info.dtype != tensor.dtype() || info.shape != full_shape) {
    throw InvalidArgument("'{}' was added before with another type or shape", name);
  }
  SavedTensorSlices saved;
  saved.mutable_data()->set_name(info.name);
  slice.ToProto(saved.mutable_data()->mutable_slice());
  FillList(tensor, saved.mutable_data()->mutable_data());
  if (!values_.emplace(SliceKey(name, slice), saved.SerializeAsString()).second) {
    throw InvalidArgument("'{}' is twice among the tensors of {}", name, path_);
  }
  info.slices.push_back(slice);
}

void CheckpointV1Writer::Finish() {
  FileSystem& files = FileSystem::ForPath(path_);
  SavedTensorSlices saved;
  saved.mutable_meta()->mutable_versions()->set_producer(1);
  for (const auto& [name, info] : infos_) {
    auto* meta = saved.mutable_meta()->add_tensor();
    meta->set_name(name);
    ShapeToProto(info.shape, meta->mutable_shape());
    meta->set_type(static_cast<proto::DataType>(info.dtype));
    for (const TensorSlice& slice : info.slices) slice.ToProto(meta->add_slice());
  }
  PendingFile file(files, path_);
  TableWriter table(file.writer());
  table.Add("", saved.SerializeAsString());
  for (const auto& [key, value] : values_) table.Add(key, value);
  table.Finish();
  file.SyncAndClose();
  file.Rename();
}

}  // namespace sextant
