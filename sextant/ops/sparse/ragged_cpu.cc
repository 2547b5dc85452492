#include <algorithm>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/math/broadcast_plan.h"

namespace sextant {
namespace {

using Splits = std::vector<int64_t>;

// Throws INVALID_ARGUMENT unless the splits go from 0 up to "num_values" (where that is known).
void CheckSplits(const Splits& splits, int64_t num_values) {
  if (splits.empty()) throw InvalidArgument("ragged splits may not be empty.");
  if (splits[0] != 0) {
    throw InvalidArgument("First value of ragged splits must be 0, not {}", splits[0]);
  }
  if (!std::is_sorted(splits.begin(), splits.end())) {
    throw InvalidArgument("ragged splits must not decrease");
  }
  if (splits.back() != num_values) {
    throw InvalidArgument("Final value {} of ragged splits must match the {} ragged values",
                          splits.back(), num_values);
  }
}

// The outer levels' values are the rows of the next.
void CheckLevels(const std::vector<Splits>& levels, int64_t num_values) {
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i].empty()) throw InvalidArgument("ragged splits may not be empty.");
    const bool last = i + 1 == levels.size();
    CheckSplits(levels[i], last ? num_values : static_cast<int64_t>(levels[i + 1].size()) - 1);
  }
}

int64_t NumRows(const Splits& splits) { return static_cast<int64_t>(splits.size()) - 1; }

int64_t LongestRow(const Splits& splits) {
  int64_t longest = 0;
  for (size_t i = 1; i < splits.size(); ++i) longest = std::max(longest, splits[i] - splits[i - 1]);
  return longest;
}

void ToSparseKernel(KernelContext& ctx) {
  const int num_levels = ctx.num_inputs() - 1;
  const Tensor& values = ctx.input(num_levels);
  if (values.rank() < 1) throw InvalidArgument("ragged values must be at least a vector");
  std::vector<Splits> levels;
  for (int i = 0; i < num_levels; ++i) levels.push_back(ctx.input(i).AsInt64s());
  CheckLevels(levels, values.dim(0));
  const int rank = num_levels + values.rank();
  const int64_t count = values.num_elements();
  int64_t* index = ctx.AllocateOutput(0, {count, rank}).data<int64_t>();
  // The row of each level that the current value is in.
  std::vector<int64_t> rows(static_cast<size_t>(num_levels), 0);
  const int64_t inner = values.dim(0) == 0 ? 0 : count / values.dim(0);
  for (int64_t v = 0; v < values.dim(0); ++v) {
    int64_t position = v;
    for (int level = num_levels - 1; level >= 0; --level) {
      while (levels[level][rows[level] + 1] <= position) ++rows[level];
      for (int64_t k = 0; k < inner; ++k) {
        index[k * rank + level + 1] = position - levels[level][rows[level]];
      }
      position = rows[level];
    }
    for (int64_t k = 0; k < inner; ++k, index += rank) {
      index[0] = position;
      int64_t rest = k;
      for (int d = values.rank() - 1; d > 0; --d) {
        index[num_levels + d] = rest % values.dim(d);
        rest /= values.dim(d);
      }
    }
  }
  ctx.ForwardInput(num_levels, 1, {count});
  int64_t* const shape = ctx.AllocateOutput(2, {rank}).data<int64_t>();
  shape[0] = NumRows(levels[0]);
  for (int level = 0; level < num_levels; ++level) shape[level + 1] = LongestRow(levels[level]);
  for (int d = 1; d < values.rank(); ++d) shape[num_levels + d] = values.dim(d);
}

class ToTensorKernel : public Kernel {
 public:
  explicit ToTensorKernel(KernelInit& init) {
    const auto& types = init.attr<std::vector<std::string>>("row_partition_types");
    by_row_ids_ = !types.empty() && types[0] == "FIRST_DIM_SIZE";
    if (static_cast<int>(types.size()) != init.num_inputs() - 3) {
      throw InvalidArgument("{} row_partition_types for {} row partitions", types.size(),
                            init.num_inputs() - 3);
    }
    for (size_t i = by_row_ids_ ? 1 : 0; i < types.size(); ++i) {
      if (types[i] != (by_row_ids_ ? "VALUE_ROWIDS" : "ROW_SPLITS")) {
        throw InvalidArgument("row partition {} is of type {}", i, types[i]);
      }
    }
  }

  void Compute(KernelContext& ctx) override {
    const Tensor& values = ctx.input(1);
    if (values.rank() < 1) throw InvalidArgument("ragged values must be at least a vector");
    int64_t num_rows = 0;
    const std::vector<Splits> levels = Levels(ctx, values.dim(0), &num_rows);
    const Shape inner(values.shape().dims().subspan(1));
    const Shape shape = OutputShape(ctx.input(0), levels, num_rows, inner);
    Tensor& out = ctx.AllocateOutput(0, shape);
    WithElement(out.dtype(), [&]<typename T>() {
      FillWithDefault<T>(ctx.input(2), inner, out);
      CopyRows<T>(values, levels, shape, inner.num_elements(), out);
    });
  }

