#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/sparse/sparse_input.h"

namespace sextant {
namespace {

// The elements of all sets of a tensor as (set, element), in order and without repetition: then
// operations on these lists are operations on all sets at once. Elements are int64 or strings.
template <typename E>
class Sets {
 public:
  using Entry = std::pair<int64_t, E>;

  void AddDense(const Tensor& tensor) {
    if (tensor.rank() < 2) {
      throw InvalidArgument("Shape {} has rank {} < 2", tensor.shape().ToString(), tensor.rank());
    }
    batch_ = Shape(tensor.shape().dims().first(static_cast<size_t>(tensor.rank()) - 1));
    const int64_t size = tensor.dim(tensor.rank() - 1);
    ForEach(tensor, [&](int64_t i, E element) { entries_.emplace_back(i / size, element); });
    Normalize();
  }

  void AddSparse(const Tensor& indices, const Tensor& values, const Tensor& shape, bool validate) {
    SparseInput input;
    input.Set(indices, values, shape);
    if (input.rank() < 2) throw InvalidArgument("Invalid rank {}.", input.rank());
    input.CheckSize();
    input.CheckBounds();
    if (validate) CheckOrder(input);
    batch_ = Shape(input.shape().first(static_cast<size_t>(input.rank()) - 1));
    ForEach(values, [&](int64_t i, E element) {
      int64_t set = 0;
      for (int d = 0; d < batch_.rank(); ++d) set = set * batch_[d] + input.row(i)[d];
      entries_.emplace_back(set, element);
    });
    Normalize();
  }

  const Shape& batch() const { return batch_; }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  template <typename F>
  static void ForEach(const Tensor& tensor, F&& f) {
    const auto visit = [&]<typename T>() {
      const T* const data = tensor.data<T>();
      for (int64_t i = 0; i < tensor.num_elements(); ++i) f(i, static_cast<E>(data[i]));
    };
    if constexpr (std::is_same_v<E, std::string_view>) {
      visit.template operator()<std::string>();
    } else {
      switch (tensor.dtype()) {
        case DType::kInt8:
          return visit.template operator()<int8_t>();
        case DType::kInt16:
          return visit.template operator()<int16_t>();
        case DType::kInt32:
          return visit.template operator()<int32_t>();
        case DType::kUInt8:
          return visit.template operator()<uint8_t>();
        case DType::kUInt16:
          return visit.template operator()<uint16_t>();
        default:
          return visit.template operator()<int64_t>();
      }
    }
  }

  static void CheckOrder(const SparseInput& input) {
    for (int64_t i = 1; i < input.count(); ++i) {
      const int order = CompareRows(input.row(i - 1).data(), input.row(i).data(), input.rank());
      if (order >= 0) {
        throw InvalidArgument("indices[{}] = {} is {}", i, IndexText(input.row(i)),
                              order == 0 ? "repeated" : "out of order");
      }
    }
  }

  void Normalize() {
    std::sort(entries_.begin(), entries_.end());
    entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
  }

  Shape batch_;
  std::vector<Entry> entries_;
};

enum class SetKind { kAMinusB, kBMinusA, kIntersection, kUnion };

SetKind SetKindOf(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name == "a-b") return SetKind::kAMinusB;
  if (name == "b-a") return SetKind::kBMinusA;
  if (name == "intersection") return SetKind::kIntersection;
  if (name == "union") return SetKind::kUnion;
  throw InvalidArgument("Invalid set_operation {}.", name);
}

template <typename Entry>
std::vector<Entry> Apply(SetKind operation, const std::vector<Entry>& a,
                         const std::vector<Entry>& b) {
  std::vector<Entry> result;
  const auto out = std::back_inserter(result);
  switch (operation) {
    case SetKind::kAMinusB:
      std::set_difference(a.begin(), a.end(), b.begin(), b.end(), out);
      break;
    case SetKind::kBMinusA:
      std::set_difference(b.begin(), b.end(), a.begin(), a.end(), out);
      break;
    case SetKind::kIntersection:
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), out);
      break;
    case SetKind::kUnion:
      std::set_union(a.begin(), a.end(), b.begin(), b.end(), out);
      break;
  }
  return result;
}

