#include <complex>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/math/matrix_product.h"

namespace sextant {
namespace {

void CheckDepth(const Tensor& a, bool turn_a, const Tensor& b, bool turn_b) {
  if (a.dim(a.rank() - (turn_a ? 2 : 1)) != b.dim(b.rank() - (turn_b ? 1 : 2))) {
    throw InvalidArgument("Matrix size-incompatible: In[0]: {}, In[1]: {}", a.shape().ToString(),
                          b.shape().ToString());
  }
}

template <typename T>
class MatMulKernel : public Kernel {
 public:
  explicit MatMulKernel(KernelInit& init)
      : turn_a_(init.attr<bool>("transpose_a")), turn_b_(init.attr<bool>("transpose_b")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &a = ctx.input(0), &b = ctx.input(1);
    if (a.rank() != b.rank()) {
      throw InvalidArgument("In[0] and In[1] has different ndims: {} vs. {}", a.shape().ToString(),
                            b.shape().ToString());
    }
    if (a.rank() != 2) throw InvalidArgument("In[0] is not a matrix: {}", a.shape().ToString());
    CheckDepth(a, turn_a_, b, turn_b_);
    const int64_t rows = a.dim(turn_a_), depth = a.dim(!turn_a_), cols = b.dim(!turn_b_);
    Tensor& c = ctx.AllocateOutput(0, {rows, cols});
    if (c.num_elements() == 0) return;
    product_.Run(ctx, rows, cols, depth, static_cast<const T*>(a.raw_data()),
                 MatrixLayout::Of(rows, depth, turn_a_), static_cast<const T*>(b.raw_data()),
                 MatrixLayout::Of(depth, cols, turn_b_), static_cast<T*>(c.raw_data()));
  }

 private:
  const bool turn_a_, turn_b_;
  MatrixProduct<T> product_;
};

// The shape of the result of a batch product, and which matrices go into each.
class Batches {
 public:
  // "broadcast": the batch dimensions need not be equal.
  void Set(const Tensor& a, bool turn_a, const Tensor& b, bool turn_b, bool broadcast) {
    if (a.rank() < 2) throw InvalidArgument("In[0] ndims must be >= 2: {}", a.rank());
    if (b.rank() < 2) throw InvalidArgument("In[1] ndims must be >= 2: {}", b.rank());
    const int dims_a = a.rank() - 2, dims_b = b.rank() - 2, dims = std::max(dims_a, dims_b);
    if (!broadcast && dims_a != dims_b) {
      throw InvalidArgument("In[0] and In[1] has different ndims: {} vs. {}", a.shape().ToString(),
                            b.shape().ToString());
    }
    sizes_.assign(dims + 2, 1);
    strides_a_.assign(dims, 0);
    strides_b_.assign(dims, 0);
    count_ = count_a_ = count_b_ = 1;
    for (int i = dims - 1; i >= 0; --i) {
      const int at_a = i - (dims - dims_a), at_b = i - (dims - dims_b);
      const int64_t size_a = at_a < 0 ? 1 : a.dim(at_a), size_b = at_b < 0 ? 1 : b.dim(at_b);
      if (size_a != size_b && (!broadcast || (size_a != 1 && size_b != 1))) {
        throw InvalidArgument("In[0] and In[1] must have compatible batch dimensions: {} vs. {}",
                              a.shape().ToString(), b.shape().ToString());
      }
      sizes_[i] = size_a == 1 ? size_b : size_a;
      if (size_a != 1) strides_a_[i] = count_a_;
      if (size_b != 1) strides_b_[i] = count_b_;
      count_ *= sizes_[i];
      count_a_ *= size_a;
      count_b_ *= size_b;
    }
    CheckDepth(a, turn_a, b, turn_b);
    sizes_[dims] = a.dim(a.rank() - (turn_a ? 1 : 2));
    sizes_[dims + 1] = b.dim(b.rank() - (turn_b ? 2 : 1));
  }
  Shape output() const { return Shape(std::span<const int64_t>(sizes_)); }
  int64_t rows() const { return sizes_[sizes_.size() - 2]; }
  int64_t cols() const { return sizes_.back(); }
  int64_t count() const { return count_; }
  // All products have the same right side and each has its own left side.
  bool one_right() const { return count_b_ == 1 && count_a_ == count_; }
  int64_t left(int64_t batch) const { return Find(batch, strides_a_); }
  int64_t right(int64_t batch) const { return Find(batch, strides_b_); }

 private:
  int64_t Find(int64_t batch, const std::vector<int64_t>& strides) const {
    int64_t index = 0;
    for (int i = static_cast<int>(strides.size()) - 1; i >= 0; --i) {
      index += batch % sizes_[i] * strides[i];
      batch /= sizes_[i];
    }
    return index;
  }

  std::vector<int64_t> sizes_, strides_a_, strides_b_;
  int64_t count_ = 1, count_a_ = 1, count_b_ = 1;
};

// A and B are the elements of the inputs, T those of the result, in which is multiplied.
template <typename A, typename B, typename T>
class BatchMatMulKernel : public Kernel {
 public:
  explicit BatchMatMulKernel(KernelInit& init)
      : turn_a_(init.attr<bool>("adj_x")),
        turn_b_(init.attr<bool>("adj_y")),
        broadcast_(init.node().type() != "BatchMatMul") {}

