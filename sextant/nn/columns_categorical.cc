#include <fmt/format.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/nn/column.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/lookup/hash_table.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/select.h"
#include "sextant/ops/string/as_string.h"
#include "sextant/ops/string/hash_bucket.h"

namespace sextant::columns {
namespace {

Output Missing(DType dtype) {
  return dtype == DType::kString ? Const(Tensor("")) : Cast(Const(Tensor(int32_t{-1})), dtype);
}

// A column whose ids are a function of single values: one dense value a row stays dense.
class ElementColumn : public Column {
 public:
  ElementColumn(std::string key, DType dtype) : key_(std::move(key)), dtype_(dtype) {}
  const std::string& name() const override { return key_; }
  bool categorical() const override { return true; }
  void AddToParseSpec(ParseSpec& spec) const override {
    AddParseFeature(spec, {.key = key_,
                           .dtype = dtype_ == DType::kString ? DType::kString : DType::kInt64,
                           .sparse = true});
  }

  Ids MakeIds(const Features& features) const override {
    const NameScope scope(key_);
    const Features::Value& value = features.Get(key_);
    Ids ids;
    if (const auto* sparse = std::get_if<SparseTensor>(&value)) {
      CheckType(sparse->values);
      ids.sparse = {sparse->indices, IdsOf(sparse->values), sparse->dense_shape};
      return ids;
    }
    const Output matrix = AsMatrix(std::get<Output>(value), key_);
    CheckType(matrix);
    if (matrix.shape().rank() == 2 && matrix.shape()[1] == 1) {
      ids.single = IdsOf(matrix);
      if (MissingNeedsCare()) {
        ids.single = SelectV2(Equal(matrix, Missing(matrix.dtype())), Number(-1), ids.single);
      }
      return ids;
    }
    const SparseTensor present = WithoutMissing(matrix, Missing(matrix.dtype()));
    ids.sparse = {present.indices, IdsOf(present.values), present.dense_shape};
    return ids;
  }

 protected:
  virtual Output IdsOf(Output values) const = 0;
  // Whether a missing value would get another id than -1 by IdsOf.
  virtual bool MissingNeedsCare() const = 0;
  const std::string& key() const { return key_; }
  DType dtype() const { return dtype_; }

 private:
  void CheckType(Output values) const {
    const bool text = values.dtype() == DType::kString;
    if (text == (dtype_ == DType::kString)) return;
    throw InvalidArgument("column '{}' takes {}, but feature {} has type {}", key_,
                          dtype_ == DType::kString ? "strings" : "integers", values.name(),
                          DTypeName(values.dtype()));
  }
  const std::string key_;
  const DType dtype_;
};

class VocabularyColumn : public ElementColumn {
 public:
  VocabularyColumn(std::string key, int64_t size, std::function<Output()> make_table,
                   std::string table_key, const VocabularyOptions& options)
      : ElementColumn(std::move(key), options.dtype),
        size_(size),
        make_table_(std::move(make_table)),
        table_key_(std::move(table_key)),
        options_(options) {
    if (options.num_oov_buckets < 0 ||
        (options.num_oov_buckets > 0 && options.default_value != -1)) {
      throw InvalidArgument(
          "vocabulary column '{}': give num_oov_buckets or default_value, not both", name());
    }
    if (options.default_value >= size) {
      throw InvalidArgument("vocabulary column '{}': default_value {} is not below its {} ids",
                            name(), options.default_value, size);
    }
  }
  int64_t num_ids() const override { return size_ + options_.num_oov_buckets; }

 protected:
  Output IdsOf(Output values) const override {
    const Output table = TableOf(table_key_, make_table_);
    if (values.dtype() != DType::kString) values = Cast(values, DType::kInt64);
    const Output found = LookupTableFind(table, values, Number(options_.default_value));
    if (options_.num_oov_buckets == 0) return found;
    const Output text = values.dtype() == DType::kString ? values : AsString(values);
    const Output hashed = StringToHashBucketFast(text, options_.num_oov_buckets) + Number(size_);
    return SelectV2(NotEqual(found, Number(-1)), found, hashed);
  }
  bool MissingNeedsCare() const override {
    return options_.num_oov_buckets > 0 || options_.default_value != -1;
  }

