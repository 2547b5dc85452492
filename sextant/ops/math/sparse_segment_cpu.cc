#include <algorithm>
#include <cmath>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/arithmetic_type.h"

namespace sextant {
namespace {

enum class Norm { kSum, kMean, kSqrtN };

Norm NormOf(const std::string& op) {
  if (op.starts_with("SparseSegmentMean")) return Norm::kMean;
  return op.starts_with("SparseSegmentSqrtN") ? Norm::kSqrtN : Norm::kSum;
}

// What the sum of "count" rows is divided by.
double Divisor(Norm norm, int64_t count) {
  const double rows = static_cast<double>(std::max<int64_t>(count, 1));
  return norm == Norm::kSum ? 1.0 : norm == Norm::kMean ? rows : std::sqrt(rows);
}

Shape WithRows(Shape shape, int64_t rows) {
  shape.Erase(0);
  shape.Insert(0, rows);
  return shape;
}

void CheckPairs(const Tensor& data, const Tensor& indices, const Tensor& ids) {
  if (data.rank() < 1) throw InvalidArgument("data must be at least rank 1");
  CheckVector(indices, "indices");
  CheckVector(ids, "segment_ids");
  if (indices.num_elements() != ids.num_elements()) {
    throw InvalidArgument("segment_ids and indices should have same size: {} and {}",
                          ids.num_elements(), indices.num_elements());
  }
}

template <typename T>
class SparseSegmentKernel : public Kernel {
 public:
  explicit SparseSegmentKernel(KernelInit& init) : norm_(NormOf(init.node().type())) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& data = ctx.input(0);
    CheckPairs(data, ctx.input(1), ctx.input(2));
    ReadIndices(ctx.input(1), &indices_);
    ReadIndices(ctx.input(2), &ids_);
    const int64_t segments = CheckIds(ctx);
    for (size_t i = 0; i < indices_.size(); ++i) {
      if (indices_[i] < 0 || indices_[i] >= data.dim(0)) {
        throw InvalidArgument("Bad: indices[{}] == {} out of range [0, {})", i, indices_[i],
                              data.dim(0));
      }
    }
    const Shape shape = WithRows(data.shape(), segments);
    T* out = static_cast<T*>(ctx.AllocateOutput(0, shape).raw_data());
    const int64_t inner = segments == 0 ? 0 : shape.num_elements() / segments;
    const T* in = static_cast<const T*>(data.raw_data());
    const double rows = static_cast<double>(ids_.size());
    ctx.ParallelFor(
        segments, rows * static_cast<double>(inner) / (static_cast<double>(segments) + 1) + 5,
        [&](int64_t begin, int64_t end) {
          std::vector<Arithmetic<T>> sum(inner);
          auto at = std::lower_bound(ids_.begin(), ids_.end(), begin) - ids_.begin();
          for (int64_t id = begin; id < end; ++id) {
            const auto first = at;
            std::fill(sum.begin(), sum.end(), Arithmetic<T>(0));
            for (; at < std::ssize(ids_) && ids_[at] == id; ++at) {
              const T* row = in + indices_[at] * inner;
              for (int64_t j = 0; j < inner; ++j)
                sum[j] = static_cast<Arithmetic<T>>(sum[j] + static_cast<Arithmetic<T>>(row[j]));
            }
            const auto divisor = static_cast<Arithmetic<T>>(Divisor(norm_, at - first));
            for (int64_t j = 0; j < inner; ++j)
              out[id * inner + j] = static_cast<T>(sum[j] / divisor);
          }
        });
  }

 private:
  // The number of results.
  int64_t CheckIds(KernelContext& ctx) const {
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i] < 0)
        throw InvalidArgument("segment ids must be >= 0: segment_ids[{}] = {}", i, ids_[i]);
      if (i > 0 && ids_[i] < ids_[i - 1]) {
        throw InvalidArgument("segment ids are not increasing: segment_ids[{}] = {} follows {}", i,
                              ids_[i], ids_[i - 1]);
      }
    }
    const int64_t needed = ids_.empty() ? 0 : ids_.back() + 1;
    if (ctx.num_inputs() < 4) return needed;
    const int64_t segments = IndexScalar(ctx.input(3), "num_segments");
    if (segments < 0) throw InvalidArgument("num_segments = {} is negative", segments);
    if (needed > segments) {
      throw InvalidArgument("segment ids must be < num_segments: {} and {}", needed - 1, segments);
    }
    return segments;
  }

  const Norm norm_;
  std::vector<int64_t> indices_, ids_;
};

