#include "sextant/ops/queue/tuple_batch.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/ops/array/element_type.h"

namespace sextant {
namespace {

// The largest of each size, those of "shape" where they are known.
Shape RowShape(std::span<const Tuple> tuples, size_t component, const PartialShape& shape) {
  Shape row;
  for (int d = 0; d < shape.rank(); ++d) {
    int64_t size = std::max<int64_t>(shape[d], 0);
    if (shape[d] == PartialShape::kUnknown) {
      for (const Tuple& tuple : tuples) size = std::max(size, tuple[component].dim(d));
    }
    row.Insert(d, size);
  }
  return row;
}

// Copies "src" to the corner of a row at "dst", dimension by dimension.
template <typename T>
void CopyCorner(T* dst, const Shape& row, const T* src, const Shape& shape, int dim) {
  if (dim == row.rank()) {
    *dst = *src;
    return;
  }
  int64_t dst_stride = 1, src_stride = 1;
  for (int d = dim + 1; d < row.rank(); ++d) {
    dst_stride *= row[d];
    src_stride *= shape[d];
  }
  if (dst_stride == src_stride) {
    std::copy_n(src, shape[dim] * src_stride, dst);
    return;
  }
  for (int64_t i = 0; i < shape[dim]; ++i) {
    CopyCorner(dst + i * dst_stride, row, src + i * src_stride, shape, dim + 1);
  }
}

Tensor Stack(std::span<const Tuple> tuples, size_t component, DType dtype,
             const PartialShape& shape) {
  const Shape row = RowShape(tuples, component, shape);
  Shape all = row;
  all.Insert(0, static_cast<int64_t>(tuples.size()));
  Tensor batch = shape.fully_known() ? Tensor(dtype, all) : Tensor::Zeros(dtype, all);
  WithElement(dtype, [&]<typename T>() {
    T* dst = static_cast<T*>(batch.raw_data());
    for (const Tuple& tuple : tuples) {
      const Tensor& src = tuple[component];
      if (src.num_elements() > 0) {
        CopyCorner(dst, row, static_cast<const T*>(src.raw_data()), src.shape(), 0);
      }
      dst += row.num_elements();
    }
  });
  return batch;
}

}  // namespace

std::vector<Tuple> SplitBatch(const Tuple& batch) {
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].rank() == 0) {
      throw InvalidArgument(
          "All input tensors must have the same size in the 0th dimension. Component {} is a "
          "scalar",
          i);
    }
    if (batch[i].dim(0) != batch[0].dim(0)) {
      throw InvalidArgument(
          "All input tensors must have the same size in the 0th dimension. Component {} has {}, "
          "and should have {}",
          i, batch[i].dim(0), batch[0].dim(0));
    }
  }
  std::vector<Tuple> tuples(static_cast<size_t>(batch[0].dim(0)));
  for (const Tensor& component : batch) {
    Shape shape = component.shape();
    shape.Erase(0);
    for (size_t row = 0; row < tuples.size(); ++row) {
      const auto i = static_cast<int64_t>(row);
      tuples[row].push_back(component.Rows(i, i + 1).Reshaped(shape).Clone());
    }
  }
  return tuples;
}

Tuple MakeBatch(std::span<const Tuple> tuples, std::span<const DType> types,
                std::span<const PartialShape> shapes) {
  Tuple batch;
  for (size_t i = 0; i < types.size(); ++i) batch.push_back(Stack(tuples, i, types[i], shapes[i]));
  return batch;
}

}  // namespace sextant
