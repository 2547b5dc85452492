#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/reduce_loops.h"

namespace sextant {
namespace {

using reduce::Fold;

template <typename T>
inline constexpr bool kIs16BitFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// Loops exist for few types only; elements of the others are converted on the way in and out. For
// sums and products it is enough that the low bits of integers are right.
template <typename T>
using SumType =
    std::conditional_t<kIs16BitFloat<T>, float,
                       std::conditional_t<!std::is_integral_v<T>, T,
                                          std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>>;
template <typename T>
using MeanType =
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>,
                       SumType<T>>;
template <typename T>
using ExtremeType =
    std::conditional_t<kIs16BitFloat<T>, float,
                       std::conditional_t<std::is_same_v<T, uint32_t>, int64_t,
                                          std::conditional_t<sizeof(T) < 4, int32_t, T>>>;
template <typename T>
using NormType = std::conditional_t<kIs16BitFloat<T>, float,
                                    std::conditional_t<std::is_integral_v<T>, double, T>>;

template <typename W>
struct SumOp {
  using In = W;
  using Acc = W;
  using Load = reduce::Same;  // makes an Acc of an element
  static Acc Init() { return Acc(0); }
  static Acc Combine(Acc a, Acc b) { return a + b; }
  template <typename T>
  static T Finish(Acc acc, int64_t) {
    return static_cast<T>(acc);
  }
};

template <typename W>
struct ProdOp : SumOp<W> {
  static W Init() { return W(1); }
  static W Combine(W a, W b) { return a * b; }
};

template <typename W>
struct MeanOp : SumOp<W> {
  static W Combine(W a, W b) {
    if constexpr (std::is_integral_v<W>) {
      return static_cast<W>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
      return a + b;
    }
  }
  template <typename T>
  static T Finish(W acc, int64_t count) {
    if constexpr (!std::is_floating_point_v<W>) {
      if (count == 0) return T(0);
    }
    return static_cast<T>(acc / static_cast<W>(count));
  }
};

template <typename W, bool max>
struct ExtremeOp : SumOp<W> {
  using Limits = std::numeric_limits<W>;
  static W Init() {
    if constexpr (Limits::has_infinity) return max ? -Limits::infinity() : Limits::infinity();
    return max ? Limits::lowest() : Limits::max();
  }
  // A NaN on either side is kept.
  static W Combine(W a, W b) {
    if constexpr (max) return ((b > a) | (b != b)) ? b : a;
    return ((b < a) | (b != b)) ? b : a;
  }
  template <typename T>
  static T Finish(W acc, int64_t count) {
    if constexpr (std::is_integral_v<T>) {  // the limit of the narrower type
      if (count == 0) return max ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    }
    return static_cast<T>(acc);
  }
};
template <typename W>
using MaxOp = ExtremeOp<W, true>;
template <typename W>
using MinOp = ExtremeOp<W, false>;

template <typename W>
struct EuclideanNormOp {
  using In = W;
  using Acc = decltype(std::abs(W()));
  struct Load {
    Acc operator()(In value) const {
      if constexpr (std::is_floating_point_v<In>)
        return value * value;
      else
        return std::norm(value);
    }
  };
  static Acc Init() { return 0; }
  static Acc Combine(Acc a, Acc b) { return a + b; }
  template <typename T>
  static T Finish(Acc acc, int64_t) {
    return static_cast<T>(std::sqrt(acc));
  }
};

struct AllOp : SumOp<uint8_t> {
  static Acc Init() { return 1; }
  static Acc Combine(Acc a, Acc b) { return a & b; }
};
struct AnyOp : SumOp<uint8_t> {
  static Acc Combine(Acc a, Acc b) { return a | b; }
};

// The shape of the result, and the input seen as runs of dimensions that are alternately kept and
// folded. Keeps its memory from call to call.
class ReductionShape {
 public:
  void Set(const Shape& input, const Tensor& axes, bool keep_dims) {
    folded_.assign(input.rank(), false);
    for (int64_t i = 0; i < axes.num_elements(); ++i) Mark(IndexAt(axes, i), input);
    output_.clear();
    runs_.clear();
    last_folded_ = false;
    count_ = 1;
    for (int i = 0; i < input.rank(); ++i) {
      const int64_t size = input[i];
      if (folded_[i]) count_ *= size;
      if (!folded_[i] || keep_dims) output_.push_back(folded_[i] ? 1 : size);
      if (size == 1) continue;
      if (runs_.empty() && folded_[i]) runs_.push_back(1);
      if (runs_.empty() || folded_[i] != last_folded_) {
        runs_.push_back(size);
      } else {
        runs_.back() *= size;
      }
      last_folded_ = folded_[i];
    }
  }
  Shape output() const { return Shape(std::span<const int64_t>(output_)); }
  // Sizes of the runs; those at odd places are folded.
  const std::vector<int64_t>& runs() const { return runs_; }
  // Number of elements that go into one.
  int64_t count() const { return count_; }

 private:
  void Mark(int64_t axis, const Shape& input) {
    const int64_t index = axis < 0 ? axis + input.rank() : axis;
    if (index < 0 || index >= input.rank()) {
      throw InvalidArgument("Invalid reduction dimension ({} for input with {} dimension(s))", axis,
                            input.rank());
    }
    if (folded_[index]) {
      throw InvalidArgument("Invalid reduction arguments: Axes contains duplicate dimension: {}",
                            index);
    }
    folded_[index] = true;
  }