 private:
  const int64_t size_;
  const std::function<Output()> make_table_;
  const std::string table_key_;
  const VocabularyOptions options_;
};

// A table with its initializer among the graph's.
Output TableWithInitializer(DType key_dtype, const std::function<Operation(Output)>& initialize) {
  const Output table = HashTable(key_dtype, DType::kInt64, {.name = "hash_table"});
  const Operation init = initialize(table);
  table.graph().AddToCollection("table_initializer", Output(init.node(), 0));
  return table;
}

Output ListTable(const Tensor& keys) {
  Tensor ids(DType::kInt64, Shape{keys.num_elements()});
  for (int64_t i = 0; i < keys.num_elements(); ++i) ids.data<int64_t>()[i] = i;
  return TableWithInitializer(keys.dtype(), [&](Output table) {
    return InitializeTable(table, Const(keys, "Const"), Const(ids, "Const"));
  });
}

class IdentityColumn : public ElementColumn {
 public:
  IdentityColumn(std::string key, int64_t buckets, std::optional<int64_t> default_value)
      : ElementColumn(std::move(key), DType::kInt64), buckets_(buckets), default_(default_value) {
    if (buckets < 1) throw InvalidArgument("column '{}' needs at least one bucket", name());
    if (default_ && (*default_ < 0 || *default_ >= buckets)) {
      throw InvalidArgument("column '{}': default {} is not in [0, {})", name(), *default_,
                            buckets);
    }
  }
  int64_t num_ids() const override { return buckets_; }

 protected:
  Output IdsOf(Output values) const override {
    values = Cast(values, DType::kInt64);
    if (!default_) return values;  // a lookup out of range is an error that names the id
    const Output out = LogicalOr(Less(values, Number(0)), GreaterEqual(values, Number(buckets_)));
    return SelectV2(out, Number(*default_), values);
  }
  bool MissingNeedsCare() const override { return default_.has_value(); }

 private:
  const int64_t buckets_;
  const std::optional<int64_t> default_;
};

class HashColumn : public ElementColumn {
 public:
  HashColumn(std::string key, int64_t buckets, DType dtype)
      : ElementColumn(std::move(key), dtype), buckets_(buckets) {
    if (buckets < 1) throw InvalidArgument("column '{}' needs at least one bucket", name());
  }
  int64_t num_ids() const override { return buckets_; }

 protected:
  Output IdsOf(Output values) const override {
    return StringToHashBucketFast(values.dtype() == DType::kString ? values : AsString(values),
                                  buckets_);
  }
  bool MissingNeedsCare() const override { return true; }

 private:
  const int64_t buckets_;
};

template <typename T, typename... Args>
FeatureColumn Make(Args&&... args) {
  return FeatureColumn(std::make_shared<T>(std::forward<Args>(args)...));
}

}  // namespace

FeatureColumn VocabularyList(const std::string& key, std::vector<std::string> words,
                             const VocabularyOptions& options) {
  if (words.empty()) throw InvalidArgument("vocabulary column '{}' has no words", key);
  std::vector<std::string> sorted = words;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    throw InvalidArgument("vocabulary column '{}' has the word '{}' twice", key, *twice);
  }
  const auto size = static_cast<int64_t>(words.size());
  std::string table_key = fmt::format("list {} {}", key, fmt::join(words, "\n"));
  VocabularyOptions text = options;
  text.dtype = DType::kString;
  return Make<VocabularyColumn>(
      key, size, [words = std::move(words)] { return ListTable(Tensor::FromVector(words)); },
      std::move(table_key), text);
}

FeatureColumn IntegerVocabularyList(const std::string& key, std::vector<int64_t> values,
                                    const VocabularyOptions& options) {
  if (values.empty()) throw InvalidArgument("vocabulary column '{}' has no values", key);
  const auto size = static_cast<int64_t>(values.size());
  std::string table_key = fmt::format("integers {} {}", key, fmt::join(values, " "));
  VocabularyOptions integers = options;
  integers.dtype = DType::kInt64;
  return Make<VocabularyColumn>(
      key, size, [values = std::move(values)] { return ListTable(Tensor::FromVector(values)); },
      std::move(table_key), integers);
}

FeatureColumn VocabularyFile(const std::string& key, const std::string& path, int64_t size,
                             const VocabularyOptions& options) {
  FileSystem& fs = FileSystem::ForPath(path);
  if (!fs.Exists(path)) {
    throw NotFound("vocabulary file '{}' of column '{}' is not there", path, key);
  }
  if (size < 0) {
    const std::string text = fs.ReadFile(path);
    size = std::count(text.begin(), text.end(), '\n');
    if (!text.empty() && text.back() != '\n') ++size;
  }
  if (size == 0) throw InvalidArgument("vocabulary file '{}' of column '{}' is empty", path, key);
  const auto make = [path, size, dtype = options.dtype] {
    const Output file = Const(Tensor(path), "asset_path");
    file.graph().AddToCollection("asset_filepaths", file);
    return TableWithInitializer(dtype, [&](Output table) {
      return InitializeTableFromTextFile(table, file, {.vocab_size = size});
    });
  };
  return Make<VocabularyColumn>(key, size, make, fmt::format("file {} {} {}", key, path, size),
                                options);
}

FeatureColumn Identity(const std::string& key, int64_t buckets,
                       std::optional<int64_t> default_value) {
  return Make<IdentityColumn>(key, buckets, default_value);
}
FeatureColumn HashBucket(const std::string& key, int64_t buckets, DType dtype) {
  return Make<HashColumn>(key, buckets, dtype);
}

}  // namespace sextant::columns
