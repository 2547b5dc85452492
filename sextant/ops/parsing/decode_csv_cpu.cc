#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/parse_number.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/formats/csv.h"

namespace sextant {
namespace {

bool Convert(std::string_view field, std::string* value) {
  *value = field;
  return true;
}
template <typename T>
bool Convert(std::string_view field, T* value) {
  return ParseNumber(field, value);
}

CsvOptions OptionsOf(KernelInit& init) {
  const auto& delimiter = init.attr<std::string>("field_delim");
  if (delimiter.size() != 1) {
    throw InvalidArgument("field_delim must be one character, got \"{}\"", delimiter);
  }
  return {.delimiter = delimiter[0],
          .quotes = init.attr<bool>("use_quote_delim"),
          .columns = init.attr<std::vector<int64_t>>("select_cols")};
}

class DecodeCsvKernel : public Kernel {
 public:
  explicit DecodeCsvKernel(KernelInit& init)
      : options_(OptionsOf(init)),
        na_value_(init.attr<std::string>("na_value")),
        types_(init.attr<std::vector<DType>>("OUT_TYPE")) {
    CsvSplitter check(options_);
    if (!options_.columns.empty() && options_.columns.size() != types_.size()) {
      throw InvalidArgument("{} columns are selected for {} outputs", options_.columns.size(),
                            types_.size());
    }
  }

  void Compute(KernelContext& ctx) override {
    const Tensor& records = ctx.input(0);
    columns_.clear();
    for (size_t c = 0; c < types_.size(); ++c) {
      const int i = static_cast<int>(c);
      const Tensor& value = ctx.input(1 + i);
      if (value.rank() > 1 || value.num_elements() > 1) {
        throw InvalidArgument("the default of column {} must be at most one element, got shape {}",
                              c, value.shape().ToString());
      }
      columns_.push_back({types_[c], &value, ctx.AllocateOutput(i, records.shape()).raw_data()});
    }
    const double cost = 60.0 * static_cast<double>(types_.size());
    ctx.ParallelFor(records.num_elements(), cost, [&](int64_t begin, int64_t end) {
      CsvSplitter splitter(options_);
      for (int64_t i = begin; i < end; ++i) {
        Decode(splitter, records.data<std::string>()[i], i);
      }
    });
  }

 private:
  struct Column {
    DType type;
    const Tensor* default_value;
    void* out;
  };

  void Decode(CsvSplitter& splitter, std::string_view record, int64_t i) const try {
    const std::vector<std::string_view>& fields = splitter.Split(record);
    if (fields.size() != columns_.size()) {
      throw InvalidArgument("expected {} fields, got {}", columns_.size(), fields.size());
    }
    for (size_t c = 0; c < fields.size(); ++c) DecodeField(c, fields[c], i);
  } catch (const Error& e) {
    throw e.WithPrefix(fmt::format("record {}: ", i));
  }

  void DecodeField(size_t c, std::string_view field, int64_t i) const {
    switch (columns_[c].type) {
      case DType::kFloat:
        return DecodeAs<float>(c, field, i);
      case DType::kDouble:
        return DecodeAs<double>(c, field, i);
      case DType::kInt32:
        return DecodeAs<int32_t>(c, field, i);
      case DType::kInt64:
        return DecodeAs<int64_t>(c, field, i);
      default:
        return DecodeAs<std::string>(c, field, i);
    }
  }

  template <typename T>
  void DecodeAs(size_t c, std::string_view field, int64_t i) const {
    const Column& column = columns_[c];
    T& out = static_cast<T*>(column.out)[i];
    if (field.empty() || field == na_value_) {
      if (column.default_value->num_elements() == 0) {
        throw InvalidArgument("field {} is required, but missing", c);
      }
      out = *column.default_value->data<T>();
    } else if (!Convert(field, &out)) {
      throw InvalidArgument("field {} is not a valid {}: \"{}\"", c, DTypeName(column.type), field);
    }
  }

  const CsvOptions options_;
  const std::string na_value_;
  const std::vector<DType> types_;
  std::vector<Column> columns_;
};

}  // namespace

void RegisterDecodeCsvCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("DecodeCSV").Make<DecodeCsvKernel>());
}

}  // namespace sextant
