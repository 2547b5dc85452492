#include <algorithm>
#include <string>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

// The diagonals "lower" to "upper" of a rows x cols matrix, and how they are stored.
struct Diagonals {
  int64_t lower = 0, upper = 0;
  int64_t rows = 0, cols = 0;
  bool upper_left = true, lower_left = true;  // which are stored from the left

  int64_t count() const { return upper - lower + 1; }
  int64_t Length(int64_t d) const {
    return std::min(rows + std::min<int64_t>(d, 0), cols - std::max<int64_t>(d, 0));
  }
  int64_t longest() const {
    return std::min(rows + std::min<int64_t>(upper, 0), cols - std::max<int64_t>(lower, 0));
  }
  // Calls f(place in the stored diagonals, place in the matrix) for every element.
  template <typename F>
  void ForEach(F f) const {
    for (int64_t d = upper; d >= lower; --d) {
      const int64_t length = Length(d);
      const bool left = (d >= 0 && upper_left) || (d <= 0 && lower_left);
      const int64_t stored = (upper - d) * longest() + (left ? 0 : longest() - length);
      const int64_t row = std::max<int64_t>(-d, 0), col = std::max<int64_t>(d, 0);
      for (int64_t i = 0; i < length; ++i) f(stored + i, (row + i) * cols + col + i);
    }
  }
};

// Reads attribute and inputs of the three versions of the ops.
class DiagonalsReader {
 public:
  // Input "k" holds the range; versions without it mean the main diagonal.
  DiagonalsReader(KernelInit& init, int k) : k_(k < init.num_inputs() ? k : -1) {
    if (const Attr* attr = init.node().FindAttr("align")) {
      const std::string& align = attr->Get<std::string>();
      diagonals_.upper_left = align.starts_with("LEFT");
      diagonals_.lower_left = align.ends_with("LEFT");
    }
  }
  Diagonals Range(KernelContext& ctx) const {
    Diagonals result = diagonals_;
    if (k_ < 0) return result;
    const Tensor& k = ctx.input(k_);
    if (k.rank() > 1 || k.num_elements() < 1 || k.num_elements() > 2) {
      throw InvalidArgument("diag_index must be a scalar or vector with 1 or 2 elements, not {}",
                            k.shape().ToString());
    }
    result.lower = IndexAt(k, 0);
    result.upper = IndexAt(k, k.num_elements() - 1);
    if (result.lower > result.upper) {
      throw InvalidArgument("lower_diag_index must not be larger than upper_diag_index: {} > {}",
                            result.lower, result.upper);
    }
    return result;
  }
  // The range within the matrices in the last two dimensions of "shape".
  Diagonals In(KernelContext& ctx, const Shape& shape) const {
    if (shape.rank() < 2) {
      throw InvalidArgument("input must be at least 2-dim, received shape: {}", shape.ToString());
    }
    Diagonals result = Range(ctx);
    result.rows = shape[shape.rank() - 2];
    result.cols = shape[shape.rank() - 1];
    for (const int64_t d : {result.lower, result.upper}) {
      if (d != 0 && (d <= -result.rows || d >= result.cols)) {
        throw InvalidArgument("diagonal index is out of bound: {}. It must be between {} and {}", d,
                              -result.rows, result.cols);
      }
    }
    return result;
  }

 private:
  const int k_;
  Diagonals diagonals_;
};

template <typename E>
const E* In(const Tensor& tensor) {
  return static_cast<const E*>(tensor.raw_data());
}
template <typename E>
E* Out(Tensor& tensor) {
  return static_cast<E*>(tensor.raw_data());
}

