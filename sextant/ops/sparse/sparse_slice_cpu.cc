#include <algorithm>
#include <limits>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/wrapping.h"
#include "sextant/ops/sparse/sparse_input.h"

namespace sextant {
namespace {

// dst[k] = src[order[k]]
void PickElements(const Tensor& src, const std::vector<int64_t>& order, Tensor& dst) {
  WithElement(dst.dtype(), [&]<typename T>() {
    const T* const from = static_cast<const T*>(src.raw_data());
    T* const to = static_cast<T*>(dst.raw_data());
    for (size_t k = 0; k < order.size(); ++k) to[k] = from[order[k]];
  });
}

class SliceKernel : public Kernel {
 public:
  explicit SliceKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    input_.Set(ctx.input(0), ctx.input(1), ctx.input(2));
    input_.CheckSize();
    const int rank = input_.rank();
    CheckVector(ctx.input(3), "start", rank);
    CheckVector(ctx.input(4), "size", rank);
    const int64_t* const start = ctx.input(3).data<int64_t>();
    const int64_t* const size = ctx.input(4).data<int64_t>();
    int64_t* const shape = ctx.AllocateOutput(2, {rank}).data<int64_t>();
    for (int d = 0; d < rank; ++d) {
      if (size[d] < 0) throw InvalidArgument("size[{}] = {} is negative", d, size[d]);
      int64_t left = 0;
      if (__builtin_sub_overflow(input_.shape()[d], start[d], &left)) {
        throw InvalidArgument("start[{}] = {} is out of range", d, start[d]);
      }
      shape[d] = std::clamp<int64_t>(left, 0, size[d]);
    }
    taken_.clear();
    for (int64_t i = 0; i < input_.count(); ++i) {
      if (Inside(input_.row(i), start, size)) taken_.push_back(i);
    }
    const auto count = static_cast<int64_t>(taken_.size());
    int64_t* const indices = ctx.AllocateOutput(0, {count, rank}).data<int64_t>();
    for (int64_t k = 0; k < count; ++k) {
      for (int d = 0; d < rank; ++d) indices[k * rank + d] = input_.row(taken_[k])[d] - start[d];
    }
    PickElements(ctx.input(1), taken_, ctx.AllocateOutput(1, {count}));
  }

 private:
  static bool Inside(std::span<const int64_t> index, const int64_t* start, const int64_t* size) {
    for (size_t d = 0; d < index.size(); ++d) {
      int64_t offset = 0;
      if (__builtin_sub_overflow(index[d], start[d], &offset)) return false;
      if (offset < 0 || offset >= size[d]) return false;
    }
    return true;
  }

  SparseInput input_;
  std::vector<int64_t> taken_;
};

// Slices keep the order of entries, so that the outputs are met in order.
class SliceGradKernel : public Kernel {
 public:
  explicit SliceGradKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& grad = ctx.input(0);
    const Tensor& indices = ctx.input(1);
    const Tensor& taken = ctx.input(3);
    if (indices.rank() != 2 || taken.rank() != 2 || indices.dim(1) != taken.dim(1)) {
      throw InvalidArgument("input_indices {} and output_indices {} must be matrices of one width",
                            indices.shape().ToString(), taken.shape().ToString());
    }
    const auto rank = static_cast<int>(indices.dim(1));
    CheckVector(grad, "backprop_val_grad", taken.dim(0));
    CheckVector(ctx.input(2), "input_start", rank);
    const int64_t* const start = ctx.input(2).data<int64_t>();
    Tensor& out = ctx.AllocateOutput(0, {indices.dim(0)});
    WithElement(out.dtype(), [&]<typename T>() {
      T* const dst = static_cast<T*>(out.raw_data());
      const T* const src = static_cast<const T*>(grad.raw_data());
      const int64_t* row = indices.data<int64_t>();
      const int64_t* const wanted = taken.data<int64_t>();
      int64_t next = 0;
      for (int64_t i = 0; i < indices.dim(0); ++i, row += rank) {
        bool matches = next < taken.dim(0);
        for (int d = 0; matches && d < rank; ++d) {
          int64_t index = 0;
          matches =
              !__builtin_add_overflow(wanted[next * rank + d], start[d], &index) && index == row[d];
        }
        dst[i] = matches ? src[next++] : T{};
      }
      if (next != taken.dim(0)) {
        throw InvalidArgument("output_indices[{}] is not among the input_indices", next);
      }
    });
  }
};

class ConcatKernel : public Kernel {
 public:
  explicit ConcatKernel(KernelInit& init)
      : axis_(init.attr<int64_t>("concat_dim")), inputs_(init.attr<int64_t>("N")) {}

  void Compute(KernelContext& ctx) override {
    const auto parts = static_cast<int>(inputs_.size());
    for (int i = 0; i < parts; ++i) {
      inputs_[i].Set(ctx.input(i), ctx.input(parts + i), ctx.input(2 * parts + i));
    }
    const int rank = inputs_[0].rank();
    if (axis_ < -rank || axis_ >= rank) {
      throw InvalidArgument("concat_dim {} is not in [{}, {})", axis_, -rank, rank);
    }
    const auto axis = static_cast<int>(axis_ < 0 ? axis_ + rank : axis_);
    int64_t* const shape = ctx.AllocateOutput(2, {rank}).data<int64_t>();
    const int64_t count = JoinIndices(axis, shape);
    SortRows(joined_.data(), count, rank, &order_);
    int64_t* const indices = ctx.AllocateOutput(0, {count, rank}).data<int64_t>();
    for (int64_t k = 0; k < count; ++k) {
      std::copy_n(joined_.data() + order_[k] * rank, rank, indices + k * rank);
    }
    Tensor& values = ctx.AllocateOutput(1, {count});
    place_.resize(static_cast<size_t>(count));
    for (int64_t k = 0; k < count; ++k) place_[order_[k]] = k;
    WithElement(values.dtype(), [&]<typename T>() {
      T* const dst = static_cast<T*>(values.raw_data());
      size_t entry = 0;
      for (int i = 0; i < parts; ++i) {
        const T* const src = static_cast<const T*>(ctx.input(parts + i).raw_data());
        for (int64_t k = 0; k < inputs_[i].count(); ++k) dst[place_[entry++]] = src[k];
      }
    });
  }

