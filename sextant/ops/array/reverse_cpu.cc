#include <algorithm>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/strided_copy.h"

namespace sextant {
namespace {

class ReverseKernel : public Kernel {
 public:
  explicit ReverseKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    ReadAxes(ctx.input(1), input.rank());
    Tensor& out = ctx.AllocateOutput(0, input.shape());
    if (out.num_elements() == 0) return;
    StridedCopy copy;
    int64_t stride = out.num_elements(), offset = 0;
    for (int d = 0; d < input.rank(); ++d) {
      const int64_t size = input.dim(d);
      stride /= size;
      if (turned_[d]) offset += (size - 1) * stride;
      copy.Add(size, stride, turned_[d] ? -stride : stride);
    }
    copy.Run(ctx, out, 0, input, offset);
  }

 private:
  void ReadAxes(const Tensor& axes, int rank) {
    turned_.assign(rank, 0);
    if (rank == 0) return;  // whatever the axes are, as in TensorFlow
    if (axes.dtype() == DType::kBool) {
      CheckVector(axes, "dims", rank);
      std::copy_n(axes.data<bool>(), rank, turned_.begin());
      return;
    }
    CheckVector(axes, "axis");
    for (int64_t i = 0; i < axes.num_elements(); ++i) {
      const int64_t axis = IndexAt(axes, i);
      if (axis < -rank || axis >= rank) {
        throw InvalidArgument("'axis'[{}] = {} is out of valid range [{}, {}]", i, axis, -rank,
                              rank - 1);
      }
      uint8_t& turned = turned_[axis < 0 ? axis + rank : axis];
      if (turned) throw InvalidArgument("axis {} specified more than once.", axis);
      turned = 1;
    }
  }
  std::vector<uint8_t> turned_;
};

class ReverseSequenceKernel : public Kernel {
 public:
  explicit ReverseSequenceKernel(KernelInit& init)
      : seq_dim_(init.attr<int64_t>("seq_dim")), batch_dim_(init.attr<int64_t>("batch_dim")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const int seq = Axis(seq_dim_, input.rank()), batch = Axis(batch_dim_, input.rank());
    if (seq == batch) throw InvalidArgument("batch_dim == seq_dim == {}", seq);
    CheckVector(ctx.input(1), "seq_lengths", input.dim(batch));
    ReadIndices(ctx.input(1), &lengths_);
    for (size_t b = 0; b < lengths_.size(); ++b) {
      if (lengths_[b] < 0 || lengths_[b] > input.dim(seq)) {
        throw InvalidArgument("seq_lens({}) = {} is not in [0, {}]", b, lengths_[b],
                              input.dim(seq));
      }
    }
    Tensor& out = ctx.AllocateOutput(0, input.shape());
    if (out.num_elements() == 0) return;
    // Seen as [outer, first, middle, second, inner], first and second being batch and sequence.
    const int low = std::min(seq, batch), high = std::max(seq, batch);
    int64_t outer = 1, middle = 1, inner = 1;
    for (int d = 0; d < low; ++d) outer *= input.dim(d);
    for (int d = low + 1; d < high; ++d) middle *= input.dim(d);
    for (int d = high + 1; d < input.rank(); ++d) inner *= input.dim(d);
    const int64_t first = input.dim(low), second = input.dim(high);
    const auto source = [&](int64_t position, int64_t b) {
      return position < lengths_[b] ? lengths_[b] - 1 - position : position;
    };
    WithElement(out.dtype(), [&]<typename T>() {
      const T* const src = static_cast<const T*>(input.raw_data());
      T* dst = static_cast<T*>(out.raw_data());
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t f = 0; f < first; ++f) {
          for (int64_t m = 0; m < middle; ++m) {
            for (int64_t s = 0; s < second; ++s) {
              const int64_t from_f = seq == low ? source(f, s) : f;
              const int64_t from_s = seq == low ? s : source(s, f);
              const T* const from =
                  src + (((o * first + from_f) * middle + m) * second + from_s) * inner;
              dst = std::copy_n(from, inner, dst);
            }
          }
        }
      }
    });
  }

 private:
  static int Axis(int64_t axis, int rank) {
    if (axis < -rank || axis >= rank) {
      throw InvalidArgument("dimension {} of a tensor of rank {}", axis, rank);
    }
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
  const int64_t seq_dim_, batch_dim_;
  std::vector<int64_t> lengths_;
};

class RollKernel : public Kernel {
 public:
  explicit RollKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const int last = ReadShifts(ctx);
    Tensor& out = ctx.AllocateOutput(0, input.shape());
    if (out.num_elements() == 0) return;
    // The last shifted dimension and all after it make up rows, turned in two pieces.
    int64_t row = 1;
    for (int d = last; d < input.rank(); ++d) row *= input.dim(d);
    const int64_t rows = input.num_elements() / row;
    const int64_t turn = row / input.dim(last) * shifts_[last];
    WithElement(out.dtype(), [&]<typename T>() {
      const T* const src = static_cast<const T*>(input.raw_data());
      T* const dst = static_cast<T*>(out.raw_data());
      for (int64_t r = 0; r < rows; ++r) {
        int64_t target = 0, rest = r, scale = 1;
        for (int d = last - 1; d >= 0; --d) {
          const int64_t size = input.dim(d);
          target += (rest % size + shifts_[d]) % size * scale;
          rest /= size;
          scale *= size;
        }
        const T* const from = src + r * row;
        T* const to = dst + target * row;
        std::copy_n(from, row - turn, to + turn);
        std::copy_n(from + (row - turn), turn, to);
      }
    });
  }

 private:
  // The shifts of all dimensions, each in [0, size); returns the last dimension that is shifted.
  int ReadShifts(KernelContext& ctx) {
    const Tensor& input = ctx.input(0);
    const Tensor& shift = ctx.input(1);
    const Tensor& axis = ctx.input(2);
    const int rank = input.rank();
    if (rank < 1) throw InvalidArgument("input must be 1-D or higher");
    if (shift.rank() > 1 || axis.rank() > 1 || !(shift.shape() == axis.shape())) {
      throw InvalidArgument("shift and axis must be scalars or vectors of one size, got {} and {}",
                            shift.shape().ToString(), axis.shape().ToString());
    }
    shifts_.assign(rank, 0);
    int last = 0;
    for (int64_t i = 0; i < axis.num_elements(); ++i) {
      const int64_t a = IndexAt(axis, i);
      if (a < -rank || a >= rank) throw InvalidArgument("axis {} is out of range", a);
      const int d = static_cast<int>(a < 0 ? a + rank : a);
      const int64_t size = std::max<int64_t>(input.dim(d), 1);
      shifts_[d] = ((shifts_[d] + IndexAt(shift, i) % size) % size + size) % size;
      last = std::max(last, d);
    }
    return last;
  }
  std::vector<int64_t> shifts_;
};

}  // namespace

void RegisterReverseCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("ReverseV2").Make<ReverseKernel>());
  registry.Add(KernelDef("Reverse").Make<ReverseKernel>());
  registry.Add(KernelDef("ReverseSequence").Make<ReverseSequenceKernel>());
  registry.Add(KernelDef("Roll").Make<RollKernel>());
}

}  // namespace sextant
