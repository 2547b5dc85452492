#include <string>

#include "sextant/device/kernel_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/nn/row_softmax.h"
#include "sextant/ops/nn/widened.h"

namespace sextant {
namespace {

// A matrix seen with more rows or columns than it has: steps are 0 along what is repeated.
template <typename T>
struct Repeated {
  const T* data;
  int64_t row_step, column_step;

  const T* row(int64_t r) const { return data + r * row_step; }
};

// exp(x - max(x)) of rows [begin, end), as many as fit in a block, with their maxima and sums.
template <typename T>
struct ExpBlock {
  T max[kSoftmaxMaxRows], sum[kSoftmaxMaxRows];

  void Fill(const Repeated<T>& logits, int64_t begin, int64_t end, int64_t width, T* exps) {
    for (int64_t r = begin; r < end; ++r) {
      const T* x = logits.row(r);
      T* y = exps + r * width;
      const T m = max[r - begin] = RowMax(x, logits.column_step == 0 ? 1 : width);
      for (int64_t i = 0; i < width; ++i) y[i] = x[i * logits.column_step] - m;
    }
    T* first = exps + begin * width;
    ExpAll(first, first, (end - begin) * width);
    for (int64_t r = begin; r < end; ++r) sum[r - begin] = RowSum(exps + r * width, width);
  }
};

// loss = sum(labels * (log(sum) - (x - max))), backprop = exp(x - max) / sum - labels. The loss is
// computed from x, as logarithms of small probabilities would be inaccurate.
template <typename T>
T FinishDenseRow(const T* x, int64_t x_step, const T* labels, int64_t label_step, int64_t width,
                 T max, T sum, T* backprop) {
  const T log_sum = std::log(sum), inverse = T(1) / sum;
  for (int64_t i = 0; i < width; ++i) backprop[i] = backprop[i] * inverse - labels[i * label_step];
  return FoldLanes(
      width, T(0),
      [=](int64_t i) { return labels[i * label_step] * (log_sum - (x[i * x_step] - max)); },
      [](T a, T b) { return a + b; });
}

// Calls body(begin, end) for blocks of rows, in parallel.
template <typename F>
void ForRowBlocks(KernelContext& ctx, int64_t rows, int64_t width, F body) {
  const int64_t block = SoftmaxBlockRows(width), blocks = (rows + block - 1) / block;
  ctx.ParallelFor(blocks, 1.5 * kSoftmaxCost * static_cast<double>(block * width),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t b = begin; b < end; ++b) {
                      body(b * block, std::min(rows, (b + 1) * block));
                    }
                  });
}

template <typename T>
class SoftmaxCrossEntropyKernel final : public Kernel {
 public:
  using Work = Arithmetic<T>;
  explicit SoftmaxCrossEntropyKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& features = ctx.input(0);
    const Tensor& labels = ctx.input(1);
    const Shape shape = CommonShape(features.shape(), labels.shape());
    const int64_t rows = shape[0], width = shape[1];
    Tensor& loss = ctx.AllocateOutput(0, Shape{rows});
    Tensor& backprop = ctx.AllocateOutput(1, shape);
    const WidenedInput<T> x(ctx, features), y(ctx, labels);
    WidenedOutput<T> losses(ctx, loss), grads(ctx, backprop);
    if (width == 0) {
      std::fill_n(losses.data(), rows, Work(0));
      return losses.Store();
    }
    const auto logits = View(x.data(), features.shape(), shape);
    const auto targets = View(y.data(), labels.shape(), shape);
    ForRowBlocks(ctx, rows, width, [&](int64_t begin, int64_t end) {
      ExpBlock<Work> block;
      block.Fill(logits, begin, end, width, grads.data());
      const bool plain = logits.column_step == 1 && targets.column_step == 1;
      for (int64_t r = begin; r < end; ++r) {
        const Work max = block.max[r - begin], sum = block.sum[r - begin];
        Work* grad = grads.data() + r * width;
        losses.data()[r] =
            plain ? FinishDenseRow(logits.row(r), 1, targets.row(r), 1, width, max, sum, grad)
                  : FinishDenseRow(logits.row(r), logits.column_step, targets.row(r),
                                   targets.column_step, width, max, sum, grad);
      }
    });
    losses.Store();
    grads.Store();
  }

 private:
  static Shape CommonShape(const Shape& a, const Shape& b) {
    const Shape shape = a == b ? a : Broadcasted(a, b);
    if (shape.rank() != 2) {
      throw InvalidArgument(
          "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional: "
          "logits_size={} labels_size={}",
          a.ToString(), b.ToString());
    }
    return shape;
  }
  static Shape Broadcasted(const Shape& a, const Shape& b) {
    try {
      return shapes::Broadcast(a, b).AsShape();
    } catch (const Error&) {  // said with the names of the inputs
      throw InvalidArgument(
          "logits and labels must be broadcastable: logits_size={} labels_size={}", a.ToString(),
          b.ToString());
    }
  }
  static Repeated<Work> View(const Work* data, const Shape& from, const Shape& to) {
    const int64_t rows = from.rank() == 2 ? from[0] : 1;
    const int64_t width = from.rank() > 0 ? from[from.rank() - 1] : 1;
    return {data, rows == to[0] ? width : 0, width == to[1] ? 1 : 0};
  }
};

