#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/device/resource_manager.h"
#include "sextant/ops/lookup/lookup_table.h"
#include "sextant/ops/lookup/table_handle.h"
#include "sextant/ops/lookup/vocabulary_file.h"

namespace sextant {
namespace {

class HashTableKernel : public TableHandleKernel {
 public:
  using TableHandleKernel::TableHandleKernel;

 private:
  std::shared_ptr<LookupTable> MakeTable(KernelContext&) const override {
    return MakeHashTable(key_dtype(), value_dtype());
  }
};

void InitializeKernel(KernelContext& ctx) { TableOf(ctx).Initialize(ctx.input(1), ctx.input(2)); }

class InitializeFromFileKernel : public Kernel {
 public:
  explicit InitializeFromFileKernel(KernelInit& init) {
    options_.key_index = init.attr<int64_t>("key_index");
    options_.value_index = init.attr<int64_t>("value_index");
    options_.vocab_size = init.attr<int64_t>("vocab_size");
    options_.offset = init.attr<int64_t>("offset");
    const auto& delimiter = init.attr<std::string>("delimiter");
    if (delimiter.size() != 1) {
      throw InvalidArgument("delimiter should be only 1 char, not '{}'", delimiter);
    }
    options_.delimiter = delimiter[0];
  }

  void Compute(KernelContext& ctx) override {
    const Tensor& filename = ctx.input(1);
    if (filename.rank() != 0) {
      throw InvalidArgument("filename should be a single string, but got shape {}",
                            filename.shape().ToString());
    }
    LookupTable& table = TableOf(ctx);
    const auto [keys, values] = ReadVocabularyFile(
        filename.scalar<std::string>(), table.key_dtype(), table.value_dtype(), options_);
    table.Initialize(keys, values);
  }

 private:
  VocabularyFileOptions options_;
};

void FindKernel(KernelContext& ctx) {
  const LookupTable& table = TableOf(ctx);
  const Tensor& keys = ctx.input(1);
  const Tensor& defaults = ctx.input(2);
  const Shape shape = table.ValuesShape(keys);
  table.CheckKeys(keys);
  if (defaults.dtype() != table.value_dtype()) {
    throw InvalidArgument("a default value of {} does not fit a table from {} to {}",
                          DTypeName(defaults.dtype()), DTypeName(table.key_dtype()),
                          DTypeName(table.value_dtype()));
  }
  if (!(defaults.shape() == table.value_shape()) && !(defaults.shape() == shape)) {
    throw InvalidArgument("Expected shape {} or {} for default value, got {}",
                          table.value_shape().ToString(), shape.ToString(),
                          defaults.shape().ToString());
  }
  table.Find(keys, defaults, ctx.AllocateOutput(0, shape));
}

void SizeKernel(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<int64_t>() = TableOf(ctx).size();
}

void InsertKernel(KernelContext& ctx) {
  LookupTable& table = TableOf(ctx);
  table.CheckKeysAndValues(ctx.input(1), ctx.input(2));
  table.Insert(ctx.input(1), ctx.input(2));
}

void RemoveKernel(KernelContext& ctx) {
  LookupTable& table = TableOf(ctx);
  table.CheckKeys(ctx.input(1));
  table.Remove(ctx.input(1));
}

void ImportKernel(KernelContext& ctx) { TableOf(ctx).Import(ctx.input(1), ctx.input(2)); }

void ExportKernel(KernelContext& ctx) {
  LookupTable& table = TableOf(ctx);
  if (ctx.output_type(0) != table.key_dtype() || ctx.output_type(1) != table.value_dtype()) {
    throw InvalidArgument("a table from {} to {} cannot be exported as {} and {}",
                          DTypeName(table.key_dtype()), DTypeName(table.value_dtype()),
                          DTypeName(ctx.output_type(0)), DTypeName(ctx.output_type(1)));
  }
  auto [keys, values] = table.Export();
  ctx.SetOutput(0, std::move(keys));
  ctx.SetOutput(1, std::move(values));
}

}  // namespace

TableHandleKernel::TableHandleKernel(KernelInit& init)
    : anonymous_(init.node().type().starts_with("Anonymous")),
      key_dtype_(init.attr<DType>("key_dtype")),
      value_dtype_(init.attr<DType>("value_dtype")),
      name_(init.node().name()) {
  if (anonymous_) return;
  container_ = init.attr<std::string>("container");
  if (container_.empty()) container_ = "localhost";
  const auto& shared_name = init.attr<std::string>("shared_name");
  shared_ = !shared_name.empty() || init.attr<bool>("use_node_name_sharing");
  if (!shared_name.empty()) name_ = shared_name;
  if (!shared_) name_ = "_private_" + name_;
}

void TableHandleKernel::Compute(KernelContext& ctx) {
  ResourceHandle handle{.container = container_,
                        .name = name_,
                        .type_name = LookupTable::kTypeName,
                        .resource = nullptr};
  if (anonymous_) {
    handle.resource = MakeTable(ctx);
  } else {
    ResourceManager& keeper = shared_ ? ctx.resources().shared() : ctx.resources();
    const auto table =
        keeper.LookupOrCreate<LookupTable>(container_, name_, [&] { return MakeTable(ctx); });
    if (table->key_dtype() != key_dtype_ || table->value_dtype() != value_dtype_) {
      throw InvalidArgument("table '{}' maps {} to {}, not {} to {}", name_,
                            DTypeName(table->key_dtype()), DTypeName(table->value_dtype()),
                            DTypeName(key_dtype_), DTypeName(value_dtype_));
    }
    handle.resource = table;
  }
  ctx.SetOutput(0, Tensor::Scalar(std::move(handle)));
}

LookupTable& TableOf(KernelContext& ctx) {
  return *ResourceOf<LookupTable>(ctx.input(0).scalar<ResourceHandle>());
}

void RegisterHashTableCpu(KernelRegistry& registry) {
  using enum DType;
  for (const char* op : {"HashTableV2", "AnonymousHashTable"}) {
    const auto add = [&](DType key, std::vector<DType> values) {
      registry.Add(KernelDef(op)
                       .Types("key_dtype", {key})
                       .Types("value_dtype", std::move(values))
                       .OwnOutputs()
                       .Make<HashTableKernel>());
    };
    add(kString, {kString, kInt64, kInt32, kFloat, kDouble, kBool});
    add(kInt64, {kString, kInt64, kInt32, kFloat, kDouble});
    add(kInt32, {kString, kInt32, kFloat, kDouble});
  }
  registry.Add(KernelDef("InitializeTableV2").Function(InitializeKernel));
  registry.Add(KernelDef("InitializeTableFromTextFileV2").Make<InitializeFromFileKernel>());
  registry.Add(KernelDef("LookupTableFindV2").Function(FindKernel));
  registry.Add(KernelDef("LookupTableSizeV2").Function(SizeKernel));
  registry.Add(KernelDef("LookupTableInsertV2").Function(InsertKernel));
  registry.Add(KernelDef("LookupTableRemoveV2").Function(RemoveKernel));
  registry.Add(KernelDef("LookupTableImportV2").Function(ImportKernel));
  registry.Add(KernelDef("LookupTableExportV2").OwnOutputs().Function(ExportKernel));
}

}  // namespace sextant