class MatrixDiagKernel : public Kernel {
 public:
  explicit MatrixDiagKernel(KernelInit& init) : reader_(init, 1) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& diagonal = ctx.input(0);
    Diagonals d = reader_.Range(ctx);
    const bool many = d.lower != d.upper;
    if (diagonal.rank() < (many ? 2 : 1)) {
      throw InvalidArgument("diagonal must be at least {}-dim, received shape: {}", many ? 2 : 1,
                            diagonal.shape().ToString());
    }
    const int64_t length = diagonal.dim(diagonal.rank() - 1);
    if (many && diagonal.dim(diagonal.rank() - 2) != d.count()) {
      throw InvalidArgument(
          "The number of diagonals provided in the input does not match the range {} to {}: {}",
          d.lower, d.upper, diagonal.shape().ToString());
    }
    SetSize(ctx, length, &d);
    Shape shape = diagonal.shape();
    shape.Erase(shape.rank() - 1);
    if (many) shape.Erase(shape.rank() - 1);
    const int64_t batches = shape.num_elements();
    shape.Append(d.rows);
    shape.Append(d.cols);
    Tensor& output = ctx.AllocateOutput(0, shape);
    WithElement(diagonal.dtype(), [&]<typename E>() {
      const E padding = ctx.num_inputs() > 4 ? *In<E>(ctx.input(4)) : E{};
      E* out = Out<E>(output);
      std::fill(out, out + output.num_elements(), padding);
      for (int64_t b = 0; b < batches; ++b) {
        const E* in = In<E>(diagonal) + b * d.count() * length;
        E* matrix = out + b * d.rows * d.cols;
        d.ForEach([&](int64_t stored, int64_t place) { matrix[place] = in[stored]; });
      }
    });
  }

 private:
  static void SetSize(KernelContext& ctx, int64_t length, Diagonals* d) {
    d->rows = ctx.num_inputs() > 2 ? IndexScalar(ctx.input(2), "num_rows") : -1;
    d->cols = ctx.num_inputs() > 3 ? IndexScalar(ctx.input(3), "num_cols") : -1;
    if (ctx.num_inputs() > 4 && ctx.input(4).num_elements() != 1) {
      throw InvalidArgument("padding_value must be a scalar, not {}",
                            ctx.input(4).shape().ToString());
    }
    const int64_t rows = length - std::min<int64_t>(d->upper, 0);
    const int64_t cols = length + std::max<int64_t>(d->lower, 0);
    if (d->rows == -1 && d->cols == -1) {
      d->rows = d->cols = std::max(rows, cols);
    } else {
      if (d->rows == -1) d->rows = rows;
      if (d->cols == -1) d->cols = cols;
    }
    if (d->rows < rows)
      throw InvalidArgument("The number of rows is too small: {} < {}", d->rows, rows);
    if (d->cols < cols)
      throw InvalidArgument("The number of columns is too small: {} < {}", d->cols, cols);
    if (d->rows != rows && d->cols != cols) {
      throw InvalidArgument(
          "The number of rows or columns is not consistent with diagonals {} to {} of length {}: "
          "{}, {}",
          d->lower, d->upper, length, d->rows, d->cols);
    }
  }

  const DiagonalsReader reader_;
};

class MatrixDiagPartKernel : public Kernel {
 public:
  explicit MatrixDiagPartKernel(KernelInit& init) : reader_(init, 1) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const Diagonals d = reader_.In(ctx, input.shape());
    if (ctx.num_inputs() > 2 && ctx.input(2).num_elements() != 1) {
      throw InvalidArgument("padding_value must be a scalar, not {}",
                            ctx.input(2).shape().ToString());
    }
    Shape shape = input.shape();
    shape.Erase(shape.rank() - 1);
    shape.Erase(shape.rank() - 1);
    const int64_t batches = shape.num_elements();
    if (d.count() > 1) shape.Append(d.count());
    shape.Append(std::max<int64_t>(d.longest(), 0));
    Tensor& output = ctx.AllocateOutput(0, shape);
    WithElement(input.dtype(), [&]<typename E>() {
      const E padding = ctx.num_inputs() > 2 ? *In<E>(ctx.input(2)) : E{};
      E* out = Out<E>(output);
      std::fill(out, out + output.num_elements(), padding);
      for (int64_t b = 0; b < batches; ++b) {
        const E* matrix = In<E>(input) + b * d.rows * d.cols;
        E* to = out + b * d.count() * d.longest();
        d.ForEach([&](int64_t stored, int64_t place) { to[stored] = matrix[place]; });
      }
    });
  }

 private:
  const DiagonalsReader reader_;
};

class MatrixSetDiagKernel : public Kernel {
 public:
  explicit MatrixSetDiagKernel(KernelInit& init) : reader_(init, 2) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &diagonal = ctx.input(1);
    const Diagonals d = reader_.In(ctx, input.shape());
    Shape expected = input.shape();
    expected.Erase(expected.rank() - 1);
    expected.Erase(expected.rank() - 1);
    const int64_t batches = expected.num_elements();
    if (d.count() > 1) expected.Append(d.count());
    expected.Append(std::max<int64_t>(d.longest(), 0));
    if (!(diagonal.shape() == expected)) {
      throw InvalidArgument("diagonals {} to {} of matrices of shape {} have the shape {}, not {}",
                            d.lower, d.upper, input.shape().ToString(), expected.ToString(),
                            diagonal.shape().ToString());
    }
    Tensor& output = ctx.AllocateOutput(0, input.shape());
    WithElement(input.dtype(), [&]<typename E>() {
      E* out = Out<E>(output);
      if (out != In<E>(input)) std::copy_n(In<E>(input), input.num_elements(), out);
      for (int64_t b = 0; b < batches; ++b) {
        const E* from = In<E>(diagonal) + b * d.count() * d.longest();
        E* matrix = out + b * d.rows * d.cols;
        d.ForEach([&](int64_t stored, int64_t place) { matrix[place] = from[stored]; });
      }
    });
  }

 private:
  const DiagonalsReader reader_;
};

