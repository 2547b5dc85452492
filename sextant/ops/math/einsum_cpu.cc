#include <algorithm>
#include <complex>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/strided_copy.h"
#include "sextant/ops/math/arithmetic_type.h"
#include "sextant/ops/math/einsum_equation.h"
#include "sextant/ops/math/matrix_product.h"
#include "sextant/ops/math/reduce_loops.h"

namespace sextant {
namespace {

using Labels = std::vector<int>;

bool Contains(const Labels& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}

void AppendOnce(Labels* labels, int label) {
  if (!Contains(*labels, label)) labels->push_back(label);
}

Labels Joined(const Labels& a, const Labels& b) {
  Labels all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

int64_t Product(const Labels& labels, const EinsumSizes& sizes) {
  int64_t product = 1;
  for (int label : labels) product *= sizes[label];
  return product;
}

// The step in memory when a label goes up by one, in a row-major tensor: the sum over the
// dimensions that have the label, so that a repeated label walks along the diagonal. Dimensions of
// size 1 that stand for more are repeated: their step is 0.
int64_t Stride(int label, const Labels& labels, const Shape& shape, int64_t size) {
  int64_t stride = 0, step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (labels[i] == label && (shape[i] == size || size == 1)) stride += step;
    step *= shape[i];
  }
  return stride;
}

template <typename T>
struct EinsumSum {
  using Acc = Arithmetic<T>;
  static Acc Init() { return Acc(0); }
  static Acc Combine(Acc a, Acc b) { return a + b; }
};

template <typename T>
class EinsumKernel : public Kernel {
 public:
  explicit EinsumKernel(KernelInit& init)
      : equation_(EinsumEquation::Parse(init.attr<std::string>("equation"), init.num_inputs())) {}

  void Compute(KernelContext& ctx) override {
    const int num_inputs = ctx.num_inputs();
    EinsumSizes sizes;
    Labels labels[2];
    int ellipsis_rank = 0;
    for (int i = 0; i < num_inputs; ++i) {
      labels[i] = equation_.InputLabels(i, ctx.input(i).rank());
      sizes.Add(labels[i], ctx.input(i).shape());
      ellipsis_rank = std::max(ellipsis_rank, equation_.EllipsisRank(i, ctx.input(i).rank()));
    }
    const Labels out = equation_.OutputLabels(ellipsis_rank);
    Shape shape;
    for (int label : out) shape.Append(sizes[label]);
    Tensor& output = ctx.AllocateOutput(0, shape);
    if (output.num_elements() == 0) return;
    if (num_inputs == 1) {
      Labels kept;
      for (int label : out) AppendOnce(&kept, label);
      return Place(ctx, Arranged(ctx, ctx.input(0), labels[0], {kept}, sizes), kept, out, sizes,
                   output);
    }
    Multiply(ctx, labels, out, sizes, output);
  }

 private:
  void Multiply(KernelContext& ctx, const Labels* labels, const Labels& out,
                const EinsumSizes& sizes, Tensor& output) {
    Labels batch, left, right, depth;
    for (int label : out) {
      const bool in_a = Contains(labels[0], label), in_b = Contains(labels[1], label);
      AppendOnce(in_a && in_b ? &batch : in_a ? &left : &right, label);
    }
    for (int label : labels[0]) {
      if (Contains(labels[1], label) && !Contains(out, label)) AppendOnce(&depth, label);
    }
    bool turn_a = false, turn_b = false;
    const Tensor a = Arranged(
        ctx, ctx.input(0), labels[0],
        {Joined(batch, Joined(left, depth)), Joined(batch, Joined(depth, left))}, sizes, &turn_a);
    const Tensor b = Arranged(
        ctx, ctx.input(1), labels[1],
        {Joined(batch, Joined(depth, right)), Joined(batch, Joined(right, depth))}, sizes, &turn_b);
    const int64_t rows = Product(left, sizes), cols = Product(right, sizes);
    const int64_t inner = Product(depth, sizes), count = Product(batch, sizes);
    const Labels order = Joined(batch, Joined(left, right));
    const bool direct = order == out;
    Tensor product = direct ? output : ctx.AllocateTemp(output.dtype(), Shape{count, rows, cols});
    for (int64_t i = 0; i < count; ++i) {
      product_.Run(ctx, rows, cols, inner, Elements(a) + i * rows * inner,
                   MatrixLayout::Of(rows, inner, turn_a), Elements(b) + i * inner * cols,
                   MatrixLayout::Of(inner, cols, turn_b),
                   static_cast<T*>(product.raw_data()) + i * rows * cols);
    }
    if (!direct) Place(ctx, product, order, out, sizes, output);
  }

