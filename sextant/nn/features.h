// Features: tensors by name, dense or sparse: what input functions and parsers give to models.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API Features {
 public:
  using Value = std::variant<Output, SparseTensor>;  // dense or sparse

  Features() = default;
  explicit Features(std::vector<std::pair<std::string, Value>> fields)
      : fields_(std::move(fields)) {}

  // A dense feature. Throws NOT_FOUND, naming the features there are, or INVALID_ARGUMENT when it
  // is sparse.
  Output operator[](std::string_view name) const;
  // Either kind; null when there is none.
  const Value* Find(std::string_view name) const;
  const Value& Get(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // The only one. Throws INVALID_ARGUMENT unless there is exactly one, dense.
  Output only() const;
  void Set(std::string_view name, Value value);
  bool empty() const { return fields_.empty(); }
  const std::vector<std::pair<std::string, Value>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, Value>> fields_;
};

}  // namespace sextant

#pragma GCC visibility pop
