#include <algorithm>
#include <complex>
#include <limits>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/arithmetic_type.h"
#include "sextant/ops/math/wrapping.h"

namespace sextant {
namespace {

template <typename T>
struct SegmentSum {
  using Acc = Arithmetic<T>;
  // With sorted ids, a segment begins with its first row, not with Init().
  static constexpr bool kBeginsWithFirst = false;
  static Acc Init() { return Acc(0); }
  static Acc Combine(Acc a, Acc b) { return Wrapping::Add(a, b); }
  static Acc Finish(Acc acc, int64_t) { return acc; }
};
template <typename T>
struct SegmentMean : SegmentSum<T> {
  using Acc = Arithmetic<T>;
  static Acc Finish(Acc acc, int64_t count) { return count > 1 ? Divide(acc, count) : acc; }
  static Acc Divide(Acc acc, int64_t count) {
    if constexpr (std::is_integral_v<Acc>) {
      return static_cast<Acc>(
          static_cast<std::conditional_t<std::is_signed_v<Acc>, int64_t, uint64_t>>(acc) / count);
    } else {
      return acc / static_cast<Acc>(count);
    }
  }
};
template <typename T>
struct SegmentProduct : SegmentSum<T> {
  using Acc = Arithmetic<T>;
  static Acc Init() { return Acc(1); }
  static Acc Combine(Acc a, Acc b) { return Wrapping::Mul(a, b); }
};
// Of nothing: the finite limits of the type itself.
template <typename T>
struct SegmentMax : SegmentSum<T> {
  using Acc = Arithmetic<T>;
  static Acc Init() {
    if constexpr (std::is_same_v<T, Half>) return -65504.0f;
    if constexpr (std::is_same_v<T, BFloat16>)
      return static_cast<float>(BFloat16::FromBits(0xff7f));
    return std::numeric_limits<Acc>::lowest();
  }
  static constexpr bool kBeginsWithFirst = true;
  // As in TensorFlow, a NaN is taken, and gives way to the number that follows it.
  static Acc Combine(Acc a, Acc b) { return a > b ? a : b; }
};
template <typename T>
struct SegmentMin : SegmentSum<T> {
  using Acc = Arithmetic<T>;
  static Acc Init() {
    if constexpr (std::is_same_v<T, Half>) return 65504.0f;
    if constexpr (std::is_same_v<T, BFloat16>)
      return static_cast<float>(BFloat16::FromBits(0x7f7f));
    return std::numeric_limits<Acc>::max();
  }
  static constexpr bool kBeginsWithFirst = true;
  static Acc Combine(Acc a, Acc b) { return a < b ? a : b; }
};

// Checks sorted ids and gives the number of segments.
int64_t CountSegments(const Tensor& data, const Tensor& ids, const std::vector<int64_t>& values) {
  if (ids.rank() != 1) {
    throw InvalidArgument("segment_ids should be a vector, not {}", ids.shape().ToString());
  }
  if (data.rank() < 1) throw InvalidArgument("input must be at least rank 1");
  if (ids.num_elements() != data.dim(0)) {
    throw InvalidArgument("segment_ids should be the same size as dimension 0 of input: {} and {}",
                          ids.num_elements(), data.dim(0));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0)
      throw InvalidArgument("segment_ids[{}] = {} must not be negative", i, values[i]);
    if (i > 0 && values[i] < values[i - 1]) {
      throw InvalidArgument("segment ids are not increasing: segment_ids[{}] = {} follows {}", i,
                            values[i], values[i - 1]);
    }
  }
  return values.empty() ? 0 : values.back() + 1;
}

int64_t CheckUnsorted(const Tensor& data, const Tensor& ids, const std::vector<int64_t>& values,
                      const Tensor& num_segments) {
  const int64_t count = IndexScalar(num_segments, "num_segments");
  if (count < 0) throw InvalidArgument("Input num_segments == {} must not be negative.", count);
  bool fits = ids.rank() <= data.rank();
  for (int i = 0; fits && i < ids.rank(); ++i) fits = ids.dim(i) == data.dim(i);
  if (!fits) {
    throw InvalidArgument("data.shape = {} does not start with segment_ids.shape = {}",
                          data.shape().ToString(), ids.shape().ToString());
  }
  if (data.num_elements() == 0) return count;  // as in TensorFlow, ids of nothing say nothing
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= count) {
      throw InvalidArgument("segment_ids{} = {} is out of range [0, {})",
                            CoordinatesText(ids.shape(), static_cast<int64_t>(i)), values[i],
                            count);
    }
  }
  return count;
}

