#include "sextant/formats/slice_assembly.h"

#include <algorithm>
#include <vector>

#include "sextant/base/error.h"

namespace sextant {
namespace {

int64_t CommonElements(const TensorSlice& a, const TensorSlice& b) {
  const std::optional<TensorSlice> common = a.Intersection(b);
  if (!common) return 0;
  int64_t elements = 1;
  for (int i = 0; i < common->rank(); ++i) elements *= common->extent(i).length;
  return elements;
}

// Throws unless every one of the `elements` of `wanted` is in exactly one of `parts`.
void CheckCovered(const std::string& where, std::string_view name, const TensorSlice& wanted,
                  int64_t elements, const std::vector<TensorSlice>& parts) {
  int64_t sum = 0;
  for (const TensorSlice& part : parts) {
    sum += CommonElements(part, wanted);
    if (sum > elements) break;
  }
  // Equal sums may still hide a gap behind an overlap: mark what is there.
  std::vector<char> marks(sum == elements ? elements : 0);
  if (!marks.empty()) {
    for (const TensorSlice& part : parts) {
      ForEachCommonRun(part, wanted, [&](int64_t, int64_t at, int64_t count) {
        std::fill_n(marks.begin() + at, count, 1);
      });
    }
  }
  if (sum != elements || std::find(marks.begin(), marks.end(), 0) != marks.end()) {
    throw InvalidArgument("{}: the stored slices of '{}' do not make up the slice {}: they {}",
                          where, name, wanted.ToString(),
                          sum > elements ? "overlap" : "leave a gap");
  }
}

}  // namespace

void CopyCommonElements(const TensorSlice& from, const Tensor& src, const TensorSlice& to,
                        Tensor* dst) {
  const size_t bytes = DTypeSize(src.dtype());
  ForEachCommonRun(from, to, [&](int64_t src_at, int64_t dst_at, int64_t count) {
    if (src.dtype() == DType::kString) {
      std::copy_n(src.data<std::string>() + src_at, count, dst->data<std::string>() + dst_at);
    } else if (src.dtype() == DType::kVariant) {
      std::copy_n(src.data<Variant>() + src_at, count, dst->data<Variant>() + dst_at);
    } else {
      std::copy_n(static_cast<const char*>(src.raw_data()) + src_at * bytes, count * bytes,
                  static_cast<char*>(dst->raw_data()) + dst_at * bytes);
    }
  });
}

Tensor AssembleSlice(const std::string& where, const BundleTensorInfo& info,
                     const TensorSlice& wanted, FunctionRef<Tensor(const TensorSlice&)> read) {
  std::vector<TensorSlice> parts;
  for (const TensorSlice& slice : info.slices) {
    parts.push_back(slice.In(info.shape));
    if (parts.back() == wanted) return read(slice);
  }
  const Shape shape = wanted.ShapeIn(info.shape);
  CheckCovered(where, info.name, wanted, shape.num_elements(), parts);
  Tensor tensor(info.dtype, shape);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].Intersection(wanted)) continue;
    CopyCommonElements(parts[i], read(info.slices[i]), wanted, &tensor);
  }
  return tensor;
}

}  // namespace sextant
