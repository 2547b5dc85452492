#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/lookup/lookup_table.h"
#include "sextant/ops/lookup/table_handle.h"

namespace sextant {
namespace {

// The attribute, or a scalar's where the op has none.
Shape ValueShape(KernelInit& init) {
  if (init.node().op().FindAttr("value_shape") == nullptr) return Shape();
  const auto& shape = init.attr<PartialShape>("value_shape");
  if (!shape.fully_known() || shape.rank() > 1) {
    throw InvalidArgument("Default value must be a vector, got shape {}", shape.ToString());
  }
  return shape.AsShape();
}

class MutableHashTableKernel : public TableHandleKernel {
 public:
  explicit MutableHashTableKernel(KernelInit& init)
      : TableHandleKernel(init), value_shape_(ValueShape(init)) {}

 private:
  std::shared_ptr<LookupTable> MakeTable(KernelContext&) const override {
    return MakeMutableHashTable(key_dtype(), value_dtype(), value_shape_);
  }
  const Shape value_shape_;
};

class DenseHashTableKernel : public TableHandleKernel {
 public:
  explicit DenseHashTableKernel(KernelInit& init) : TableHandleKernel(init) {
    options_.value_dtype = value_dtype();
    options_.value_shape = ValueShape(init);
    options_.initial_num_buckets = init.attr<int64_t>("initial_num_buckets");
    options_.max_load_factor = init.attr<float>("max_load_factor");
  }

 private:
  std::shared_ptr<LookupTable> MakeTable(KernelContext& ctx) const override {
    return MakeDenseHashTable(ctx.input(0), ctx.input(1), options_);
  }
  DenseHashTableOptions options_;
};

}  // namespace

void RegisterMutableHashTableCpu(KernelRegistry& registry) {
  using enum DType;
  const auto add = [&]<typename K>(const char* op, DType key, std::vector<DType> values) {
    registry.Add(KernelDef(op)
                     .Types("key_dtype", {key})
                     .Types("value_dtype", std::move(values))
                     .OwnOutputs()
                     .Make<K>());
  };
  for (const char* op : {"MutableHashTableV2", "AnonymousMutableHashTable",
                         "MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors"}) {
    using K = MutableHashTableKernel;
    add.operator()<K>(op, kString, {kInt64, kInt32, kFloat, kDouble, kBool});
    add.operator()<K>(op, kInt64, {kVariant, kString, kInt64, kInt32, kFloat, kDouble, kBool});
    add.operator()<K>(op, kInt32, {kInt32, kFloat, kDouble});
  }
  for (const char* op : {"MutableDenseHashTableV2", "AnonymousMutableDenseHashTable"}) {
    using K = DenseHashTableKernel;
    add.operator()<K>(op, kString, {kResource, kInt64, kInt32, kFloat, kDouble, kBool});
    add.operator()<K>(op, kInt64, {kVariant, kInt64, kInt32, kFloat, kDouble, kBool});
    add.operator()<K>(op, kInt32, {kInt32, kFloat, kDouble});
  }
}

}  // namespace sextant