  void Compute(KernelContext& ctx) override {
    const Tensor &a = ctx.input(0), &b = ctx.input(1);
    batches_.Set(a, turn_a_, b, turn_b_, broadcast_);
    Tensor& c = ctx.AllocateOutput(0, batches_.output());
    if (c.num_elements() == 0) return;
    const int64_t depth = a.dim(a.rank() - (turn_a_ ? 2 : 1));
    Multiply(ctx, depth, Elements<A>(a, &wide_a_), Elements<B>(b, &wide_b_),
             static_cast<T*>(c.raw_data()));
  }

 private:
  template <typename In>
  static const T* Elements(const Tensor& tensor, std::vector<T>* wide) {
    if constexpr (std::is_same_v<In, T>) {
      return static_cast<const T*>(tensor.raw_data());
    } else {
      const In* in = static_cast<const In*>(tensor.raw_data());
      wide->resize(tensor.num_elements());
      for (size_t i = 0; i < wide->size(); ++i) (*wide)[i] = static_cast<T>(in[i]);
      return wide->data();
    }
  }

  void Multiply(KernelContext& ctx, int64_t depth, const T* a, const T* b, T* c) {
    const int64_t rows = batches_.rows(), cols = batches_.cols(), count = batches_.count();
    const MatrixLayout layout_b = MatrixLayout::Of(depth, cols, turn_b_, turn_b_);
    if (batches_.one_right() && !turn_a_) {
      return product_.Run(ctx, rows * count, cols, depth, a,
                          MatrixLayout::Of(rows * count, depth, false), b, layout_b, c);
    }
    const MatrixLayout layout_a = MatrixLayout::Of(rows, depth, turn_a_, turn_a_);
    const auto run = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        product_.Run(ctx, rows, cols, depth, a + batches_.left(i) * rows * depth, layout_a,
                     b + batches_.right(i) * depth * cols, layout_b, c + i * rows * cols);
      }
    };
    // Large products share out their own work.
    const double cost =
        0.05 * static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(depth) +
        50;
    if (MatrixProduct<T>::kShareable && cost < 200e3) {
      ctx.ParallelFor(count, cost, run);
    } else {
      run(0, count);
    }
  }

  const bool turn_a_, turn_b_, broadcast_;
  Batches batches_;
  MatrixProduct<T> product_;
  std::vector<T> wide_a_, wide_b_;
};

// Signed integers are multiplied as unsigned ones: the bits are the same.
template <typename T>
void RegisterFor(KernelRegistry& registry, const std::vector<DType>& types) {
  registry.Add(KernelDef("MatMul").Types("T", types).Make<MatMulKernel<T>>());
  for (const char* op : {"BatchMatMul", "BatchMatMulV2"}) {
    registry.Add(KernelDef(op).Types("T", types).Make<BatchMatMulKernel<T, T, T>>());
  }
  for (DType type : types) {
    registry.Add(KernelDef("BatchMatMulV3")
                     .Types("Ta", {type})
                     .Types("Tb", {type})
                     .Types("Tout", {type})
                     .Make<BatchMatMulKernel<T, T, T>>());
  }
}

template <typename A, typename B, typename T>
void RegisterMixed(KernelRegistry& registry) {
  registry.Add(KernelDef("BatchMatMulV3")
                   .Type<A>("Ta")
                   .template Type<B>("Tb")
                   .template Type<T>("Tout")
                   .template Make<BatchMatMulKernel<A, B, T>>());
}

}  // namespace

void RegisterMatMulCpu(KernelRegistry& registry) {
  RegisterFor<float>(registry, {DType::kFloat});
  RegisterFor<double>(registry, {DType::kDouble});
  RegisterFor<Half>(registry, {DType::kHalf});
  RegisterFor<BFloat16>(registry, {DType::kBFloat16});
  RegisterFor<uint8_t>(registry, {DType::kUInt8});
  RegisterFor<uint16_t>(registry, {DType::kInt16, DType::kUInt16});
  RegisterFor<uint32_t>(registry, {DType::kInt32, DType::kUInt32});
  RegisterFor<uint64_t>(registry, {DType::kInt64, DType::kUInt64});
  RegisterFor<std::complex<float>>(registry, {DType::kComplex64});
  RegisterFor<std::complex<double>>(registry, {DType::kComplex128});
  RegisterMixed<int8_t, int8_t, int32_t>(registry);
  RegisterMixed<int8_t, uint8_t, int32_t>(registry);
  RegisterMixed<uint8_t, int8_t, int32_t>(registry);
  RegisterMixed<uint8_t, uint8_t, int32_t>(registry);
  RegisterMixed<BFloat16, int8_t, BFloat16>(registry);
  RegisterMixed<BFloat16, uint8_t, BFloat16>(registry);
  RegisterMixed<int8_t, BFloat16, BFloat16>(registry);
  RegisterMixed<uint8_t, BFloat16, BFloat16>(registry);
}

}  // namespace sextant
