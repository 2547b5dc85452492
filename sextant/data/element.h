// Element: what a Dataset yields, tensors with names.
//
//   Element e{{"image", pixels}, {"label", label}};
//   e["image"]
//
// Copies share the tensors. Elements have few fields: look-up is a linear search.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/tensor/dtype.h"
#include "sextant/tensor/shape.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant::data {

class SEXTANT_API Element {
 public:
  using Field = std::pair<std::string, Tensor>;  // name and value

  Element() = default;
  Element(std::initializer_list<Field> fields) : fields_(fields) {}
  explicit Element(std::vector<Field> fields) : fields_(std::move(fields)) {}

  // Throws NOT_FOUND, naming the fields there are.
  const Tensor& operator[](std::string_view name) const;
  Tensor& operator[](std::string_view name);
  const Tensor* Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // Adds the field, or replaces its tensor.
  void Set(std::string_view name, Tensor value);
  // Returns whether the field was there.
  bool Erase(std::string_view name);

  int size() const { return static_cast<int>(fields_.size()); }
  const std::vector<Field>& fields() const { return fields_; }
  std::vector<Field>& fields() { return fields_; }

  // Same names in the same order, identical tensors.
  bool Identical(const Element& other) const;
  // "image: uint8[28,28,1], label: int64[]"
  std::string Describe() const;

 private:
  std::vector<Field> fields_;
};

// What is known of every element before one is made.
struct SEXTANT_API FieldSpec {
  std::string name;  // of the field
  DType dtype = DType::kInvalid;
  PartialShape shape;  // of one element; -1: unknown
  bool operator==(const FieldSpec&) const = default;
};
using ElementSpec = std::vector<FieldSpec>;

}  // namespace sextant::data

#pragma GCC visibility pop