  std::vector<bool> folded_;
  std::vector<int64_t> output_, runs_;
  bool last_folded_ = false;
  int64_t count_ = 1;
};

template <typename T>
T* Reserve(std::vector<T>* memory, int64_t size) {
  if (memory->size() < static_cast<size_t>(size)) memory->resize(size);
  return memory->data();
}

// Folds the runs of a ReductionShape, from the last to the first.
template <typename Op>
class Folder {
 public:
  using In = typename Op::In;
  using Acc = typename Op::Acc;

  void Run(KernelContext& ctx, const std::vector<int64_t>& runs, const In* in, Acc* result) {
    const typename Op::Load load{};
    const auto partial = [this](int64_t n) { return Reserve(&partial_, n); };
    int64_t inner = 1, outer = 1;
    for (int64_t size : runs) outer *= size;
    int i = static_cast<int>(runs.size()) - 1;
    if (i >= 0 && i % 2 == 0) {  // the last run is kept
      inner = runs[i];
      outer /= inner;
      --i;
    }
    if (i < 0) return Fold<Op>(ctx, in, 1, 1, inner, result, load, partial);
    const Acc* folded = nullptr;
    for (int stage = 0; i >= 0; i -= 2, stage ^= 1) {
      outer /= runs[i];
      Acc* to = i == 1 ? result : Reserve(&stages_[stage], outer * inner);
      if (folded == nullptr) {
        Fold<Op>(ctx, in, outer, runs[i], inner, to, load, partial);
      } else {
        Fold<Op>(ctx, folded, outer, runs[i], inner, to, reduce::Same(), partial);
      }
      folded = to;
      inner *= runs[i - 1];
      outer /= runs[i - 1];
    }
  }

 private:
  std::vector<Acc> partial_, stages_[2];
};

template <typename T, typename Op>
class ReduceKernel : public Kernel {
 public:
  explicit ReduceKernel(KernelInit& init) : keep_dims_(init.attr<bool>("keep_dims")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    shape_.Set(input.shape(), ctx.input(1), keep_dims_);
    Tensor& output = ctx.AllocateOutput(0, shape_.output());
    const int64_t size = output.num_elements(), input_size = input.num_elements();
    if (size == 0) return;
    T* out = static_cast<T*>(output.raw_data());
    if (input_size == 0) {
      std::fill(out, out + size, Op::template Finish<T>(Op::Init(), 0));
      return;
    }
    const In* in = static_cast<const In*>(input.raw_data());
    if constexpr (!kSameIn) {
      In* wide = Reserve(&converted_, input_size);
      const T* narrow = static_cast<const T*>(input.raw_data());
      for (int64_t i = 0; i < input_size; ++i) wide[i] = static_cast<In>(narrow[i]);
      in = wide;
    }
    Acc* result;
    if constexpr (kInPlace) {
      result = reinterpret_cast<Acc*>(out);
    } else {
      result = Reserve(&finished_, size);
    }
    folder_.Run(ctx, shape_.runs(), in, result);
    if constexpr (!kInPlace) {
      for (int64_t i = 0; i < size; ++i) out[i] = Op::template Finish<T>(result[i], shape_.count());
    }
  }

 private:
  using In = typename Op::In;
  using Acc = typename Op::Acc;
  // The same bits, at most of another sign.
  static constexpr bool kSameIn =
      std::is_same_v<In, T> ||
      (std::is_integral_v<T> && std::is_integral_v<In> && sizeof(In) == sizeof(T));
  // The fold's result is the output already.
  static constexpr bool kInPlace = kSameIn && std::is_same_v<Acc, In> &&
                                   !std::is_same_v<Op, MeanOp<In>> &&
                                   !std::is_same_v<Op, EuclideanNormOp<In>>;

  const bool keep_dims_;
  ReductionShape shape_;
  Folder<Op> folder_;
  std::vector<In> converted_;
  std::vector<Acc> finished_;
};

template <template <typename> typename Op, template <typename> typename Wide, typename... Ts>
void Register(KernelRegistry& registry, const char* op) {
  ForTypes<Ts...>([&]<typename T>() {
    registry.Add(KernelDef(op).Type<T>("T").template Make<ReduceKernel<T, Op<Wide<T>>>>());
  });
}
template <template <typename> typename Op, template <typename> typename Wide>
void RegisterReal(KernelRegistry& registry, const char* op) {
  Register<Op, Wide, float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
           uint16_t, uint32_t, uint64_t>(registry, op);
}
template <template <typename> typename Op, template <typename> typename Wide>
void RegisterNumber(KernelRegistry& registry, const char* op) {
  RegisterReal<Op, Wide>(registry, op);
  Register<Op, Wide, std::complex<float>, std::complex<double>>(registry, op);
}

}  // namespace

void RegisterReduceCpu(KernelRegistry& registry) {
  RegisterNumber<SumOp, SumType>(registry, "Sum");
  RegisterNumber<ProdOp, SumType>(registry, "Prod");
  RegisterNumber<MeanOp, MeanType>(registry, "Mean");
  RegisterNumber<EuclideanNormOp, NormType>(registry, "EuclideanNorm");
  RegisterReal<MaxOp, ExtremeType>(registry, "Max");
  RegisterReal<MinOp, ExtremeType>(registry, "Min");
  registry.Add(KernelDef("All").Make<ReduceKernel<uint8_t, AllOp>>());
  registry.Add(KernelDef("Any").Make<ReduceKernel<uint8_t, AnyOp>>());
}

}  // namespace sextant