template <typename E>
void SetElement(Tensor& values, int64_t i, const E& element) {
  if constexpr (std::is_same_v<E, std::string_view>) {
    values.data<std::string>()[i] = element;
  } else {
    switch (DTypeSize(values.dtype())) {  // the low bytes are the element
      case 1:
        static_cast<uint8_t*>(values.raw_data())[i] = static_cast<uint8_t>(element);
        return;
      case 2:
        static_cast<uint16_t*>(values.raw_data())[i] = static_cast<uint16_t>(element);
        return;
      case 4:
        static_cast<uint32_t*>(values.raw_data())[i] = static_cast<uint32_t>(element);
        return;
      default:
        values.data<int64_t>()[i] = element;
    }
  }
}

template <typename Entry>
void WriteSets(KernelContext& ctx, const Shape& batch, const std::vector<Entry>& entries) {
  const int rank = batch.rank() + 1;
  const auto count = static_cast<int64_t>(entries.size());
  int64_t* index = ctx.AllocateOutput(0, {count, rank}).template data<int64_t>();
  Tensor& values = ctx.AllocateOutput(1, {count});
  int64_t largest = 0, position = 0;
  for (int64_t i = 0; i < count; ++i, index += rank) {
    position = i > 0 && entries[i - 1].first == entries[i].first ? position + 1 : 0;
    largest = std::max(largest, position + 1);
    int64_t set = entries[i].first;
    for (int d = rank - 2; d >= 0; --d) {
      index[d] = set % batch[d];
      set /= batch[d];
    }
    index[rank - 1] = position;
    SetElement(values, i, entries[i].second);
  }
  int64_t* const shape = ctx.AllocateOutput(2, {rank}).template data<int64_t>();
  std::copy(batch.dims().begin(), batch.dims().end(), shape);
  shape[rank - 1] = largest;
}

// Which of the inputs are sparse is told by their number: 2, 4 or 6.
template <typename E>
class SetOperationKernel : public Kernel {
 public:
  explicit SetOperationKernel(KernelInit& init)
      : operation_(SetKindOf(init.attr<std::string>("set_operation"))),
        validate_(init.attr<bool>("validate_indices")) {}

  void Compute(KernelContext& ctx) override {
    const int inputs = ctx.num_inputs(), second = inputs == 6 ? 3 : 1;
    Sets<E> a, b;
    if (inputs == 6) {
      a.AddSparse(ctx.input(0), ctx.input(1), ctx.input(2), validate_);
    } else {
      a.AddDense(ctx.input(0));
    }
    if (inputs == 2) {
      b.AddDense(ctx.input(1));
    } else {
      b.AddSparse(ctx.input(second), ctx.input(second + 1), ctx.input(second + 2), validate_);
    }
    if (!(a.batch() == b.batch())) {
      throw InvalidArgument("Mismatched shapes {} vs {}", a.batch().ToString(),
                            b.batch().ToString());
    }
    WriteSets(ctx, a.batch(), Apply(operation_, a.entries(), b.entries()));
  }

 private:
  const SetKind operation_;
  const bool validate_;
};

template <typename E>
class SetSizeKernel : public Kernel {
 public:
  explicit SetSizeKernel(KernelInit& init) : validate_(init.attr<bool>("validate_indices")) {}

  void Compute(KernelContext& ctx) override {
    Sets<E> sets;
    sets.AddSparse(ctx.input(0), ctx.input(1), ctx.input(2), validate_);
    Tensor& out = ctx.AllocateOutput(0, sets.batch());
    std::fill_n(out.data<int32_t>(), out.num_elements(), 0);
    for (const auto& entry : sets.entries()) ++out.data<int32_t>()[entry.first];
  }

 private:
  const bool validate_;
};

}  // namespace

void RegisterSetOperationCpu(KernelRegistry& registry) {
  using enum DType;
  const auto add = [&]<typename E>(const std::vector<DType>& types) {
    for (const char* op :
         {"DenseToDenseSetOperation", "DenseToSparseSetOperation", "SparseToSparseSetOperation"}) {
      registry.Add(KernelDef(op).Types("T", types).template Make<SetOperationKernel<E>>());
    }
    registry.Add(KernelDef("SetSize").Types("T", types).template Make<SetSizeKernel<E>>());
  };
  add.operator()<int64_t>({kInt8, kInt16, kInt32, kInt64, kUInt8, kUInt16});
  add.operator()<std::string_view>({kString});
}

}  // namespace sextant