 private:
  // Sets joined_ to the indices moved to where they belong, "shape" to that of the whole; returns
  // the number of entries.
  int64_t JoinIndices(int axis, int64_t* shape) {
    joined_.clear();
    int64_t count = 0, offset = 0;
    const SparseInput& first = inputs_[0];
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const SparseInput& input = inputs_[i];
      if (input.rank() != first.rank()) {
        throw InvalidArgument("input {} has rank {}, input 0 has {}", i, input.rank(),
                              first.rank());
      }
      for (int d = 0; d < first.rank(); ++d) {
        if (d != axis && input.shape()[d] != first.shape()[d]) {
          throw InvalidArgument("shapes {} and {} of inputs 0 and {} differ in dimension {}",
                                IndexText(first.shape()), IndexText(input.shape()), i, d);
        }
      }
      for (int64_t k = 0; k < input.count(); ++k) {
        const auto row = input.row(k);
        joined_.insert(joined_.end(), row.begin(), row.end());
        int64_t& moved = joined_[joined_.size() - row.size() + axis];
        moved = Wrapping::Add(moved, offset);
      }
      count += input.count();
      if (__builtin_add_overflow(offset, input.shape()[axis], &offset)) {
        throw InvalidArgument("the sizes of dimension {} add up to more than int64 holds", axis);
      }
    }
    std::copy_n(first.shape().data(), first.rank(), shape);
    shape[axis] = offset;
    int64_t elements = 1;
    for (int d = 0; d < first.rank(); ++d) {
      if (__builtin_mul_overflow(elements, shape[d], &elements)) {
        throw Internal("the joined dense shape {} has more elements than int64 counts",
                       IndexText({shape, static_cast<size_t>(first.rank())}));
      }
    }
    return count;
  }

  const int64_t axis_;
  std::vector<SparseInput> inputs_;
  std::vector<int64_t> joined_, order_, place_;
};

class SplitKernel : public Kernel {
 public:
  explicit SplitKernel(KernelInit& init)
      : parts_(static_cast<int>(init.attr<int64_t>("num_split"))),
        entries_(static_cast<size_t>(parts_)) {}

  void Compute(KernelContext& ctx) override {
    if (ctx.input(0).rank() != 0) {
      throw InvalidArgument("split_dim must be a scalar, got shape {}",
                            ctx.input(0).shape().ToString());
    }
    input_.Set(ctx.input(1), ctx.input(2), ctx.input(3));
    input_.CheckSize();
    input_.CheckBounds();
    const int axis = AxisOf(ctx.input(0), input_.rank());
    const int64_t size = input_.shape()[axis];
    if (parts_ > size) {
      throw InvalidArgument("cannot cut dimension {} of size {} into {} parts", axis, size, parts_);
    }
    const int64_t small = size / parts_, large_parts = size % parts_;
    const auto begin_of = [&](int64_t part) { return part * small + std::min(part, large_parts); };
    for (auto& list : entries_) list.clear();
    for (int64_t i = 0; i < input_.count(); ++i) {
      const int64_t at = input_.row(i)[axis], large_end = large_parts * (small + 1);
      entries_[at < large_end ? at / (small + 1) : large_parts + (at - large_end) / small]
          .push_back(i);
    }
    for (int part = 0; part < parts_; ++part) {
      Emit(ctx, part, axis, begin_of(part), begin_of(part + 1));
    }
  }

 private:
  void Emit(KernelContext& ctx, int part, int axis, int64_t begin, int64_t end) const {
    const std::vector<int64_t>& entries = entries_[part];
    const auto count = static_cast<int64_t>(entries.size());
    const int rank = input_.rank();
    int64_t* const indices = ctx.AllocateOutput(part, {count, rank}).data<int64_t>();
    for (int64_t k = 0; k < count; ++k) {
      std::copy_n(input_.row(entries[k]).data(), rank, indices + k * rank);
      indices[k * rank + axis] -= begin;
    }
    PickElements(ctx.input(2), entries, ctx.AllocateOutput(parts_ + part, {count}));
    int64_t* const shape = ctx.AllocateOutput(2 * parts_ + part, {rank}).data<int64_t>();
    std::copy_n(input_.shape().data(), rank, shape);
    shape[axis] = end - begin;
  }

  const int parts_;
  SparseInput input_;
  std::vector<std::vector<int64_t>> entries_;
};

}  // namespace

void RegisterSparseSliceCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("SparseSlice").Make<SliceKernel>());
  registry.Add(KernelDef("SparseSliceGrad").Make<SliceGradKernel>());
  registry.Add(KernelDef("SparseConcat").Make<ConcatKernel>());
  registry.Add(KernelDef("SparseSplit").Make<SplitKernel>());
}

}  // namespace sextant