template <typename T>
class SparseSoftmaxCrossEntropyKernel final : public Kernel {
 public:
  using Work = Arithmetic<T>;
  explicit SparseSoftmaxCrossEntropyKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& features = ctx.input(0);
    const Tensor& labels = ctx.input(1);
    CheckShapes(features.shape(), labels.shape());
    const int64_t rows = features.dim(0), width = features.dim(1);
    CheckLabels(labels, width);
    Tensor& loss = ctx.AllocateOutput(0, labels.shape());
    Tensor& backprop = ctx.AllocateOutput(1, features.shape());
    const WidenedInput<T> x(ctx, features);
    WidenedOutput<T> losses(ctx, loss), grads(ctx, backprop);
    const Repeated<Work> logits{x.data(), width, 1};
    ForRowBlocks(ctx, rows, width, [&](int64_t begin, int64_t end) {
      ExpBlock<Work> block;
      block.Fill(logits, begin, end, width, grads.data());
      for (int64_t r = begin; r < end; ++r) {
        const Work sum = block.sum[r - begin], inverse = Work(1) / sum;
        const int64_t label = Label(labels, r);
        Work* grad = grads.data() + r * width;
        for (int64_t i = 0; i < width; ++i) grad[i] *= inverse;
        grad[label] -= Work(1);
        losses.data()[r] = std::log(sum) - (logits.row(r)[label] - block.max[r - begin]);
      }
    });
    losses.Store();
    grads.Store();
  }

 private:
  static int64_t Label(const Tensor& labels, int64_t i) {
    return labels.dtype() == DType::kInt64 ? static_cast<const int64_t*>(labels.raw_data())[i]
                                           : static_cast<const int32_t*>(labels.raw_data())[i];
  }

  static void CheckShapes(const Shape& features, const Shape& labels) {
    if (features.rank() != 2) {
      throw InvalidArgument("logits must be 2-D, but got shape {}", features.ToString());
    }
    if (labels.rank() != 1) {
      throw InvalidArgument("labels must be 1-D, but got shape {}", labels.ToString());
    }
    if (features[0] != labels[0]) {
      throw InvalidArgument(
          "logits and labels must have the same first dimension, got logits shape {} and labels "
          "shape {}",
          features.ToString(), labels.ToString());
    }
    if (features[1] == 0) {
      throw InvalidArgument("Must have at least one class, but got logits shape {}",
                            features.ToString());
    }
  }

  // The first labels: enough to see what is wrong.
  static std::string Text(const Tensor& labels) {
    constexpr int64_t kShown = 100;
    std::string text;
    for (int64_t i = 0; i < std::min(kShown, labels.num_elements()); ++i) {
      text += (i > 0 ? " " : "") + std::to_string(Label(labels, i));
    }
    return labels.num_elements() > kShown ? text + " ..." : text;
  }

  static void CheckLabels(const Tensor& labels, int64_t width) {
    for (int64_t i = 0; i < labels.num_elements(); ++i) {
      const int64_t label = Label(labels, i);
      if (label >= 0 && label < width) continue;
      throw InvalidArgument(
          "Received a label value of {} which is outside the valid range of [0, "
          "{}).  Label values: {}",
          label, width, Text(labels));
    }
  }
};

}  // namespace

void RegisterCrossEntropyCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16>([&]<typename T>() {
    registry.Add(KernelDef("SoftmaxCrossEntropyWithLogits")
                     .Type<T>("T")
                     .template Make<SoftmaxCrossEntropyKernel<T>>());
    registry.Add(KernelDef("SparseSoftmaxCrossEntropyWithLogits")
                     .Type<T>("T")
                     .template Make<SparseSoftmaxCrossEntropyKernel<T>>());
  });
}

}  // namespace sextant
