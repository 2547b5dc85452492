#include "sextant/data/state.h"

#include <vector>

#include "sextant/base/coding.h"
#include "sextant/base/error.h"

namespace sextant::data {
namespace {

void AppendBytes(std::string* dst, std::string_view value) {
  PutVarint64(dst, value.size());
  dst->append(value);
}

std::string_view ReadBytes(std::string_view* src, std::string_view tag) {
  std::string_view value;
  if (!GetLengthPrefixed(src, &value)) {
    throw DataLoss("the saved state of the dataset ends within \"{}\"", tag);
  }
  return value;
}

uint64_t ReadNumber(std::string_view* src, std::string_view tag) {
  uint64_t value;
  if (!GetVarint64(src, &value)) {
    throw DataLoss("the saved state of the dataset ends within \"{}\"", tag);
  }
  return value;
}

void CheckTag(std::string_view* src, std::string_view tag) {
  const std::string_view found = ReadBytes(src, tag);
  if (found != tag) {
    throw DataLoss("the saved state of the dataset holds \"{}\" where \"{}\" is expected", found,
                   tag);
  }
}

void AppendTensor(std::string* dst, const Tensor& value) {
  PutVarint64(dst, static_cast<uint64_t>(value.dtype()));
  if (!value.valid()) return;
  PutVarint64(dst, value.rank());
  for (const int64_t dim : value.shape().dims()) PutVarint64(dst, dim);
  if (IsPlain(value.dtype())) {
    AppendBytes(dst, {static_cast<const char*>(value.raw_data()), value.bytes()});
  } else if (value.dtype() == DType::kString) {
    for (const std::string& text : value.flat<std::string>()) AppendBytes(dst, text);
  } else {
    throw Unimplemented("a tensor {} cannot be part of the saved state of a dataset",
                        value.Describe());
  }
}

Shape ReadShape(std::string_view* src, std::string_view tag) {
  const uint64_t rank = ReadNumber(src, tag);
  if (rank > kMaxRank) throw DataLoss("the saved state of the dataset holds rank {}", rank);
  std::vector<int64_t> dims(rank);
  for (int64_t& dim : dims) dim = static_cast<int64_t>(ReadNumber(src, tag));
  try {
    return Shape(dims);
  } catch (const Error& error) {  // what the shape's maker calls an argument is damage here
    throw DataLoss("the saved state of the dataset holds a bad shape: {}", error.message());
  }
}

Tensor ReadTensor(std::string_view* src, std::string_view tag) {
  const auto dtype = static_cast<DType>(ReadNumber(src, tag));
  if (dtype == DType::kInvalid) return {};
  const Shape shape = ReadShape(src, tag);
  const auto count = static_cast<uint64_t>(shape.num_elements());
  if (dtype == DType::kString) {
    if (count > src->size())
      throw DataLoss("the saved state of the dataset ends within \"{}\"", tag);
    Tensor tensor(dtype, shape);
    for (std::string& text : tensor.flat<std::string>()) text = ReadBytes(src, tag);
    return tensor;
  }
  const std::string_view bytes = ReadBytes(src, tag);
  if (!IsPlain(dtype) || DTypeSize(dtype) == 0 || bytes.size() / DTypeSize(dtype) != count ||
      bytes.size() % DTypeSize(dtype) != 0) {
    throw DataLoss("the saved state of the dataset holds a bad tensor in \"{}\"", tag);
  }
  Tensor tensor(dtype, shape);
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(tensor.raw_data()));
  return tensor;
}

}  // namespace

void StateWriter::PutInt(std::string_view tag, int64_t value) {
  AppendBytes(&bytes_, tag);
  PutVarint64(&bytes_, static_cast<uint64_t>(value));
}
void StateWriter::PutBytes(std::string_view tag, std::string_view value) {
  AppendBytes(&bytes_, tag);
  AppendBytes(&bytes_, value);
}
void StateWriter::PutTensor(std::string_view tag, const Tensor& value) {
  AppendBytes(&bytes_, tag);
  AppendTensor(&bytes_, value);
}
void StateWriter::PutElement(std::string_view tag, const Element& value) {
  AppendBytes(&bytes_, tag);
  PutVarint64(&bytes_, value.size());
  for (const auto& [name, tensor] : value.fields()) {
    AppendBytes(&bytes_, name);
    AppendTensor(&bytes_, tensor);
  }
}

int64_t StateReader::GetInt(std::string_view tag) {
  CheckTag(&bytes_, tag);
  return static_cast<int64_t>(ReadNumber(&bytes_, tag));
}
std::string StateReader::GetBytes(std::string_view tag) {
  CheckTag(&bytes_, tag);
  return std::string(ReadBytes(&bytes_, tag));
}
Tensor StateReader::GetTensor(std::string_view tag) {
  CheckTag(&bytes_, tag);
  return ReadTensor(&bytes_, tag);
}
Element StateReader::GetElement(std::string_view tag) {
  CheckTag(&bytes_, tag);
  Element element;
  for (uint64_t i = ReadNumber(&bytes_, tag); i > 0; --i) {
    std::string name(ReadBytes(&bytes_, tag));
    element.fields().emplace_back(std::move(name), ReadTensor(&bytes_, tag));
  }
  return element;
}

bool StateReader::NextIs(std::string_view tag) const {
  std::string_view rest = bytes_, found;
  return GetLengthPrefixed(&rest, &found) && found == tag;
}

}  // namespace sextant::data
