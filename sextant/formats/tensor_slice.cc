#include "sextant/formats/tensor_slice.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/parse_number.h"
#include "sextant/proto/tensor_bundle.pb.h"

namespace sextant {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0;;) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    if (end == text.size()) return parts;
    at = end + 1;
  }
}

int64_t Number(std::string_view digits, std::string_view whole) {
  int64_t value = 0;
  if (!ParseNumber(digits, &value)) {
    throw InvalidArgument("'{}' is not a number in the slice '{}'", digits, whole);
  }
  return value;
}

// Row-major strides of the elements of a slice made by In.
std::vector<int64_t> Strides(const TensorSlice& slice) {
  std::vector<int64_t> strides(slice.rank(), 1);
  for (int i = slice.rank() - 2; i >= 0; --i) {
    strides[i] = strides[i + 1] * slice.extent(i + 1).length;
  }
  return strides;
}

}  // namespace

TensorSlice TensorSlice::Full(int rank) {
  TensorSlice slice;
  slice.extents_.resize(rank);
  return slice;
}

TensorSlice::TensorSlice(std::vector<Extent> extents) : extents_(std::move(extents)) {
  if (rank() > kMaxRank) throw InvalidArgument("a slice of rank {} is too large", rank());
  for (const Extent& extent : extents_) {
    if (extent.full() ? extent.start != 0 : extent.start < 0 || extent.length < 1) {
      throw InvalidArgument("start {} and length {} are not part of a dimension", extent.start,
                            extent.length);
    }
  }
}

TensorSlice TensorSlice::Parse(std::string_view text) {
  std::vector<Extent> extents;
  for (const std::string_view part : Split(text, ':')) {
    if (part == "-") {
      extents.emplace_back();
      continue;
    }
    const std::vector<std::string_view> numbers = Split(part, ',');
    if (numbers.size() != 2) {
      throw InvalidArgument("'{}' in the slice '{}' is neither start,length nor -", part, text);
    }
    const Extent extent{Number(numbers[0], text), Number(numbers[1], text)};
    if (extent.start < 0 || extent.length < 1) {
      throw InvalidArgument("the slice '{}' has a negative start or a length below 1", text);
    }
    extents.push_back(extent);
  }
  return TensorSlice(std::move(extents));
}

TensorSlice TensorSlice::FromProto(const proto::TensorSliceProto& proto) {
  std::vector<Extent> extents;
  for (const auto& extent : proto.extent()) {
    const bool has_length = extent.has_length_case() != extent.HAS_LENGTH_NOT_SET;
    if (has_length && extent.length() == kFull) {
      throw InvalidArgument("a slice has a length of -1");
    }
    extents.push_back({extent.start(), has_length ? extent.length() : kFull});
  }
  return TensorSlice(std::move(extents));
}

bool TensorSlice::full() const {
  return std::all_of(extents_.begin(), extents_.end(), [](const Extent& e) { return e.full(); });
}

Shape TensorSlice::ShapeIn(const Shape& tensor) const {
  const TensorSlice slice = In(tensor);
  std::vector<int64_t> dims;
  for (const Extent& extent : slice.extents_) dims.push_back(extent.length);
  return Shape(dims);
}

TensorSlice TensorSlice::In(const Shape& tensor) const {
  TensorSlice slice = *this;
  bool inside = rank() == tensor.rank();
  for (int i = 0; i < rank() && inside; ++i) {
    Extent& extent = slice.extents_[i];
    if (extent.full()) extent.length = tensor.dim(i);
    inside = extent.start <= tensor.dim(i) && extent.length <= tensor.dim(i) - extent.start;
  }
  if (!inside) {
    throw InvalidArgument("the slice {} does not lie in a tensor of shape {}", ToString(),
                          tensor.ToString());
  }
  return slice;
}

std::optional<TensorSlice> TensorSlice::Intersection(const TensorSlice& other) const {
  TensorSlice common;
  for (int i = 0; i < rank(); ++i) {
    const Extent &a = extents_[i], &b = other.extents_[i];
    const int64_t start = std::max(a.start, b.start);
    const int64_t end = std::min(a.start + a.length, b.start + b.length);
    if (end <= start) return std::nullopt;
    common.extents_.push_back({start, end - start});
  }
  return common;
}

std::string TensorSlice::ToString() const {
  std::vector<std::string> parts;
  for (const Extent& extent : extents_) {
    parts.push_back(extent.full() ? "-" : fmt::format("{},{}", extent.start, extent.length));
  }
  return fmt::format("{}", fmt::join(parts, ":"));
}

void TensorSlice::ToProto(proto::TensorSliceProto* proto) const {
  proto->Clear();
  for (const Extent& extent : extents_) {
    auto* added = proto->add_extent();
    added->set_start(extent.start);
    if (!extent.full()) added->set_length(extent.length);
  }
}

ShapeAndSlice ShapeAndSlice::Parse(std::string_view text) {
  const size_t space = text.rfind(' ');
  if (space == std::string_view::npos) {
    throw InvalidArgument("'{}' is not a shape and a slice, as in '3 4 0,2:-'", text);
  }
  std::vector<int64_t> dims;
  for (const std::string_view size : Split(text.substr(0, space), ' ')) {
    dims.push_back(Number(size, text));
  }
  ShapeAndSlice parsed{Shape(dims), TensorSlice::Parse(text.substr(space + 1))};
  parsed.slice.In(parsed.shape);
  return parsed;
}

void ForEachCommonRun(const TensorSlice& a, const TensorSlice& b,
                      FunctionRef<void(int64_t, int64_t, int64_t)> fn) {
  const std::optional<TensorSlice> common = a.Intersection(b);
  if (!common) return;
  const int rank = a.rank();
  if (rank == 0) return fn(0, 0, 1);
  const std::vector<int64_t> a_strides = Strides(a), b_strides = Strides(b);
  // Dimensions that both hold whole are part of the run.
  int run = rank - 1;
  int64_t count = common->extent(run).length;
  while (run > 0 && a.extent(run) == b.extent(run)) count *= common->extent(--run).length;
  std::vector<int64_t> index(rank, 0);  // inside what is common; 0 from `run` on
  while (true) {
    int64_t a_at = 0, b_at = 0;
    for (int i = 0; i < rank; ++i) {
      const int64_t position = common->extent(i).start + index[i];
      a_at += (position - a.extent(i).start) * a_strides[i];
      b_at += (position - b.extent(i).start) * b_strides[i];
    }
    fn(a_at, b_at, count);
    int i = run - 1;
    while (i >= 0 && ++index[i] == common->extent(i).length) index[i--] = 0;
    if (i < 0) return;
  }
}

}  // namespace sextant