template <typename T, typename Op>
class SegmentKernel : public Kernel {
 public:
  explicit SegmentKernel(KernelInit& init) : sorted_(init.num_inputs() == 2) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &data = ctx.input(0), &ids = ctx.input(1);
    ReadIndices(ids, &ids_);
    const int64_t segments =
        sorted_ ? CountSegments(data, ids, ids_) : CheckUnsorted(data, ids, ids_, ctx.input(2));
    Shape shape = data.shape();
    for (int i = 0; i < ids.rank(); ++i) shape.Erase(0);
    const int64_t inner = shape.num_elements();
    shape.Insert(0, segments);
    Tensor& output = ctx.AllocateOutput(0, shape);
    T* out = static_cast<T*>(output.raw_data());
    const T* in = static_cast<const T*>(data.raw_data());
    Acc* sums;
    if constexpr (std::is_same_v<Acc, T>) {
      sums = out;
    } else {
      wide_.resize(segments * inner);
      sums = wide_.data();
    }
    counts_.resize(segments);
    const double cost =
        static_cast<double>(data.num_elements()) / static_cast<double>(segments + 1) + 2;
    // Each thread looks at all ids and works for its own segments.
    ctx.ParallelFor(segments, cost, [&](int64_t begin, int64_t end) {
      FoldRows(in, inner, begin, end, sums);
      Finish(inner, begin, end, sums, out);
    });
  }

 private:
  using Acc = typename Op::Acc;

  void FoldRows(const T* in, int64_t inner, int64_t begin, int64_t end, Acc* sums) {
    std::fill(sums + begin * inner, sums + end * inner, Op::Init());
    std::fill(counts_.begin() + begin, counts_.begin() + end, 0);
    for (size_t i = 0; i < ids_.size(); ++i) {
      const int64_t id = ids_[i];
      if (id < begin || id >= end) continue;
      Acc* sum = sums + id * inner;
      const T* row = in + i * inner;
      if (counts_[id]++ == 0 && Op::kBeginsWithFirst && sorted_) {
        for (int64_t j = 0; j < inner; ++j) sum[j] = static_cast<Acc>(row[j]);
        continue;
      }
      for (int64_t j = 0; j < inner; ++j) sum[j] = Op::Combine(sum[j], static_cast<Acc>(row[j]));
    }
  }

  void Finish(int64_t inner, int64_t begin, int64_t end, const Acc* sums, T* out) {
    // Sorted extremes of nothing are 0, not the limits.
    const bool is_prod = std::is_same_v<Op, SegmentProduct<T>>;
    for (int64_t id = begin; id < end; ++id) {
      const bool empty = sorted_ && counts_[id] == 0 && !is_prod;
      for (int64_t j = id * inner; j < (id + 1) * inner; ++j) {
        out[j] = empty ? T(0) : static_cast<T>(Op::Finish(sums[j], counts_[id]));
      }
    }
  }

  const bool sorted_;
  std::vector<int64_t> ids_, counts_;
  std::vector<Acc> wide_;
};

template <template <typename> typename Op, typename T>
void Register(KernelRegistry& registry, const std::vector<const char*>& ops,
              const std::vector<DType>& types) {
  for (const char* op : ops) {
    registry.Add(KernelDef(op).Types("T", types).template Make<SegmentKernel<T, Op<T>>>());
  }
}

template <template <typename> typename Op>
void RegisterReal(KernelRegistry& registry, const std::vector<const char*>& ops) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() { Register<Op, T>(registry, ops, {DTypeOf<T>}); });
}

template <template <typename> typename Op>
void RegisterComplex(KernelRegistry& registry, const std::vector<const char*>& ops) {
  Register<Op, std::complex<float>>(registry, ops, {DType::kComplex64});
  Register<Op, std::complex<double>>(registry, ops, {DType::kComplex128});
}

// Sums and products of signed and unsigned integers have the same bits.
template <template <typename> typename Op>
void RegisterWrapping(KernelRegistry& registry, const std::vector<const char*>& ops) {
  ForTypes<float, double, Half, BFloat16>(
      [&]<typename T>() { Register<Op, T>(registry, ops, {DTypeOf<T>}); });
  Register<Op, uint8_t>(registry, ops, {DType::kInt8, DType::kUInt8});
  Register<Op, uint16_t>(registry, ops, {DType::kInt16, DType::kUInt16});
  Register<Op, uint32_t>(registry, ops, {DType::kInt32, DType::kUInt32});
  Register<Op, uint64_t>(registry, ops, {DType::kInt64, DType::kUInt64});
  RegisterComplex<Op>(registry, ops);
}

}  // namespace

void RegisterSegmentCpu(KernelRegistry& registry) {
  RegisterWrapping<SegmentSum>(registry, {"SegmentSum", "UnsortedSegmentSum"});
  RegisterWrapping<SegmentProduct>(registry, {"SegmentProd", "UnsortedSegmentProd"});
  RegisterReal<SegmentMean>(registry, {"SegmentMean"});
  RegisterComplex<SegmentMean>(registry, {"SegmentMean"});
  RegisterReal<SegmentMax>(registry, {"SegmentMax", "UnsortedSegmentMax"});
  RegisterReal<SegmentMin>(registry, {"SegmentMin", "UnsortedSegmentMin"});
}

}  // namespace sextant