void MatrixBandPart(KernelContext& ctx) {
  const Tensor& input = ctx.input(0);
  if (input.rank() < 2) {
    throw InvalidArgument("input must be at least 2-dim, received shape: {}",
                          input.shape().ToString());
  }
  const int64_t rows = input.dim(input.rank() - 2), cols = input.dim(input.rank() - 1);
  const int64_t lower = IndexScalar(ctx.input(1), "num_lower");
  const int64_t upper = IndexScalar(ctx.input(2), "num_upper");
  if (lower > rows) {
    throw InvalidArgument(
        "num_lower must be negative or less or equal to number of rows ({}) got: {}", rows, lower);
  }
  if (upper > cols) {
    throw InvalidArgument(
        "num_upper must be negative or less or equal to number of columns ({}) got: {}", cols,
        upper);
  }
  Tensor& output = ctx.AllocateOutput(0, input.shape());
  if (output.num_elements() == 0) return;
  WithElement(input.dtype(), [&]<typename E>() {
    const E* in = In<E>(input);
    E* out = Out<E>(output);
    for (int64_t line = 0; line < input.num_elements() / cols; ++line, in += cols, out += cols) {
      const int64_t row = line % rows;
      const int64_t begin = lower < 0 ? 0 : std::clamp<int64_t>(row - lower, 0, cols);
      const int64_t end = upper < 0 ? cols : std::clamp<int64_t>(row + upper + 1, begin, cols);
      std::fill(out, out + begin, E{});
      if (out != in) std::copy(in + begin, in + end, out + begin);
      std::fill(out + end, out + cols, E{});
    }
  });
}

void Diag(KernelContext& ctx) {
  const Tensor& diagonal = ctx.input(0);
  if (diagonal.rank() < 1) throw InvalidArgument("Input must be at least rank 1, got 0");
  Shape shape = diagonal.shape();
  for (int64_t size : diagonal.shape().dims()) shape.Append(size);
  Tensor& output = ctx.AllocateOutput(0, shape);
  const int64_t count = diagonal.num_elements();
  WithElement(diagonal.dtype(), [&]<typename E>() {
    E* out = Out<E>(output);
    std::fill(out, out + output.num_elements(), E{});
    for (int64_t i = 0; i < count; ++i) out[i * (count + 1)] = In<E>(diagonal)[i];
  });
}

void DiagPart(KernelContext& ctx) {
  const Tensor& input = ctx.input(0);
  const int half = input.rank() / 2;
  if (input.rank() % 2 != 0) {  // a scalar is its own diagonal, as in TensorFlow
    throw InvalidArgument("The rank of the tensor should be even, got shape {}",
                          input.shape().ToString());
  }
  for (int i = 0; i < half; ++i) {
    if (input.dim(i) != input.dim(i + half)) {
      throw InvalidArgument("Invalid shape {}: dimensions {} and {} do not match.",
                            input.shape().ToString(), i, i + half);
    }
  }
  Tensor& output = ctx.AllocateOutput(0, Shape(input.shape().dims().first(half)));
  const int64_t count = output.num_elements();
  WithElement(input.dtype(), [&]<typename E>() {
    for (int64_t i = 0; i < count; ++i) Out<E>(output)[i] = In<E>(input)[i * (count + 1)];
  });
}

}  // namespace

void RegisterMatrixDiagCpu(KernelRegistry& registry) {
  for (const char* version : {"", "V2", "V3"}) {
    registry.Add(KernelDef(std::string("MatrixDiag") + version).Make<MatrixDiagKernel>());
    registry.Add(KernelDef(std::string("MatrixDiagPart") + version).Make<MatrixDiagPartKernel>());
    registry.Add(KernelDef(std::string("MatrixSetDiag") + version)
                     .InPlace(0, 0)
                     .Make<MatrixSetDiagKernel>());
  }
  registry.Add(KernelDef("MatrixBandPart").InPlace(0, 0).Function(MatrixBandPart));
  registry.Add(KernelDef("Diag").Function(Diag));
  registry.Add(KernelDef("DiagPart").Function(DiagPart));
}

}  // namespace sextant