  // The input with its labels in one of these orders, summed over the labels that do not occur in
  // it; "second" says whether it is the second order. No copy is made when the input lies so
  // already.
  Tensor Arranged(KernelContext& ctx, const Tensor& input, const Labels& labels,
                  const std::vector<Labels>& orders, const EinsumSizes& sizes,
                  bool* second = nullptr) {
    for (size_t i = 0; i < orders.size(); ++i) {
      if (orders[i] != labels || Product(labels, sizes) != input.num_elements()) continue;
      if (second) *second = i == 1;
      return input;
    }
    const Labels& order = orders[0];
    Labels summed;
    for (int label : labels) {
      if (!Contains(order, label)) AppendOnce(&summed, label);
    }
    const Labels all = Joined(order, summed);
    const int64_t kept = Product(order, sizes), folded = Product(summed, sizes);
    Tensor arranged = input;
    if (all != labels || kept * folded != input.num_elements()) {
      arranged = ctx.AllocateTemp(input.dtype(), Shape{kept * folded});
      StridedCopy copy;
      int64_t step = kept * folded;
      for (int label : all) {
        const int64_t size = sizes[label];
        if (size == 0) break;  // nothing to copy
        step /= size;
        copy.Add(size, step, Stride(label, labels, input.shape(), size));
      }
      if (arranged.num_elements() > 0) copy.Run(ctx, arranged, 0, input, 0);
    }
    return summed.empty() ? arranged : Folded(ctx, arranged, kept, folded);
  }

  Tensor Folded(KernelContext& ctx, const Tensor& input, int64_t kept, int64_t folded) {
    using Acc = typename EinsumSum<T>::Acc;
    Tensor output = ctx.AllocateTemp(input.dtype(), Shape{kept});
    T* out = static_cast<T*>(output.raw_data());
    std::fill(out, out + kept, T(0));
    if (kept == 0 || folded == 0) return output;
    sums_.resize(kept);
    reduce::Fold<EinsumSum<T>>(
        ctx, Elements(input), kept, folded, 1, sums_.data(),
        [](T x) { return static_cast<Acc>(x); },
        [this](int64_t n) { return partial_.resize(n), partial_.data(); });
    for (int64_t i = 0; i < kept; ++i) out[i] = static_cast<T>(sums_[i]);
    return output;
  }

  // Writes values with labels in "order" to the output; a label that the output repeats fills its
  // diagonal.
  static void Place(KernelContext& ctx, const Tensor& values, const Labels& order,
                    const Labels& out, const EinsumSizes& sizes, Tensor& output) {
    Shape shape;
    for (int label : order) shape.Append(sizes[label]);
    Labels places;
    for (int label : out) AppendOnce(&places, label);
    if (places.size() < out.size()) ZeroElements(ctx, output);
    StridedCopy copy;
    for (int label : places) {
      copy.Add(sizes[label], Stride(label, out, output.shape(), sizes[label]),
               Stride(label, order, shape, sizes[label]));
    }
    copy.Run(ctx, output, 0, values, 0);
  }

  static const T* Elements(const Tensor& tensor) {
    return static_cast<const T*>(tensor.raw_data());
  }

  const EinsumEquation equation_;
  MatrixProduct<T> product_;
  std::vector<typename EinsumSum<T>::Acc> sums_, partial_;
};

}  // namespace

void RegisterEinsumCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, std::complex<float>, std::complex<double>>(
      [&]<typename T>() {
        registry.Add(KernelDef("Einsum").Type<T>("T").template Make<EinsumKernel<T>>());
      });
  // Signed integers are summed as unsigned ones, whose overflow wraps.
  registry.Add(KernelDef("Einsum").Types("T", {DType::kInt32}).Make<EinsumKernel<uint32_t>>());
  registry.Add(KernelDef("Einsum").Types("T", {DType::kInt64}).Make<EinsumKernel<uint64_t>>());
}

}  // namespace sextant
