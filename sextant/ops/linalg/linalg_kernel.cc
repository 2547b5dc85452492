#include "sextant/ops/linalg/linalg_kernel.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/ops/math/broadcast_plan.h"

namespace sextant {
namespace {

template <typename C, typename F>
void WithStored(DType dtype, F&& f) {
  if constexpr (std::is_same_v<C, double>) {
    switch (dtype) {
      case DType::kFloat:
        return f.template operator()<float>();
      case DType::kHalf:
        return f.template operator()<Half>();
      case DType::kInt32:
        return f.template operator()<int32_t>();
      case DType::kInt64:
        return f.template operator()<int64_t>();
      default:
        return f.template operator()<double>();
    }
  } else {
    switch (dtype) {
      case DType::kComplex64:
        return f.template operator()<std::complex<float>>();
      case DType::kInt32:
        return f.template operator()<int32_t>();
      case DType::kInt64:
        return f.template operator()<int64_t>();
      default:
        return f.template operator()<std::complex<double>>();
    }
  }
}

template <typename T, typename C>
T Convert(const C& x) {
  if constexpr (std::is_same_v<T, C>) {
    return x;
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<C, Half>) {
    return T(static_cast<float>(x));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<C, double>) {
    return static_cast<T>(x.real());
  } else {
    return T(x);
  }
}

Shape LastDims(const Shape& shape) {
  if (shape.rank() < 2) {
    throw InvalidArgument("Input tensor must have rank >= 2, got shape {}", shape.ToString());
  }
  return {shape[shape.rank() - 2], shape[shape.rank() - 1]};
}

Shape FirstDims(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<size_t>(shape.rank()) - 2));
}

template <typename C>
void Load(const Tensor& tensor, int64_t index, const Shape& shape, Matrix<C>& matrix) {
  matrix.resize(shape[0], shape[1]);
  WithStored<C>(tensor.dtype(), [&]<typename T>() {
    const T* const src = tensor.data<T>() + index * shape.num_elements();
    std::transform(src, src + matrix.size(), matrix.data(), [](const T& x) {
      if constexpr (std::is_integral_v<T>) {
        return C(static_cast<double>(x));
      } else {
        return Convert<C>(x);
      }
    });
  });
}

template <typename C>
void Store(const Matrix<C>& matrix, int64_t index, Tensor& tensor) {
  WithStored<C>(tensor.dtype(), [&]<typename T>() {
    std::transform(matrix.data(), matrix.data() + matrix.size(),
                   tensor.data<T>() + index * matrix.size(),
                   [](const C& x) { return Convert<T>(x); });
  });
}

// For each matrix of the output the one of either input.
struct BatchIndex {
  BatchIndex(const Shape& a, const Shape& b) : output(a) {
    if (a == b) return;
    const BroadcastPlan plan(a, b);
    output = plan.output();
    indices[0].resize(static_cast<size_t>(output.num_elements()));
    indices[1].resize(indices[0].size());
    plan.ForRows(0, plan.num_rows(), [&](int64_t first, const int64_t* offsets) {
      for (int64_t i = 0; i < plan.row_size(); ++i) {
        for (int k = 0; k < 2; ++k) indices[k][first + i] = offsets[k] + i * plan.step(k);
      }
    });
  }
  int64_t operator()(size_t input, int64_t i) const {
    return indices[0].empty() ? i : indices[input][i];
  }
  Shape output;
  std::vector<int64_t> indices[2];
};

}  // namespace

template <typename C>
void LinalgKernel<C>::Compute(KernelContext& ctx) {
  const auto num_inputs = static_cast<size_t>(ctx.num_inputs());
  std::vector<Shape> shapes;
  for (size_t i = 0; i < num_inputs; ++i) {
    shapes.push_back(LastDims(ctx.input(static_cast<int>(i)).shape()));
  }
  const Shape first = FirstDims(ctx.input(0).shape());
  const Shape last = FirstDims(ctx.input(static_cast<int>(num_inputs) - 1).shape());
  if (!Broadcasts() && !(first == last)) {
    throw InvalidArgument("batches {} and {} of matrices must be equal", first.ToString(),
                          last.ToString());
  }
  const BatchIndex batch(first, last);
  const std::vector<Shape> output_shapes = OutputShapes(shapes);
  double work = 1;
  for (const Shape& shape : shapes) {
    work = std::max(work, static_cast<double>(shape.num_elements()) *
                              static_cast<double>(std::min(shape[0], shape[1])));
  }
  std::vector<Tensor*> tensors;
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    if (i >= static_cast<int>(output_shapes.size())) {
      ctx.AllocateOutput(i, {0});
      continue;
    }
    Shape shape = batch.output;
    for (const int64_t size : output_shapes[i].dims()) shape.Append(size);
    tensors.push_back(&ctx.AllocateOutput(i, shape));
  }
  ctx.ParallelFor(batch.output.num_elements(), work, [&](int64_t begin, int64_t end) {
    std::vector<Matrix<C>> inputs(num_inputs), outputs(tensors.size());
    for (int64_t b = begin; b < end; ++b) {
      for (size_t i = 0; i < num_inputs; ++i) {
        Load(ctx.input(static_cast<int>(i)), batch(i, b), shapes[i], inputs[i]);
      }
      for (size_t i = 0; i < outputs.size(); ++i) {
        const Shape& shape = output_shapes[i];
        outputs[i].resize(shape.rank() > 0 ? shape[0] : 1, shape.rank() > 1 ? shape[1] : 1);
      }
      Run(inputs, outputs);
      for (size_t i = 0; i < outputs.size(); ++i) Store(outputs[i], b, *tensors[i]);
    }
  });
}

template class LinalgKernel<double>;
template class LinalgKernel<std::complex<double>>;

void CheckSquare(const Shape& matrix) {
  if (matrix[0] != matrix[1]) {
    throw InvalidArgument("Input matrix must be square, got {}", matrix.ToString());
  }
}

}  // namespace sextant