 private:
  std::vector<Splits> Levels(KernelContext& ctx, int64_t num_values, int64_t* num_rows) const {
    std::vector<Splits> levels;
    if (!by_row_ids_) {
      for (int i = 3; i < ctx.num_inputs(); ++i) levels.push_back(ctx.input(i).AsInt64s());
      CheckLevels(levels, num_values);
      *num_rows = NumRows(levels[0]);
      return levels;
    }
    *num_rows = ctx.input(3).AsInt64();
    if (*num_rows < 0) throw InvalidArgument("there cannot be {} rows", *num_rows);
    constexpr int64_t kMaxRows = int64_t{1} << 27;  // it is but a number, and a place for each row
    if (*num_rows > kMaxRows) {
      throw ResourceExhausted("a ragged tensor cannot have {} rows, {} at most", *num_rows,
                              kMaxRows);
    }
    int64_t rows = *num_rows;
    for (int i = 4; i < ctx.num_inputs(); ++i) {
      const std::vector<int64_t> ids = ctx.input(i).AsInt64s();
      levels.push_back(SplitsOf(ids, rows));
      rows = static_cast<int64_t>(ids.size());
    }
    CheckLevels(levels, num_values);
    return levels;
  }

  static Splits SplitsOf(const std::vector<int64_t>& row_ids, int64_t rows) {
    Splits splits(static_cast<size_t>(rows) + 1, 0);
    int64_t last = 0;
    for (const int64_t id : row_ids) {
      if (id < last || id >= rows) {
        throw InvalidArgument("row id {} is not in [{}, {})", id, last, rows);
      }
      last = id;
      ++splits[id + 1];
    }
    for (size_t i = 1; i < splits.size(); ++i) splits[i] += splits[i - 1];
    return splits;
  }

  static Shape OutputShape(const Tensor& given, const std::vector<Splits>& levels, int64_t num_rows,
                           const Shape& inner) {
    std::vector<int64_t> dims{num_rows};
    for (const Splits& splits : levels) dims.push_back(LongestRow(splits));
    dims.insert(dims.end(), inner.dims().begin(), inner.dims().end());
    const std::vector<int64_t> wanted = given.AsInt64s();
    if (given.rank() == 0) {
      if (wanted[0] != -1) throw InvalidArgument("the only scalar shape is -1, not {}", wanted[0]);
      return Shape(dims);
    }
    if (wanted.size() != dims.size()) {
      throw InvalidArgument("a ragged tensor of rank {} does not fit a shape of rank {}",
                            dims.size(), wanted.size());
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      if (wanted[d] < 0) continue;
      if (d > levels.size() && wanted[d] != dims[d]) {
        throw InvalidArgument("dimension {} of the ragged tensor is {}, not {}", d, dims[d],
                              wanted[d]);
      }
      dims[d] = wanted[d];
    }
    return Shape(dims);
  }

  template <typename T>
  static void FillWithDefault(const Tensor& value, const Shape& inner, Tensor& out) {
    const T* const from = static_cast<const T*>(value.raw_data());
    T* const to = static_cast<T*>(out.raw_data());
    if (value.num_elements() == 1) {
      std::fill_n(to, out.num_elements(), *from);
      return;
    }
    const BroadcastPlan plan(value.shape(), inner);
    if (!(plan.output() == inner)) {
      throw InvalidArgument("a default value of shape {} does not fit values of shape {}",
                            value.shape().ToString(), inner.ToString());
    }
    const int64_t size = inner.num_elements();
    for (int64_t start = 0; size > 0 && start < out.num_elements(); start += size) {
      plan.ForRows(0, plan.num_rows(), [&](int64_t first, const int64_t* offsets) {
        for (int64_t i = 0; i < plan.row_size(); ++i) {
          to[start + first + i] = from[offsets[0] + i * plan.step(0)];
        }
      });
    }
  }

  template <typename T>
  static void CopyRows(const Tensor& values, const std::vector<Splits>& levels, const Shape& shape,
                       int64_t inner, Tensor& out) {
    // Where each row of a level goes, in rows of the output; -1 where it is cut off.
    const int64_t rows = levels.empty() ? values.dim(0) : NumRows(levels[0]);
    std::vector<int64_t> places(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) places[i] = i < shape[0] ? i : -1;
    for (size_t level = 0; level < levels.size(); ++level) {
      const Splits& splits = levels[level];
      const int64_t width = shape[static_cast<int>(level) + 1];
      std::vector<int64_t> next(static_cast<size_t>(splits.back()), -1);
      for (size_t row = 0; row + 1 < splits.size(); ++row) {
        const int64_t end = std::min(splits[row + 1], splits[row] + width);
        for (int64_t i = splits[row]; places[row] >= 0 && i < end; ++i) {
          next[i] = places[row] * width + i - splits[row];
        }
      }
      places = std::move(next);
    }
    const T* const from = static_cast<const T*>(values.raw_data());
    T* const to = static_cast<T*>(out.raw_data());
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0) continue;
      std::copy_n(from + static_cast<int64_t>(i) * inner, inner, to + places[i] * inner);
    }
  }

  bool by_row_ids_ = false;
};

}  // namespace

void RegisterRaggedCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("RaggedTensorToSparse").Function(ToSparseKernel));
  registry.Add(KernelDef("RaggedTensorToTensor").Make<ToTensorKernel>());
}

}  // namespace sextant