// Adds row segment_ids[i] of the gradient, divided as in the forward direction, to row indices[i].
// The second version gives only the rows that occur, and which they are.
template <typename T>
class SparseSegmentGradKernel : public Kernel {
 public:
  explicit SparseSegmentGradKernel(KernelInit& init)
      : norm_(NormOf(init.node().type())), compact_(init.num_outputs() == 2) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& grad = ctx.input(0);
    CheckPairs(grad, ctx.input(1), ctx.input(2));
    ReadIndices(ctx.input(1), &indices_);
    ReadIndices(ctx.input(2), &ids_);
    const int64_t rows = IndexScalar(ctx.input(3), "output_dim0");
    if (rows < 0) throw InvalidArgument("Expected a non-negative size, got {}", rows);
    if (rows == 0) {  // no id or index is looked at
      indices_.clear();
      ids_.clear();
    }
    Count(grad.dim(0), rows);
    int64_t out_rows = rows;
    if (compact_) {
      unique_ = indices_;
      std::sort(unique_.begin(), unique_.end());
      unique_.erase(std::unique(unique_.begin(), unique_.end()), unique_.end());
      out_rows = std::ssize(unique_);
      WriteUnique(ctx.AllocateOutput(1, {out_rows}));
    }
    const Shape shape = WithRows(grad.shape(), out_rows);
    T* out = static_cast<T*>(ctx.AllocateOutput(0, shape).raw_data());
    const int64_t inner = out_rows == 0 ? 0 : shape.num_elements() / out_rows;
    sums_.assign(shape.num_elements(), Arithmetic<T>(0));
    const T* in = static_cast<const T*>(grad.raw_data());
    for (size_t i = 0; i < ids_.size(); ++i) {
      const auto divisor = static_cast<Arithmetic<T>>(Divisor(norm_, counts_[ids_[i]]));
      const T* row = in + ids_[i] * inner;
      const int64_t at =
          compact_ ? std::lower_bound(unique_.begin(), unique_.end(), indices_[i]) - unique_.begin()
                   : indices_[i];
      for (int64_t j = 0; j < inner; ++j)
        sums_[at * inner + j] += static_cast<Arithmetic<T>>(row[j]) / divisor;
    }
    for (size_t i = 0; i < sums_.size(); ++i) out[i] = static_cast<T>(sums_[i]);
  }

 private:
  void Count(int64_t segments, int64_t rows) {
    counts_.assign(segments, 0);
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i] < 0 || ids_[i] >= segments) {
        throw InvalidArgument("Segment id {} out of range [0, {}).", ids_[i], segments);
      }
      if (indices_[i] < 0 || indices_[i] >= rows) {
        throw InvalidArgument("Index {} out of range [0, {}).", indices_[i], rows);
      }
      ++counts_[ids_[i]];
    }
  }

  void WriteUnique(Tensor& output) const {
    if (output.dtype() == DType::kInt32) {
      std::copy(unique_.begin(), unique_.end(), output.data<int32_t>());
    } else {
      std::copy(unique_.begin(), unique_.end(), output.data<int64_t>());
    }
  }

  const Norm norm_;
  const bool compact_;
  std::vector<int64_t> indices_, ids_, counts_, unique_;
  std::vector<Arithmetic<T>> sums_;
};

}  // namespace

void RegisterSparseSegmentCpu(KernelRegistry& registry) {
  const std::string stem = "SparseSegment";
  ForTypes<float, double, Half, BFloat16>([&]<typename T>() {
    for (const char* how : {"Sum", "Mean", "SqrtN"}) {
      for (const char* end : {"", "WithNumSegments"}) {
        registry.Add(
            KernelDef(stem + how + end).Type<T>("T").template Make<SparseSegmentKernel<T>>());
      }
      for (const char* end : {"Grad", "GradV2"}) {
        registry.Add(
            KernelDef(stem + how + end).Type<T>("T").template Make<SparseSegmentGradKernel<T>>());
      }
    }
  });
  // Sums of signed and unsigned integers have the same bits.
  const auto integers = [&]<typename T>(const std::vector<DType>& types) {
    for (const char* op : {"SparseSegmentSum", "SparseSegmentSumWithNumSegments"}) {
      registry.Add(KernelDef(op).Types("T", types).template Make<SparseSegmentKernel<T>>());
    }
  };
  integers.template operator()<uint8_t>({DType::kInt8, DType::kUInt8});
  integers.template operator()<uint16_t>({DType::kInt16, DType::kUInt16});
  integers.template operator()<uint32_t>({DType::kInt32, DType::kUInt32});
  integers.template operator()<uint64_t>({DType::kInt64, DType::kUInt64});
}

}  // namespace sextant
