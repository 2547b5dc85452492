#include <algorithm>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/wrapping.h"
#include "sextant/ops/sparse/sparse_input.h"
#include "sextant/ops/sparse/sum_type.h"

namespace sextant {
namespace {

// Where each entry goes, whatever is made of those that meet.
class ReduceKernel : public Kernel {
 public:
  explicit ReduceKernel(KernelInit& init)
      : keep_dims_(init.attr<bool>("keep_dims")), sparse_(init.num_outputs() == 3) {}

  void Compute(KernelContext& ctx) override {
    input_.Set(ctx.input(0), ctx.input(1), ctx.input(2), "input_");
    input_.CheckSize();
    ReadAxes(ctx.input(3));
    if (sparse_) {
      const int64_t groups = GroupEntries();
      EmitIndices(ctx, groups);
      Fold(ctx.input(1), ctx.AllocateOutput(1, {groups}));
      return;
    }
    Shape shape;
    for (int d = 0; d < input_.rank(); ++d) {
      if (reduced_[d] && keep_dims_) shape.Append(1);
      if (!reduced_[d]) shape.Append(input_.shape()[d]);
    }
    target_.resize(static_cast<size_t>(input_.count()));
    for (int64_t i = 0; i < input_.count(); ++i) {
      int64_t position = 0;
      for (int d = 0; d < input_.rank(); ++d) {
        if (reduced_[d]) continue;
        position = Wrapping::Add(Wrapping::Mul(position, input_.shape()[d]), input_.row(i)[d]);
      }
      if (position < 0 || position >= shape.num_elements()) {
        throw Internal("indices[{}] = {} gives position {}, which is not in [0, {})", i,
                       IndexText(input_.row(i)), position, shape.num_elements());
      }
      target_[i] = position;
    }
    Fold(ctx.input(1), ctx.AllocateOutput(0, shape));
  }

 protected:
  // out[target_[i]] = values[i] folded; 0 where nothing goes.
  virtual void Fold(const Tensor& values, Tensor& out) = 0;

  std::vector<int64_t> target_;

 private:
  void ReadAxes(const Tensor& axes) {
    if (axes.rank() > 1) {
      throw InvalidArgument("reduction_axes must be a scalar or a vector, got shape {}",
                            axes.shape().ToString());
    }
    const int rank = input_.rank();
    reduced_.assign(static_cast<size_t>(rank), 0);
    for (int64_t i = 0; i < axes.num_elements(); ++i) {
      const int64_t axis = IndexAt(axes, i);
      if (axis < -rank || axis >= rank) {
        throw InvalidArgument("reduction axis {} is not in [{}, {})", axis, -rank, rank);
      }
      reduced_[axis < 0 ? axis + rank : axis] = 1;
    }
  }

  // Entries that differ in reduced dimensions only form a group; groups in lexicographic order.
  // Sets rows_ to the kept indices of each entry.
  int64_t GroupEntries() {
    const int rank = input_.rank();
    kept_ = static_cast<int>(std::count(reduced_.begin(), reduced_.end(), 0));
    rows_.clear();
    for (int64_t i = 0; i < input_.count(); ++i) {
      for (int d = 0; d < rank; ++d) {
        if (!reduced_[d]) rows_.push_back(input_.row(i)[d]);
      }
    }
    SortRows(rows_.data(), input_.count(), kept_, &order_);
    target_.resize(order_.size());
    firsts_.clear();
    for (const int64_t i : order_) {
      if (firsts_.empty() || CompareRows(Row(firsts_.back()), Row(i), kept_) != 0) {
        firsts_.push_back(i);
      }
      target_[i] = static_cast<int64_t>(firsts_.size()) - 1;
    }
    return static_cast<int64_t>(firsts_.size());
  }
  const int64_t* Row(int64_t i) const { return rows_.data() + i * kept_; }

  void EmitIndices(KernelContext& ctx, int64_t groups) const {
    const int rank = keep_dims_ ? input_.rank() : kept_;
    int64_t* indices = ctx.AllocateOutput(0, {groups, rank}).data<int64_t>();
    for (const int64_t i : firsts_) {
      for (int d = 0; d < input_.rank(); ++d) {
        if (!reduced_[d]) *indices++ = input_.row(i)[d];
        if (reduced_[d] && keep_dims_) *indices++ = 0;
      }
    }
    int64_t* shape = ctx.AllocateOutput(2, {rank}).data<int64_t>();
    for (int d = 0; d < input_.rank(); ++d) {
      if (!reduced_[d]) *shape++ = input_.shape()[d];
      if (reduced_[d] && keep_dims_) *shape++ = 1;
    }
  }

  const bool keep_dims_, sparse_;
  SparseInput input_;
  std::vector<uint8_t> reduced_;
  int kept_ = 0;
  std::vector<int64_t> rows_, order_, firsts_;
};

template <typename T>
class ReduceKernelOf : public ReduceKernel {
 public:
  explicit ReduceKernelOf(KernelInit& init)
      : ReduceKernel(init), max_(init.node().type().find("Max") != std::string::npos) {}

 protected:
  void Fold(const Tensor& values, Tensor& out) override {
    const int64_t size = out.num_elements();
    if constexpr (std::is_same_v<T, SumType<T>>) {
      FoldTo(values.data<T>(), out.data<T>(), size);
    } else {
      sums_.resize(static_cast<size_t>(size));
      FoldTo(values.data<T>(), sums_.data(), size);
      std::transform(sums_.begin(), sums_.end(), out.data<T>(), [](float x) { return T(x); });
    }
  }

 private:
  using Number = SumType<T>;
  void FoldTo(const T* values, Number* out, int64_t size) {
    std::fill_n(out, size, Number{});
    if (max_) seen_.assign(static_cast<size_t>(size), 0);
    for (size_t i = 0; i < target_.size(); ++i) {
      Number& element = out[target_[i]];
      const auto value = static_cast<Number>(values[i]);
      if (!max_) {
        element = Wrapping::Add(element, value);
      } else if (!seen_[target_[i]] || !(element >= value)) {
        element = value;
        seen_[target_[i]] = 1;
      }
    }
  }

  const bool max_;
  std::vector<float> sums_;
  std::vector<uint8_t> seen_;
};

}  // namespace

void RegisterSparseReduceCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() {
    for (const char* op :
         {"SparseReduceSum", "SparseReduceSumSparse", "SparseReduceMax", "SparseReduceMaxSparse"}) {
      registry.Add(KernelDef(op).Type<T>("T").template Make<ReduceKernelOf<T>>());
    }
  });
}

}  // namespace sextant
